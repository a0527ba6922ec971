// SPDX-License-Identifier: Apache-2.0

/// Carriers: the links between relays and the nodes behind them. They carry circuits and the host's state
/// (`docs/protocol.md`, "Route" and "The state, once for each link").
extension MeshCore {
    // MARK: Carriers

    mutating func carrierConnected(_ peer: Peer, _ hello: Hello, on id: LinkID) -> [Action] {
        guard let link = links[id] else { return [] }
        if link.machine.role == .responder, case .refuse(let reason) = answer(to: peer.id, on: id) {
            return update(id) { $0.sendAway(reason) }
        }
        // The newest link stays, regardless of which side dialled. If two nodes use each other as a relay, one has lost
        // its route.
        let others = links.keys.filter { old in
            old != id && links[old]?.carrier != nil && links[old]?.machine.connectedPeer?.id == peer.id
        }
        var actions = others.sorted().flatMap { old in update(old) { $0.end(.replaced) } }
        links[id]?.machine.liveness.begin(now: now)
        if link.machine.role == .responder {
            peerLinks.ofChild[peer.id] = id
            // The route may have changed since the answer was sent.
            actions += update(id) { [route] in $0.tell(route) }
        } else {
            links[id]?.machine.liveness.isAsked = true
        }
        return actions + [.tell(id, .carrier(peer, hello.route ?? nil))] + wake(id)
    }

    /// The nodes behind this one.
    public var children: [Peer] {
        peerLinks.ofChild.values.sorted().compactMap { links.peer(on: $0) }
    }

    /// A node that has dialled this one, on a channel of its own.
    public struct Neighbour: Hashable, Sendable {
        /// The link to the neighbour.
        public var link: LinkID
        /// Whether the neighbour is a relay.
        public var relays: Bool

        /// A neighbour on this link.
        public init(link: LinkID, relays: Bool) { (self.link, self.relays) = (link, relays) }
    }

    /// The linked nodes that have dialled this one, in the order of their links.
    public var neighbours: [Neighbour] {
        (Array(peerLinks.ofPeer.values) + Array(peerLinks.ofChild.values)).sorted().compactMap { id in
            guard let link = links[id], link.place == nil, link.machine.role == .responder,
                link.machine.connectedPeer != nil
            else { return nil }
            return Neighbour(link: id, relays: link.leadsToRelay)
        }
    }

    /// Asks a node that is not a relay to move behind a relay, if it hears one.
    public mutating func askForRoom(on id: LinkID) -> [Action] { update(id) { $0.askForRoom() } }

    /// Whether the peer of a link accepts circuits and gets the signed state.
    public func leadsToRelay(_ id: LinkID) -> Bool { links.summary(of: id)?.leadsToRelay == true }

    /// Number of circuits on a link to or from a relay. Nil on any other link.
    public func circuits(on id: LinkID) -> Int? {
        guard let link = links.summary(of: id), link.isCarrier || link.leadsToRelay || uplink == id && relays else {
            return nil
        }
        return link.circuits
    }

    /// Number of relayed circuits.
    public var relayedCircuits: Int { circuitEnds.relayedCount }

    /// Whether a link carries circuits of nodes behind this one.
    public func passesCircuits(on id: LinkID) -> Bool { circuitEnds.isPassed(on: id) }

    /// The host that this node is linked to.
    public var host: Peer? { hostLink.flatMap { links.peer(on: $0) } }

    /// The first relay on the route to the host. Nil with a direct channel, or without a host.
    public var parent: (link: LinkID, peer: Peer)? {
        guard let hostLink, let carrier = links.carrier(of: hostLink) else { return nil }
        return links.peer(on: carrier).map { (carrier, $0) }
    }

    /// Sends the current route of circuits to all nodes behind this one, even if it is the same as before: the route
    /// was lost in between. A nil route ends all relayed circuits.
    public mutating func lead(_ route: Route?) -> [Action] {
        self.route = route
        var actions: [Action] = []
        for id in peerLinks.ofChild.values.sorted() {
            if route == nil {
                for number in links[id]?.circuits.numbers ?? [] {
                    circuitEnds.end(CircuitPlace.Circuit(link: id, number: number), &links)
                }
                links[id]?.carrier?.isServed = false
            }
            actions += update(id) { $0.tell(route) }
        }
        if let uplink { actions.append(.wake(uplink)) }
        return actions
    }

    // MARK: The host's state

    /// The states to report to a host as stored here. A relay reports the states that it stores for others, since it
    /// forwards the changes that it receives.
    func shown(_ states: [StateName], to host: Peer.ID?) -> [StateName] {
        guard relays else { return Array(states.prefix(Limits.namedStates)) }
        guard let host, let kept = sharedStates.log.host, Identity.mayBeSame(kept, host) else { return [] }
        return sharedStates.log.names
    }

    /// The state that the initiator of a link has reported.
    public func shownState(on id: LinkID) -> StateName? { links[id]?.hello?.shownState }

    /// Whether this node has reported to the host of a link which states it has.
    public func hasShownState(on id: LinkID) -> Bool { links[id]?.place == nil && links[id]?.shown.isEmpty == false }

    /// Starts to send the host's state to a node behind this one: the changes after the newest state that both have, or
    /// the log from its beginning.
    mutating func serve(_ id: LinkID) {
        guard let link = links[id], let carrier = link.carrier else { return }
        let known = carrier.known
        links[id]?.carrier?.known = []
        if carrier.isServed, link.circuits.count > 1 {
            // All later changes have already been sent on this link.
            if carrier.place != nil { _ = links[id]?.machine.tell(Array(known.prefix(1))) }
            return
        }
        let common = sharedStates.log.newest(of: known)
        links[id]?.carrier?.isServed = true
        links[id]?.carrier?.takesCheckpoints = link.leadsToRelay
        links[id]?.carrier?.place = common?.place
        if let common { _ = links[id]?.machine.tell([common.name]) }
    }

    /// The node at a carrier's other end reports its states, or the state from which its updates continue.
    mutating func knows(_ names: [StateName], on id: LinkID) { links[id]?.carrier?.known = names }

    /// Reports on a carrier the last states of a host that are stored here, before a link requests its circuit. The
    /// relay at the other end may be behind, and may have combined the changes differently.
    mutating func tellShownState(of id: LinkID, over carrier: LinkID) {
        links[carrier]?.carrier?.known = []
        let names = links[id]?.shown ?? []
        _ = links[carrier]?.machine.tell(names)
    }

    /// Whether the relay's updates follow this node's state of the host, so that nothing is repeated.
    public func continuesState(on id: LinkID) -> Bool {
        guard let link = links[id], link.machine.role == .initiator, let carrier = link.place?.carrier else {
            return false
        }
        return links[carrier]?.carrier?.known.isEmpty == false
    }

    mutating func receivedOnCarrier(_ unit: MessageUnit, on id: LinkID) -> [Action] {
        guard links[id]?.machine.role == .initiator, unit.messageClass == .latest else {
            return update(id) { $0.end(.misbehaved(.unexpectedFrame)) }
        }
        guard unit.sharing != nil, links[id]?.carrier?.isNew(unit) == true else { return [] }
        guard let hostLink, links[hostLink]?.place?.carrier == id else {
            links[id]?.carrier?.hold(unit)
            return []
        }
        return receivedShared(unit, from: hostLink, on: id)
    }

    /// Whether part of an update has arrived from a relay, but not all of it.
    public func isReceivingState(on carrier: LinkID) -> Bool {
        links[carrier]?.machine.reassemblers[.latest].map { $0.byteCount > 0 } == true
    }

    /// Handles the updates that arrived before their key was known.
    mutating func takeHeldState(on inner: LinkID) -> [Action] {
        guard let carrier = links[inner]?.place?.carrier, let held = links[carrier]?.carrier?.held, !held.isEmpty,
            hostLink == inner
        else { return [] }
        links[carrier]?.carrier?.forgetHeld()
        return held.flatMap { receivedShared($0, from: inner, on: carrier) }
    }

    /// Handles an update that the host has signed. It came over the link to the host, or from the relay at the other
    /// end of a carrier.
    mutating func receivedShared(_ unit: MessageUnit, from host: LinkID, on id: LinkID) -> [Action] {
        guard let sharing = unit.sharing, let conversation = links.conversation(on: host),
            links[host]?.machine.role == .initiator, links[id]?.isOver == false
        else { return [] }
        guard let key = links[host]?.hello?.signingKey,
            let (name, body) = sharedStates.opened(unit.body, as: sharing, by: key)
        else {
            return update(id) { $0.end(.misbehaved(.forgedState)) }
        }
        let message = ReceivedMessage(
            conversation: conversation, messageClass: .latest, number: unit.number,
            epoch: peers[conversation]?.conversation.peerEpoch ?? 0, body: Array(body))
        sharedStates.log.host = conversation.peer
        return keep(SharedLog.Entry(sharing: sharing, name: name, signed: Array(unit.body))) + [
            .tell(host, .received(message))
        ]
    }

    /// The route to the host has changed. If the updates on the new route do not follow the log, they may omit a change
    /// that was in transit on the last route. The log may also be older than the states that the nodes behind this one
    /// have seen. The log is then no longer sent. A host that knows the log's state sends the changes after it, or a
    /// full state, which empties the log.
    mutating func beginLog(on id: LinkID) {
        guard relays, !continuesState(on: id), !hasShownState(on: id) else { return }
        sharedStates.log.beginAgain()
    }

    private mutating func keep(_ entry: SharedLog.Entry) -> [Action] {
        guard relays else { return [] }
        sharedStates.log.append(entry)
        return peerLinks.ofChild.values.sorted().filter { links[$0]?.carrier?.isServed == true }.map { .wake($0) }
    }
}
