// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import Bearers
import DemocracyDJ
import Logging
import MeshProtocol
import MeshSession

/// Connects an application that stores nothing to other peers: it finds hosts, creates links and sends messages. It is
/// a thin layer over the radio's manager and the endpoint of the links. `Node` is the variant with a store.
///
/// A client can be started once, to host or to browse. Its unsent messages wait in memory for a link, and are lost when
/// the process ends.
public actor MultipeerClient {
    /// Errors of a start.
    public enum StartError: Error, Hashable, Sendable {
        /// The client was started before, or has stopped. A client is used once.
        case used
    }

    private let radio: any Bearer
    private let identity: Identity
    private let service: ServiceType
    private let logger: Logger
    private let outlet = AsyncChannel<MultipeerEvent>()
    private let pulled: PulledEvents<AsyncChannel<MultipeerEvent>.AsyncIterator>

    private var manager: BearerManager?
    private var endpoint: MeshEndpoint?
    private var hosts: [Peer.ID: Peripheral] = [:]
    private var peers: [Peer.ID: Peer] = [:]
    private var pumps: [Task<Void, Never>] = []
    private var isStopped = false

    /// Creates a client that uses a radio and an identity.
    public init(
        radio: any Bearer, identity: Identity = .make(), service: ServiceType = .democracyDJ,
        logger: Logger = Logger(label: "roadmesh.client")
    ) {
        (self.radio, self.identity, self.service, self.logger) = (radio, identity, service, logger)
        pulled = PulledEvents(outlet)
    }

    /// All events, for one listener. If the listener stops reading, the peers wait, and the memory does not fill.
    public nonisolated func events() -> AsyncStream<MultipeerEvent> { AsyncStream { [pulled] in await pulled.next() } }

    /// Advertises this node under a name and admits guests. Throws a `BearerError` if the radio cannot advertise.
    public func startHosting(_ name: String) async throws { try await start(name).startHosting() }

    /// Scans for hosts under a name. Throws a `BearerError` if the radio cannot scan.
    public func startBrowsing(_ name: String) async throws { try await start(name).startBrowsing() }

    /// Dials a discovered host and waits for a channel, also through a gap. `.peerConnected` reports that the host has
    /// admitted this node, `.peerDisconnected` that it has not. Throws a `MeshTransportError`.
    public func invite(_ peer: Peer) async throws {
        guard let endpoint, let peripheral = hosts[Identity.head(of: peer.id)] else {
            throw MeshTransportError.connectionFailed(reason: "\(peer) was not heard")
        }
        guard peripheral.isUnderstood else {
            throw MeshTransportError.connectionFailed(reason: "\(peer) speaks another version")
        }
        let transport = BearerTransport(peripheral: peripheral, expecting: peer.id)
        try await transport.connect()
        if isStopped || Task.isCancelled { return await transport.close() }
        try await endpoint.open(transport, as: .initiator)
    }

    /// Sends a message to a peer, or to every connected peer if `peer` is nil. A newer state update replaces an unsent
    /// older one. All other messages arrive once, in order. Throws a `SendError`, and also reports it as `.sendFailed`.
    public func send(_ message: MeshMessage, to peer: Peer?) async throws {
        var failure: SendError?
        for receiver in peer.map({ [$0] }) ?? Array(peers.values) {
            let isLatest = if case .stateUpdate = message { true } else { false }
            let sending = await endpoint?.trySend(
                message.encoded, as: isLatest ? .latest : .reliable, to: receiver.id)
            if case .queued = sending { continue }
            let error = SendError(sending == nil || sending == .noLink ? .noLink : .full, to: receiver)
            logger.warning("a message was not sent: \(error)")
            failure = error
            await outlet.send(.sendFailed(message, error))
        }
        if let failure { throw failure }
    }

    /// Says goodbye to all peers, releases the radio and the links, and ends `events`.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        // This comes first, so that nothing below waits for a listener that has gone.
        outlet.finish()
        await manager?.stop()
        await endpoint?.stop()
        await manager?.close()
        for pump in pumps { await pump.value }
    }

    // MARK: Events

    private func start(_ name: String) throws -> BearerManager {
        guard manager == nil, !isStopped else { throw StartError.used }
        let local = Peer(id: identity.peerID, name: name)
        let manager = BearerManager(radio: radio, local: local, service: service, logger: logger)
        let endpoint = MeshEndpoint(
            core: MeshCore(identity: identity, name: name, service: service), logger: logger)
        (self.manager, self.endpoint) = (manager, endpoint)
        pumps = [
            Task { for await event in manager.events { await self.received(event) } },
            Task {
                guard let events = try? await endpoint.events else { return }
                for await event in events { await self.received(event) }
            },
        ]
        return manager
    }

    private func received(_ event: BearerManagerEvent) async {
        switch event {
        // A client uses only direct links, no circuits.
        case .discovered(let relay) where relay.isRelay: break
        case .discovered(let peripheral):
            hosts[peripheral.peer.id] = peripheral
            await outlet.send(.peerDiscovered(peripheral.peer))
        case .lost(let peer):
            hosts[peer.id] = nil
            await outlet.send(.peerLost(peer))
        case .accepted(let transport):
            _ = try? await endpoint?.open(transport, as: .responder, refusing: transport.refusal)
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
            .route, .carrierEnded, .askedForRoom, .probed:
            break
        }
    }
}
