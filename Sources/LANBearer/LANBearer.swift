// SPDX-License-Identifier: Apache-2.0

import Bearers
import Logging
import MeshProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The local network as a radio. DNS-SD finds hosts and relays, and links are TCP connections (`docs/protocol.md`,
/// "LAN").
///
/// It sends to the network only while it advertises. It dials and accepts only peers in this device's own networks.
public actor LANBearer: Bearer {
    /// Always `lan`.
    public nonisolated let name = "lan"
    /// All events, for one listener.
    public nonisolated let events: AsyncStream<BearerEvent>
    /// Always true, because connections are independent of each other.
    public nonisolated let dialsWhileDialled: Bool? = true
    /// The flags in every advertisement of this radio.
    public nonisolated let advertisedFlags: AdvertisedFlags

    /// Frames per second that are read from one link.
    public nonisolated let framesPerSecond: Int

    let group: any EventLoopGroup
    let logger: Logger
    var services = KnownServices()
    /// Dials that have no connection yet.
    var dials: [Int: Dial] = [:]
    var lastDial = 0
    var isClosed = false

    struct Dial {
        /// The name of the service.
        var name: String
        /// Whether the directory has reported a change of the service since the last attempt.
        var isNews = false
        /// The wait for the next attempt.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let directory: any ServiceDirectory
    private let eventSink: AsyncStream<BearerEvent>.Continuation
    private var listening: Task<Void, Never>?
    private var telling: Task<Void, Never>?
    private var listener: (any Channel)?
    /// Whether connections are accepted. They may arrive while the listener opens.
    private var takesCallers = false
    /// The port that the radio listens on. It prefers the same port when it advertises again.
    private var port = 0
    private var callers = Callers()
    private var networks = (LocalNetworks(), ContinuousClock.now)
    private var streams: [ObjectIdentifier: Open] = [:]
    private let origin = ContinuousClock.now

    private struct Open {
        weak var stream: TCPStream?
        /// The interface of a dialled connection. Nil for an accepted one.
        var interface: Int?
    }

    /// Creates a radio on this device's networks, with avahi-daemon. `demands` are the requirements for peers that dial
    /// this node. The radio reads at most `framesPerSecond` from one link.
    public init(
        demands: AdvertisedFlags.Critical = [], framesPerSecond: Int = LANLimits.framesPerSecond,
        logger: Logger = Logger(label: "roadmesh.lan")
    ) {
        self.init(directory: AvahiDirectory(), demands: demands, framesPerSecond: framesPerSecond, logger: logger)
    }

    init(
        directory: any ServiceDirectory, demands: AdvertisedFlags.Critical = [],
        framesPerSecond: Int = LANLimits.framesPerSecond,
        logger: Logger = Logger(label: "roadmesh.lan")
    ) {
        precondition(framesPerSecond > 0, "a link without frames carries nothing")
        self.directory = directory
        self.framesPerSecond = framesPerSecond
        self.logger = logger
        advertisedFlags = AdvertisedFlags(critical: demands)
        group = MultiThreadedEventLoopGroup.singleton
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(BearerLimits.radioEvents))
    }

    var now: MeshInstant { ContinuousClock.now - origin }

    /// Connects to avahi-daemon. Throws `serviceNotRunning` if it does not run.
    public func open() async throws(BearerError) {
        try await directory.open()
        listening = Task { for await event in directory.events { self.received(event) } }
    }

    /// Releases the directory, the listener and all connections.
    public func close() async {
        guard !isClosed else { return }
        isClosed = true
        telling?.cancel()
        for number in dials.keys { wake(number) }
        await stopAdvertising()
        let open = streams.values.compactMap(\.stream)
        for stream in open { stream.close() }
        for stream in open { try? await stream.ended.get() }
        await directory.close()
        await listening?.value
        eventSink.finish()
    }

    // MARK: Found services

    /// Reports other nodes in the network.
    public func scan(for service: ServiceUUID) async throws(BearerError) {
        guard !isClosed else { throw BearerError(.closed) }
        tell(services.scan(for: service, now: now))
        // Only while the node scans, because each report wakes an idle processor.
        telling =
            telling
            ?? Task {
                while (try? await Task.sleep(for: BearerLimits.scanResultRepeat)) != nil {
                    self.tell(self.services.tick(now: self.now))
                }
            }
        await directory.browse()
    }

    /// Stops reporting other nodes. The radio still watches the nodes that were found.
    public func stopScanning() async {
        telling?.cancel()
        telling = nil
        tell(services.scan(for: nil, now: now))
    }

    private func received(_ event: DirectoryEvent) {
        switch event {
        case .found(let service):
            tell(services.found(service, now: now))
            for (number, dial) in dials where services.found(service.place.name, helps: dial.name) {
                wake(number, isNews: true)
            }
        case .gone(let place):
            tell(services.gone(place))
            checkInterface(place.interface)
        case .failed(let error): eventSink.yield(.failed(error))
        case .works: eventSink.yield(.recovered)
        }
    }

    func tell(_ events: [BearerEvent]) { for event in events { eventSink.yield(event) } }

    /// Services on an interface are gone. If the interface has lost its carrier, ends the connections on it, because no
    /// data arrives any more.
    private func checkInterface(_ interface: Int) {
        let gone = streams.values.filter { $0.interface == interface }.compactMap(\.stream)
        guard !gone.isEmpty, !LocalNetworks().isRunning(interface) else { return }
        for stream in gone { stream.lose("the network is gone") }
    }

    // MARK: Advertising

    /// Registers the advertisement, and accepts connections.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        guard !isClosed else { throw BearerError(.closed) }
        var advertisement = advertisement
        advertisement.flags = advertisement.flags.union(advertisedFlags)
        services.own = advertisement.idPrefix
        takesCallers = true
        if listener == nil { try await listen() }
        await directory.publish(ServiceRecord(advertisement, port: port))
    }

    /// Removes the advertisement. Links stay.
    public func stopAdvertising() async {
        await directory.publish(nil)
        let open = listener
        (listener, takesCallers) = (nil, false)
        try? await open?.close().get()
    }

    private func listen() async throws(BearerError) {
        do {
            listener = try await bound("::", port)
        } catch {
            do {
                // Another program has taken the port, or this device has no IPv6.
                let isTaken = port != 0
                listener = try await isTaken ? bound("::", 0) : bound("0.0.0.0", 0)
            } catch {
                throw BearerError(.failed, "no TCP port: \(error)")
            }
        }
        port = listener?.localAddress?.port ?? 0
    }

    private func bound(_ address: String, _ port: Int) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Int32(LANLimits.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.socketOption(.so_rcvbuf), value: LANLimits.bufferBytes)
            .childStreamOptions()
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let inlet = TCPStream.Inlet()
                    try channel.pipeline.syncOperations.addHandler(inlet)
                    Task { await self.accepted(channel, inlet) }
                }
            }
            .bind(host: address, port: port).get()
    }

    private func accepted(_ channel: any Channel, _ inlet: TCPStream.Inlet) {
        guard let address = channel.remoteAddress, !isClosed, takesCallers,
            let bytes = LocalNetworks.bytes(of: address), isLocal(address), callers.admits(bytes, now: now)
        else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in Task { await self.gone(bytes) } }
        let endpoint = BearerEndpoint(address: address.ipAddress ?? "", bearer: .lan)
        eventSink.yield(
            .accepted(track(TCPStream(channel, inlet, endpoint: endpoint, framesPerSecond: framesPerSecond))))
    }

    private func gone(_ address: [UInt8]) { callers.left(address) }

    /// Whether an address is in one of this device's networks.
    func isLocal(_ address: SocketAddress) -> Bool {
        if ContinuousClock.now - networks.1 > LANLimits.networksKnown || !networks.0.contains(address) {
            networks = (LocalNetworks(), .now)
        }
        return networks.0.contains(address)
    }

    /// A channel for SDUs over a connection. `interface` is the interface of a dialled connection.
    func track(_ stream: TCPStream, interface: Int? = nil) -> any BearerChannel {
        streams = streams.filter { $0.value.stream != nil }
        streams[ObjectIdentifier(stream)] = Open(stream: stream, interface: interface)
        return FramedChannel(stream, framing: StreamPieces())
    }
}

/// Limits accepted connections: their rate, their total number, and their number per address.
struct Callers: Sendable {
    private var open: [[UInt8]: Int] = [:]
    private var rate = RateLimit(perSecond: LANLimits.callersPerSecond, burst: LANLimits.callerBurst, now: .zero)

    /// Whether one more connection from this address is accepted.
    mutating func admits(_ address: [UInt8], now: MeshInstant) -> Bool {
        guard open.values.reduce(0, +) < LANLimits.accepted, open[address, default: 0] < LANLimits.acceptedOfAddress,
            rate.allows(now: now)
        else { return false }
        open[address, default: 0] += 1
        return true
    }

    /// An accepted connection has ended.
    mutating func left(_ address: [UInt8]) {
        open[address, default: 0] -= 1
        if open[address, default: 0] <= 0 { open[address] = nil }
    }
}
