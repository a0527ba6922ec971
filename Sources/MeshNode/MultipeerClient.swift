// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import BLETransport
import Logging
import MeshProtocol
import MeshSession

/// What a client reports.
public enum ClientEvent: Sendable {
    /// A host is in earshot, or is heard again: signal strength in dBm where the radio knows it, hops to it.
    case discovered(Peer, rssi: Int?, hops: Int)
    /// A host that was discovered is not heard any more.
    case lost(Peer)
    /// A link is up and introduced.
    case connected(Peer)
    /// A link that was up has ended.
    case disconnected(Peer, LinkEnd)
    /// A dial has ended without a link. `peer` is the identifier that was invited.
    case inviteFailed(peer: Peer.ID, InviteFailure)
    /// A message has arrived. A reliable one is to be accepted.
    case received(ReceivedMessage)
    /// A peer has every reliable message up to this number safe: what is stored of them can go.
    case acknowledged(upTo: UInt64, by: Peer.ID)
    /// A peer is not remembered any more, to make room for another: what is stored of it can go.
    case forgot(Peer.ID)
    /// The last state update for a peer has left: a newer one may be given.
    case latestHasLeft(to: Peer.ID)
    /// What a link is like, about once a second.
    case link(Peer, LinkReport)
    /// The radio has failed or recovered.
    case radio(RadioCondition)
}

/// A node's way to everybody else: hosts to be found, links to be made, messages to be sent. It joins the radio's manager
/// with the endpoint of the node's links, and decides nothing.
public actor MultipeerClient {
    /// Everything that happens, for one listener. Whoever does not read it holds up the peers, not the memory.
    public nonisolated let events: AsyncStream<ClientEvent>

    let manager: BLEManager
    let endpoint: MeshEndpoint
    let outlet: AsyncChannel<ClientEvent>
    let logger: Logger

    /// The hosts that were heard, by the head of their identifier.
    var peripherals: [Peer.ID: Peripheral] = [:]
    var invitations: [Peer.ID: Invitation] = [:]
    private var lastInvitation = 0
    /// Links of invitations that were up, or had failed, before their dial was told of them.
    private var overEarly: Set<MeshCore.LinkID> = []
    var peers: [MeshCore.LinkID: Peer] = [:]
    private var pumps: [Task<Void, Never>] = []
    private var isStopped = false

    /// A client for one node on one radio, with what the node remembers of others. Where it holds until stored, a reliable
    /// message leaves only when `stored` has told that it is on disk.
    public init(
        radio: any Radio, identity: Identity, name: String, service: ServiceType = .democracyDJ,
        remembered: [Peer.ID: MeshCore.Remembered] = [:], holdsUntilStored: Bool = false,
        logger: Logger = Logger(label: "roadmesh.client")
    ) {
        self.logger = logger
        manager = BLEManager(
            radio: radio, local: Peer(id: identity.peerID, name: name), service: service, logger: logger)
        endpoint = MeshEndpoint(
            core: MeshCore(
                identity: identity, name: name, service: service, remembered: remembered,
                holdsUntilStored: holdsUntilStored),
            logger: logger)
        let outlet = AsyncChannel<ClientEvent>()
        self.outlet = outlet
        let iterator = PulledEvents(outlet)
        events = AsyncStream { await iterator.next() }
    }

    // MARK: Finding one another

    /// Lets guests find this node and takes them in. Throws a `RadioError` where the radio cannot.
    public func startHosting() async throws {
        startPumps()
        try await manager.startHosting()
    }

    /// Asks the radio again to let guests find this node.
    public func tryAgain() async {
        await manager.tryAgain()
    }

    /// Looks for hosts. Throws a `RadioError` where the radio cannot.
    public func startBrowsing() async throws {
        startPumps()
        peripherals = [:]
        try await manager.startBrowsing()
    }

    /// Stops looking for hosts. Links stay.
    public func stopBrowsing() async {
        await manager.stopBrowsing()
    }

    /// Links to a host that was discovered. It stays pending through a gap; `connected` or `inviteFailed` tells how it
    /// ended.
    public func invite(_ peer: Peer.ID) {
        let isLinked = peers.values.contains { Identity.head(of: $0.id) == Identity.head(of: peer) }
        guard !isStopped, invitations[peer] == nil, !isLinked else { return }
        lastInvitation += 1
        let number = lastInvitation
        invitations[peer] = Invitation(number: number, task: Task { await self.dial(peer, number) })
    }

    /// An invitation, from the dial until the link is up or has failed.
    struct Invitation {
        let number: Int
        let task: Task<Void, Never>
        /// Its link, once there is one to shake hands on.
        var link: MeshCore.LinkID?
    }

    private func dial(_ peer: Peer.ID, _ number: Int) async {
        let link = await openLink(to: peer)
        // A later invitation of the same peer is another one.
        let isPresent = invitations[peer]?.number == number
        guard let link else {
            if isPresent { invitations[peer] = nil }
            return
        }
        if overEarly.remove(link) != nil {
            if isPresent { invitations[peer] = nil }
        } else if isPresent {
            invitations[peer]?.link = link
        } else {
            // It was taken back while the link opened.
            await endpoint.leave(link)
        }
    }

    /// A link of ours is up, or will never be: nothing is pending on it any more.
    func invitationIsOver(_ link: MeshCore.LinkID) {
        if let peer = invitations.first(where: { $0.value.link == link })?.key {
            invitations[peer] = nil
        } else if invitations.values.contains(where: { $0.link == nil }) {
            overEarly.insert(link)
        }
    }

    /// Dials. Nil where that led to no link; then it is told why.
    private func openLink(to peer: Peer.ID) async -> MeshCore.LinkID? {
        guard let peripheral = peripherals[Identity.head(of: peer)] else {
            await outlet.send(.inviteFailed(peer: peer, .unknownPeer))
            return nil
        }
        guard peripheral.isUnderstood else {
            await outlet.send(.inviteFailed(peer: peer, .refused(.version, by: nil)))
            return nil
        }
        let transport = BLETransport(peripheral: peripheral, expecting: peer)
        do {
            try await transport.connect()
        } catch {
            guard !Task.isCancelled, !isStopped else { return nil }
            let refused = await transport.refusal.map { InviteFailure.refused($0, by: nil) }
            await outlet.send(.inviteFailed(peer: peer, refused ?? .dialFailed("\(error)")))
            return nil
        }
        guard !Task.isCancelled, !isStopped else {
            await transport.close()
            return nil
        }
        return await endpoint.open(transport, as: .initiator)
    }

    // MARK: Links and messages

    /// Gives a message to the conversation with a peer, or with every connected one where `peer` is nil.
    @discardableResult
    public func send(
        _ body: [UInt8], as messageClass: MessageClass = .reliable, to peer: Peer.ID?
    ) async -> [Peer.ID: Conversation.Sending] {
        var sendings: [Peer.ID: Conversation.Sending] = [:]
        for receiver in peer.map({ [$0] }) ?? peers.values.map(\.id) {
            sendings[receiver] = await endpoint.send(body, as: messageClass, to: receiver)
        }
        return sendings
    }

    /// Everything up to a number that was said to a peer is on disk, and may leave (`MeshCore.stored`).
    public func stored(upTo number: UInt64, for peer: Peer.ID) async {
        await endpoint.stored(upTo: number, for: peer)
    }

    /// What is held for a peer could not be stored, and is taken back (`MeshCore.withdrawHeld`). Returns how many messages
    /// that were.
    @discardableResult
    public func withdrawHeld(for peer: Peer.ID) async -> Int {
        await endpoint.withdrawHeld(for: peer)
    }

    /// What has to outlive the process of a peer (`MeshCore.remembered`). Nil where it was never met, or is forgotten.
    public func remembered(_ peer: Peer.ID) async -> MeshCore.Remembered? {
        await endpoint.remembered(peer)
    }

    /// A message is safe: its sender need not send it again.
    public func accept(_ message: ReceivedMessage) async {
        await endpoint.accept(upTo: message)
    }

    /// Ends the link with a peer, or gives up the invitation to it.
    public func disconnect(_ peer: Peer.ID, refusing reason: RefusalReason? = nil) async {
        // A host may have been invited by its head alone.
        let key = invitations.keys.first { Identity.head(of: $0) == Identity.head(of: peer) }
        let invitation = key.flatMap { invitations.removeValue(forKey: $0) }
        invitation?.task.cancel()
        if let link = invitation?.link { await endpoint.leave(link) }
        await endpoint.disconnect(peer, refusing: reason)
    }

    /// Says goodbye to everybody, gives up radio and links, and ends `events`. A stopped client is not used again.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        // First, so that nothing below waits for a listener that has gone.
        outlet.finish()
        for invitation in invitations.values { invitation.task.cancel() }
        await manager.stop()
        await endpoint.stop()
        await manager.close()
        for pump in pumps { await pump.value }
    }

    // MARK: What happens

    private func startPumps() {
        guard pumps.isEmpty, !isStopped else { return }
        pumps = [
            Task { for await event in manager.events { await self.received(event) } },
            Task { for await event in endpoint.events { await self.received(event) } },
        ]
    }
}
