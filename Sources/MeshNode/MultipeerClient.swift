// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import BLETransport
import DemocracyDJ
import Logging
import MeshProtocol
import MeshSession

/// The way to everybody else, for an application that keeps nothing: hosts to be found, links to be made, messages to be
/// sent. A thin layer over the radio's manager and the endpoint of the links; `Node` is what has a store.
///
/// A client hosts or browses, once. What it sends waits in memory for a link, and is lost with the process.
public actor MultipeerClient {
    /// Starts that cannot be.
    public enum StartError: Error, Hashable, Sendable {
        /// It was started before, or has stopped: a client is used once.
        case used
    }

    private let radio: any Radio
    private let identity: Identity
    private let service: ServiceType
    private let logger: Logger
    private let outlet = AsyncChannel<MultipeerEvent>()
    private let pulled: PulledEvents<AsyncChannel<MultipeerEvent>.AsyncIterator>

    private var manager: BLEManager?
    private var endpoint: MeshEndpoint?
    private var hosts: [Peer.ID: Peripheral] = [:]
    private var peers: [Peer.ID: Peer] = [:]
    private var pumps: [Task<Void, Never>] = []
    private var isStopped = false

    /// A client on a radio, with this key.
    public init(
        radio: any Radio, identity: Identity = .make(), service: ServiceType = .democracyDJ,
        logger: Logger = Logger(label: "roadmesh.client")
    ) {
        (self.radio, self.identity, self.service, self.logger) = (radio, identity, service, logger)
        pulled = PulledEvents(outlet)
    }

    /// Everything that happens, for one listener. Who does not read it holds up the peers, not the memory.
    public nonisolated func events() -> AsyncStream<MultipeerEvent> { AsyncStream { [pulled] in await pulled.next() } }

    /// Lets guests find this node under a name and takes them in. Throws a `RadioError` where the radio cannot.
    public func startHosting(_ name: String) async throws { try await start(name).startHosting() }

    /// Looks for hosts under a name. Throws a `RadioError` where the radio cannot.
    public func startBrowsing(_ name: String) async throws { try await start(name).startBrowsing() }

    /// Dials a host that was discovered, and waits until there is a channel: through a gap, too. `.peerConnected` says that
    /// the host has taken this node in, `.peerDisconnected` that it has not. Throws a `MeshTransportError`.
    public func invite(_ peer: Peer) async throws {
        guard let endpoint, let peripheral = hosts[Identity.head(of: peer.id)] else {
            throw MeshTransportError.connectionFailed(reason: "\(peer) was not heard")
        }
        guard peripheral.isUnderstood else {
            throw MeshTransportError.connectionFailed(reason: "\(peer) speaks another version")
        }
        let transport = BLETransport(peripheral: peripheral, expecting: peer.id)
        try await transport.connect()
        if isStopped || Task.isCancelled { return await transport.close() }
        await endpoint.open(transport, as: .initiator)
    }

    /// Sends a message, to everybody who is connected where the peer is nil. State updates overtake one another; everything
    /// else arrives once, in order. Throws a `SendError`, which is told as `.sendFailed` as well.
    public func send(_ message: MeshMessage, to peer: Peer?) async throws {
        var failure: SendError?
        for receiver in peer.map({ [$0] }) ?? Array(peers.values) {
            let isLatest = if case .stateUpdate = message { true } else { false }
            let sending = await endpoint?.send(
                message.encoded, as: isLatest ? .latest : .reliable, to: receiver.id)
            if case .queued = sending { continue }
            let error = SendError(sending == .full ? .full : .noLink, to: receiver)
            logger.warning("a message was not sent: \(error)")
            failure = error
            await outlet.send(.sendFailed(message, error))
        }
        if let failure { throw failure }
    }

    /// Says goodbye to everybody, gives up radio and links, and ends `events`.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        // First, so that nothing below waits for a listener that has gone.
        outlet.finish()
        await manager?.stop()
        await endpoint?.stop()
        await manager?.close()
        for pump in pumps { await pump.value }
    }

    // MARK: What happens

    private func start(_ name: String) throws -> BLEManager {
        guard manager == nil, !isStopped else { throw StartError.used }
        let local = Peer(id: identity.peerID, name: name)
        let manager = BLEManager(radio: radio, local: local, service: service, logger: logger)
        let endpoint = MeshEndpoint(
            core: MeshCore(identity: identity, name: name, service: service), logger: logger)
        (self.manager, self.endpoint) = (manager, endpoint)
        pumps = [
            Task { for await event in manager.events { await self.received(event) } },
            Task { for await event in endpoint.events { await self.received(event) } },
        ]
        return manager
    }

    private func received(_ event: BLEManagerEvent) async {
        switch event {
        // A client has links only, no circuits.
        case .discovered(let relay) where relay.isRelay: break
        case .discovered(let peripheral):
            hosts[peripheral.peer.id] = peripheral
            await outlet.send(.peerDiscovered(peripheral.peer))
        case .lost(let peer):
            hosts[peer.id] = nil
            await outlet.send(.peerLost(peer))
        case .accepted(let transport):
            await endpoint?.open(transport, as: .responder, refusing: transport.refusal)
            await manager?.linksChanged()
        case .radio(.unavailable): await outlet.send(.networkUnavailable)
        case .better, .reached, .radio: break
        }
    }

    private func received(_ event: EndpointEvent) async {
        guard case .link(_, let event) = event else { return }
        switch event {
        case .connected(let peer):
            peers[peer.id] = peer
            await outlet.send(.peerConnected(peer))
        case .received(let received):
            if let peer = peers[received.peer], let message = MeshMessage(encoded: received.body) {
                await outlet.send(.messageReceived(message, from: peer))
            }
            if received.messageClass == .reliable { await endpoint?.accept(upTo: received) }
        case .ended(let peer, let end):
            if end != .replaced { peers[peer.id] = nil }
            await manager?.linksChanged()
            await outlet.send(.peerDisconnected(peer, reason: DisconnectReason(end)))
        case .failed(let expected?, _, let end):
            await manager?.linksChanged()
            await outlet.send(.peerDisconnected(Peer(id: expected, name: ""), reason: DisconnectReason(end)))
        case .failed: await manager?.linksChanged()
        case .admitted, .guessedWrong, .invitationUsed, .unansweredProofs, .roundTrip, .asked, .latestHasLeft,
            .acknowledged, .carrier,
            .route, .carrierEnded, .askedForRoom:
            break
        }
    }
}
