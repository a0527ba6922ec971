// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import Logging
import MeshProtocol

/// The transport of RoadMesh: it drives a radio and carries messages between peers.
///
/// It decides little itself. `LinkMachine` decides about one link, `Admission` about who is taken in,
/// `AdvertisingPolicy` about how eagerly a host is seen; this actor owns them, feeds them, and carries out what they
/// return. A radio's own types (an address, a PSM, a channel) end here.
public actor BLETransport: MeshTransport {
    /// Everything that happens, for one listener (`MeshTransport.events`).
    public nonisolated let events: AsyncStream<TransportEvent>

    let radio: any Radio
    let local: Peer
    let service: ServiceType
    let logger: Logger
    /// Events wait here for their listener, one a sender: a link whose event waits is not read meanwhile.
    let outlet: AsyncChannel<TransportEvent>
    let origin = ContinuousClock.now

    var links: [LinkID: Link] = [:]
    var lastLink: LinkID = 0
    var admission = Admission()
    /// Which link leads to which connected peer.
    var linkOfPeer: [Peer.ID: LinkID] = [:]
    var dials: [Peer.ID: Task<Void, Never>] = [:]
    /// Where the hosts are that were heard, by the head of their identifier.
    var sightings: [String: Sighting] = [:]

    var isOpen = false
    var isStopped = false
    var hosting: Hosting?
    var radioEvents: Task<Void, Never>?

    /// What runs while this node hosts.
    struct Hosting {
        var policy: AdvertisingPolicy
        /// Asks the advertiser to advertise anew.
        var renew: AsyncStream<Void>.Continuation
        var advertiser: Task<Void, Never>
        var pacer: Task<Void, Never>
    }

    /// A transport for one node. `local` is how it introduces itself.
    public init(
        radio: any Radio, local: Peer, service: ServiceType = .democracyDJ,
        logger: Logger = Logger(label: "roadmesh.transport")
    ) {
        self.radio = radio
        self.local = local
        self.service = service
        self.logger = logger
        let outlet = AsyncChannel<TransportEvent>()
        self.outlet = outlet
        // One listener, one iterator: what waits in it is pulled, so nothing is buffered between.
        let iterator = PulledEvents(outlet)
        events = AsyncStream { await iterator.next() }
    }

    /// The time of this transport's clock.
    var now: MeshInstant { ContinuousClock.now - origin }

    // MARK: MeshTransport

    /// Lets guests find this node and takes them in. Throws a `RadioError` where the radio cannot.
    public func startHosting() async throws {
        try await open()
        guard hosting == nil else { return }
        let (renewals, renew) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        // The first registration is waited for: where it fails, the host must be told so, not be unseen.
        try await radio.advertise(advertisement, pace: .fast)
        hosting = Hosting(
            policy: AdvertisingPolicy(now: now), renew: renew,
            advertiser: Task { for await _ in renewals { await self.advertiseAnew() } },
            pacer: Task { await self.paceAdvertising() })
    }

    /// Looks for hosts. Throws a `RadioError` where the radio cannot.
    public func startBrowsing() async throws {
        try await open()
        sightings = [:]
        try await radio.scan(for: service.uuid)
    }

    /// Stops looking for hosts. Links stay.
    public func stopBrowsing() async {
        await radio.stopScanning()
    }

    /// Links to a host that was discovered; `connected` or `inviteFailed` tells how it ended.
    public func invite(_ peer: Peer.ID) async {
        // A host that was only heard is known by the head of its identifier, also once it is linked.
        let isLinked = linkOfPeer.keys.contains { Self.head(of: $0) == Self.head(of: peer) }
        guard !isStopped, dials[peer] == nil, !isLinked else { return }
        dials[peer] = Task { await self.dial(peer) }
    }

    /// Gives a message to the outbox of one peer, or of every connected one where `peer` is nil.
    public func send(_ body: [UInt8], as messageClass: MessageClass, to peer: Peer.ID?) async {
        let receivers = peer.map { [$0] } ?? Array(linkOfPeer.keys)
        for receiver in receivers {
            guard let id = linkOfPeer[receiver],
                links[id]?.outbox.enqueue(body, as: messageClass) != .full
            else {
                // Told by a task of its own: whoever sends is often also the one who listens.
                Task { await outlet.send(.sendFailed(body, to: receiver)) }
                continue
            }
            links[id]?.wake()
        }
    }

    /// Ends the link with a peer, or gives up the dial to it.
    public func disconnect(_ peer: Peer.ID, refusing: RefusalReason?) async {
        dials.removeValue(forKey: peer)?.cancel()
        if refusing == .banned { admission.ban(peer) }
        guard let id = linkOfPeer[peer] else { return }
        let actions = refusing.map { links[id]?.machine.sendAway($0) } ?? links[id]?.machine.leave()
        await carryOut(actions ?? [], on: id)
    }

    /// Says goodbye to everybody and gives everything up. A stopped transport is not used again.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        // First, so that nothing below waits for a listener that has gone.
        outlet.finish()
        for dial in dials.values { dial.cancel() }
        hosting?.renew.finish()
        hosting?.pacer.cancel()
        await radio.stopScanning()
        await radio.stopAdvertising()
        let running = links.values.flatMap { [$0.reader, $0.writer] }
        for id in links.keys { await carryOut(links[id]?.machine.leave() ?? [], on: id) }
        for task in running { await task?.value }
        await radio.close()
        await radioEvents?.value
        await hosting?.advertiser.value
    }

    private func open() async throws {
        guard !isStopped else { throw RadioError(.closed, "this transport was stopped; make a new one") }
        guard !isOpen else { return }
        try await radio.open()
        isOpen = true
        radioEvents = Task {
            for await event in radio.events { await self.received(event) }
        }
    }
}

/// Pulls events out of the outlet for the one stream over it.
private actor PulledEvents {
    private var iterator: AsyncChannel<TransportEvent>.AsyncIterator

    init(_ channel: AsyncChannel<TransportEvent>) {
        iterator = channel.makeAsyncIterator()
    }

    func next() async -> TransportEvent? {
        var iterator = iterator
        return await iterator.next(isolation: self)
    }
}
