// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers

/// The transport of RoadMesh: one channel of a Bluetooth LE radio, or of one that stands in for it.
///
/// A guest makes one of a `Peripheral` that it has heard; a host, and a relay, gets one from `BLEManager` for everybody who
/// dials it.
/// A radio's own types (an address, a PSM, a channel) end here.
public actor BLETransport: MeshTransport {
    /// The head of the identifier that the peripheral advertises; nil for a channel that was accepted.
    public nonisolated let expectedPeer: Peer.ID?
    /// The flags that the peripheral advertises, or those of this side, for a channel that was accepted.
    public nonisolated let advertisedFlags: AdvertisedFlags?

    /// Why this channel leads to no session, where the radio knows: what a guest's dial has ended with, or what speaks
    /// against a guest that has dialled.
    public private(set) var refusal: RefusalReason?

    private let peripheral: Peripheral?
    private var channel: (any RadioChannel)? { didSet { open.withLockedValue { [channel] in $0 = channel } } }
    /// The same, for who sends without waiting for this actor.
    private let open: NIOLockedValueBox<(any RadioChannel)?>
    private var dial: Task<any RadioChannel, any Error>?
    private var isClosed = false

    /// A transport that dials a peripheral.
    ///
    /// `expecting` is the identifier of the host that is to be there, where it is known; otherwise any peer that proves
    /// an identifier with the head that was advertised will do. A shorter head says less than the one that was
    /// advertised, and adds nothing.
    public init(peripheral: Peripheral, expecting: Peer.ID? = nil) {
        self.peripheral = peripheral
        open = NIOLockedValueBox(nil)
        let head = peripheral.scanResult.advertisement.head
        expectedPeer = expecting.map { head.hasPrefix($0) ? head : $0 } ?? head
        advertisedFlags = peripheral.scanResult.advertisement.flags
    }

    /// A transport for a channel that somebody else has opened.
    init(accepted channel: any RadioChannel, flags: AdvertisedFlags) {
        self.channel = channel
        open = NIOLockedValueBox(channel)
        advertisedFlags = flags
        refusal = channel.refusal
        peripheral = nil
        expectedPeer = nil
    }

    /// Opens the channel. It stays pending while the peripheral is out of reach, until the radio gives up (some 40 s) or
    /// `close` is called. Throws `MeshTransportError.connectionFailed`.
    public func connect() async throws {
        guard channel == nil else { return }
        guard let peripheral, !isClosed, dial == nil else {
            throw MeshTransportError.connectionFailed(reason: "this transport was used; make a new one")
        }
        guard peripheral.isUnderstood else {
            throw MeshTransportError.connectionFailed(
                reason: "the host speaks another version of the protocol than this node, whose version is "
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
            if (error as? RadioError)?.code == .bondRequired { refusal = .bond }
            throw MeshTransportError.connectionFailed(reason: "\(error)")
        }
        // A caller that closes while the channel opens wants none.
        guard !isClosed, !Task.isCancelled else {
            channel?.close()
            throw MeshTransportError.connectionFailed(reason: "the dial was given up")
        }
    }

    /// Largest SDU that the other side takes, in bytes; 0 before `connect`.
    public var sendMTU: Int { channel?.sendMTU ?? 0 }

    /// Sends one SDU whole. Suspends while the other side takes no more.
    public func send(_ sdu: [UInt8]) async throws {
        guard let channel else { throw Self.notConnected }
        try await channel.send(sdu)
    }

    /// Sends one SDU whole where that takes no waiting. Whether it was sent.
    public nonisolated func sendAtOnce(_ sdu: [UInt8]) throws -> Bool {
        guard let channel = open.withLockedValue({ $0 }) else { throw Self.notConnected }
        return try channel.sendAtOnce(sdu)
    }

    /// The next SDU, or nil when the other side has closed.
    public func receive() async throws -> [UInt8]? {
        guard let channel else { throw Self.notConnected }
        return try await channel.receive()
    }

    /// What the channel goes over; nil before `connect`.
    public var bearer: Bearer? { channel?.endpoint.bearer }

    /// Signal strength in dBm, nil where the radio cannot tell.
    public func signalStrength() async -> Int? { await channel?.signalStrength() }

    /// What the link layer was asked for, and what it does. Nil where there is none.
    public func linkCondition() async -> LinkCondition? { await channel?.linkCondition() }

    /// The radio at the other end says this of the link below.
    public func heed(_ note: AirNote) async { await channel?.heed(note) }

    /// Closes the channel, or gives up the dial.
    public func close() {
        isClosed = true
        dial?.cancel()
        channel?.close()
    }

    private static let notConnected = MeshTransportError.connectionFailed(reason: "not connected")
}
