// SPDX-License-Identifier: Apache-2.0

import Bearers
import Foundation
import MeshProtocol

/// The limits of this bearer.
enum FolderLimits {
    /// Time between two looks into the folder. A person does not notice it, and a look is a few system calls.
    static let look: Duration = .milliseconds(100)
    /// Callers that wait to be accepted, as many as a node admits at once.
    static let callers = Limits.halfOpenLinks
    /// Open channels: two for each guest, in case all guests change links at once.
    static let channels = 2 * Limits.guests + Limits.halfOpenLinks
    /// A channel's buffer. It is small, so that votes do not wait long behind other data.
    static let bufferBytes = Int32(BearerLimits.channelBufferBytes)
    /// Longest path of a Unix socket (unix(7)).
    static let pathBytes = 107
    /// Largest advertisement: UUID, payload and name.
    static let cardBytes = 16 + Advertisement.payloadBytes + Limits.advertisementBytes
}

/// Nodes of one machine that find each other in a folder and link over Unix sockets.
///
/// A host has two files in the folder: `ADDRESS.card`, its advertisement, and `ADDRESS.socket`, which accepts guests.
public actor FolderBearer: Bearer {
    /// `folder ADDRESS`.
    public nonisolated let name: String
    /// The events in the folder, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// Links are independent of each other.
    public nonisolated let dialsWhileDialled: Bool? = true

    private let folder: String
    private let address: String
    private let sink: AsyncStream<BearerEvent>.Continuation
    private var isClosed = false
    private var listener: UnixSocket?
    private var scanning: Task<Void, Never>?
    private var channels: [ObjectIdentifier: Open] = [:]
    private var callers = 0

    private struct Open { weak var channel: FolderChannel? }

    /// A bearer in a folder. Each node has an address of its own there.
    public init(folder: String, address: String) throws(BearerError) {
        guard "\(folder)/\(address).socket".utf8.count <= FolderLimits.pathBytes, !address.contains("/") else {
            throw BearerError(.failed, "the path of \(address) in \(folder) is too long for a socket")
        }
        (self.folder, self.address) = (folder, address)
        name = "folder \(address)"
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    deinit {
        scanning?.cancel()
        listener?.close()
    }

    /// Creates the folder if needed.
    public func open() async throws(BearerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BearerError(.airUnusable, "cannot make the folder \(folder)")
        }
    }

    /// Removes this node's files, and closes its channels.
    public func close() async {
        await stopAdvertising()
        await stopScanning()
        isClosed = true
        for open in channels.values { open.channel?.close() }
        sink.finish()
    }

    // MARK: Being found

    /// Writes the card, and accepts guests. A folder has no airtime, so the pace does not matter.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        guard !isClosed else { throw BearerError(.closed) }
        // Guests may dial as soon as they see the card.
        if listener == nil { try listen() }
        let card =
            advertisement.service.bytes + advertisement.payload(psm: Self.psm) + Array(advertisement.localName.utf8)
        do {
            // A reader sees the old card or the new one, never a part.
            try Data(card).write(to: URL(fileURLWithPath: path(address, "card")), options: .atomic)
        } catch {
            throw BearerError(.airUnusable, "cannot write into \(folder)")
        }
    }

    /// Removes the card, and accepts no more guests. Links stay.
    public func stopAdvertising() async {
        guard let listener else { return }
        unlink(path(address, "card"))
        unlink(path(address, "socket"))
        listener.close()
        self.listener = nil
    }

    private func listen() throws(BearerError) {
        let listener = try UnixSocket.listening(at: path(address, "socket"))
        self.listener = listener
        Task { [weak self] in
            while let caller = await listener.accepted() { await self?.accepted(caller, by: listener) }
        }
    }

    private func accepted(_ socket: UnixSocket, by listener: UnixSocket) {
        guard self.listener === listener else { return }
        callers += 1
        // The endpoint tells channels apart. Who the caller is, its handshake proves.
        let endpoint = BearerEndpoint(address: "caller \(callers)", bearer: .virtual)
        if let channel = track(socket, endpoint) { sink.yield(.accepted(channel)) }
    }

    // MARK: Finding others

    /// Reports the hosts in the folder.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        guard !isClosed else { throw BearerError(.closed) }
        scanning?.cancel()
        scanning = Task { [weak self] in
            var heard: [BearerEndpoint: (result: ScanResult, at: ContinuousClock.Instant)] = [:]
            while !Task.isCancelled {
                await self?.look(for: service, &heard)
                try? await Task.sleep(for: FolderLimits.look)
            }
        }
    }

    /// Stops reporting hosts.
    public func stopScanning() async {
        scanning?.cancel()
        scanning = nil
    }

    private func look(
        for service: ServiceUUID, _ heard: inout [BearerEndpoint: (result: ScanResult, at: ContinuousClock.Instant)]
    ) {
        guard !Task.isCancelled else { return }
        let results = self.results().filter { $0.advertisement.service == service }
        for endpoint in Set(heard.keys).subtracting(results.map(\.endpoint)) {
            heard[endpoint] = nil
            sink.yield(.lost(endpoint))
        }
        let now = ContinuousClock.now
        for result in results {
            // An unchanged card is reported again once a second.
            if let last = heard[result.endpoint], last.result == result,
                now - last.at < BearerLimits.scanResultRepeat
            {
                continue
            }
            heard[result.endpoint] = (result, now)
            sink.yield(.heard(result))
        }
    }

    /// The cards in the folder. Other programs may write there too, so anything may be in a file.
    private func results() -> [ScanResult] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let others = names.filter { $0.hasSuffix(".card") && $0 != "\(address).card" }
        return others.prefix(BearerLimits.scanResults).compactMap { result(ofFile: $0) }
    }

    private func result(ofFile name: String) -> ScanResult? {
        guard let file = FileHandle(forReadingAtPath: "\(folder)/\(name)"),
            let card = try? file.read(upToCount: FolderLimits.cardBytes).map(Array.init), card.count >= 16
        else { return nil }
        let (service, rest) = (ServiceUUID(bytes: Array(card.prefix(16))), Array(card.dropFirst(16)))
        let (payload, text) = (
            Array(rest.prefix(Advertisement.payloadBytes)), rest.dropFirst(Advertisement.payloadBytes)
        )
        guard let psm = Advertisement.psm(inPayload: payload),
            let localName = String(validating: text, as: UTF8.self),
            let advertisement = Advertisement(service: service, payload: payload, localName: localName)
        else { return nil }
        let endpoint = BearerEndpoint(address: String(name.dropLast(5)), psm: psm, bearer: .virtual)
        return ScanResult(endpoint: endpoint, advertisement: advertisement, rssi: nil)
    }

    // MARK: Links

    /// Opens a channel to a host. It tries again while the host is away, until `BearerLimits.dialLimit`.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        let limit = ContinuousClock.now + BearerLimits.dialLimit
        while !isClosed, ContinuousClock.now < limit {
            if let socket = try? UnixSocket.connected(to: path(endpoint.address, "socket")) {
                guard let channel = track(socket, endpoint) else { break }
                return channel
            }
            // The host is away. It may come back at any time.
            guard (try? await Task.sleep(for: FolderLimits.look)) != nil else { throw BearerError(.cancelled) }
        }
        throw isClosed ? BearerError(.closed) : BearerError(.dialFailed, "no answer")
    }

    /// A channel that ends with this bearer. Nil if too many are open.
    private func track(_ socket: UnixSocket, _ endpoint: BearerEndpoint) -> FolderChannel? {
        channels = channels.filter { $0.value.channel != nil }
        guard channels.count < FolderLimits.channels else { return nil }
        let channel = FolderChannel(socket, endpoint: endpoint)
        channels[ObjectIdentifier(channel)] = Open(channel: channel)
        return channel
    }

    private func path(_ address: String, _ kind: String) -> String { "\(folder)/\(address).\(kind)" }

    /// The channel's number in an advertisement. This bearer has one, the first that Bluetooth allows.
    private static let psm: UInt8 = 0x80
}
