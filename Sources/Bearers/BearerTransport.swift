// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers

/// The transport of RoadMesh: one channel of a radio, over Bluetooth LE or another bearer.
///
/// A guest makes one from a `Peripheral` that it has heard. A host or relay gets one from `BearerManager` for each peer
/// that dials it. The radio's own types (address, PSM, channel) are not visible above this type.
public actor BearerTransport: MeshTransport {
    /// The head of the identifier that the peripheral advertises. Nil for an accepted channel.
    public nonisolated let expectedPeer: Peer.ID?
    /// The flags that the peripheral advertises. For an accepted channel, the flags of this side.
    public nonisolated let advertisedFlags: AdvertisedFlags?

    /// Why this channel has no session, if the radio knows the reason: a guest's dial has ended, or a guest that
    /// dialled is refused.
    public private(set) var refusal: RefusalReason?

    private let peripheral: Peripheral?
    private var channel: (any BearerChannel)? { didSet { open.withLockedValue { [channel] in $0 = channel } } }
    /// The same channel, for senders that do not wait for this actor.
    private let open: NIOLockedValueBox<(any BearerChannel)?>
    private var dial: Task<any BearerChannel, any Error>?
    private var isClosed = false

    /// A transport that dials a peripheral.
    ///
    /// `expecting` is the identifier of the host, if it is known. Otherwise any peer passes that proves an identifier
    /// with the advertised head. An `expecting` that is shorter than the advertised head has no effect.
    public init(peripheral: Peripheral, expecting: Peer.ID? = nil) {
        self.peripheral = peripheral
        open = NIOLockedValueBox(nil)
        let head = peripheral.scanResult.advertisement.head
        expectedPeer = expecting.map { head.hasPrefix($0) ? head : $0 } ?? head
        advertisedFlags = peripheral.scanResult.advertisement.flags
    }

    /// A transport for an accepted channel.
    init(accepted channel: any BearerChannel, flags: AdvertisedFlags) {
        self.channel = channel
        open = NIOLockedValueBox(channel)
        advertisedFlags = flags
        refusal = channel.refusal
        peripheral = nil
        expectedPeer = nil
    }

    /// Opens the channel. It stays pending while the peripheral is out of range, until the radio gives up (about 40 s)
    /// or `close` is called. Throws `MeshTransportError.connectionFailed`, or `CancellationError` if the task was
    /// cancelled.
    public func connect() async throws {
        guard channel == nil else { return }
        guard let peripheral, !isClosed, dial == nil else {
            throw MeshTransportError.failed(.alreadyUsed, "this transport was used; make a new one")
        }
        guard peripheral.isUnderstood else {
            throw MeshTransportError.failed(
                .otherVersion,
                "the host speaks another version of the protocol than this node, whose version is "
                    + "\(ProtocolVersion.major)")
        }
        let dial = Task { try await peripheral.radio.dial(peripheral.scanResult.endpoint) }
        self.dial = dial
        do {
            let channel = try await withTaskCancellationHandler {
                try await dial.value
            } onCancel: {
                dial.cancel()
            }
            self.channel = channel
        } catch {
            if (error as? BearerError)?.code == .bondRequired { refusal = .bond }
            try Task.checkCancellation()
            throw Self.failure(error)
        }
        // The caller closed this transport while the channel was opening, so it does not want the channel.
        guard !isClosed, !Task.isCancelled else {
            channel?.close()
            throw CancellationError()
        }
    }

    /// Largest SDU that the other side accepts, in bytes. 0 before `connect`.
    public var sendMTU: Int { channel?.sendMTU ?? 0 }

    /// Frames per second that may be read from a link, as its bearer states.
    public var framesPerSecond: Int { channel?.framesPerSecond ?? Limits.framesPerSecond }

    /// Sends one SDU in one piece. Suspends while the other side accepts no more.
    public func send(_ sdu: [UInt8]) async throws {
        guard let channel else { throw Self.notConnected }
        try await channel.send(sdu)
    }

    /// Sends one SDU in one piece if this needs no waiting. Returns whether it was sent.
    public nonisolated func sendAtOnce(_ sdu: [UInt8]) throws -> Bool {
        guard let channel = open.withLockedValue({ $0 }) else { throw Self.notConnected }
        return try channel.sendAtOnce(sdu)
    }

    /// The next SDU, or nil after the other side has closed.
    public func receive() async throws -> [UInt8]? {
        guard let channel else { throw Self.notConnected }
        return try await channel.receive()
    }

    /// The bearer of the channel. Nil before `connect`.
    public var bearer: BearerKind? { channel?.endpoint.bearer }

    /// Signal strength in dBm. Nil if the radio does not report it.
    public func signalStrength() async -> Int? { await channel?.signalStrength() }

    /// The link parameters that were requested, and those in use. Nil for a bearer without a link layer.
    public func linkCondition() async -> LinkCondition? { await channel?.linkCondition() }

    /// Passes on what the radio at the other end reports about the link.
    public func heed(_ note: AirNote) async { await channel?.heed(note) }

    /// Closes the channel, or cancels the dial.
    public func close() {
        isClosed = true
        dial?.cancel()
        channel?.close()
    }

    private static let notConnected = MeshTransportError.failed(.notConnected, "not connected")

    private static func failure(_ error: any Error) -> MeshTransportError {
        let code: MeshTransportError.Code =
            switch (error as? BearerError)?.code {
            case .dialFailed, .channelLost: .unreachable
            case .bondRequired: .bondRequired
            case .closed, .cancelled, .tooLarge, .failed, nil: .other
            default: .radio
            }
        return .failed(code, "\(error)")
    }
}
