// SPDX-License-Identifier: Apache-2.0

/// Carriers: the links between relays and the nodes behind them, where circuits lead, and the host's state on its way
/// (`docs/protocol.md`, "Route" and "The state, once for each link").
extension MeshCore {
    // MARK: Carriers

    mutating func carrierConnected(_ peer: Peer, _ hello: Hello, on id: LinkID) -> [Action] {
        guard let link = links[id] else { return [] }
        if link.machine.role == .responder, case .refuse(let reason) = answer(to: peer.id, on: id) {
            return update(id) { $0.sendAway(reason) }
        }
        // The newest link stays, no matter who has dialled: of two that lead to one another one has lost its way.
        let others = links.keys.filter { old in
            old != id && links[old]?.carrier != nil && links[old]?.machine.connectedPeer?.id == peer.id
        }
        var actions = others.sorted().flatMap { old in update(old) { $0.end(.replaced) } }
        links[id]?.machine.liveness.begin(now: now)
        if link.machine.role == .responder {
            linkOfChild[peer.id] = id
            // It may have changed since the answer left.
            actions += update(id) { [route] in $0.tell(route) }
        } else {
            links[id]?.machine.liveness.isAsked = true
        }
        return actions + [.tell(id, .carrier(peer, hello.route ?? nil))] + wake(id)
    }

    /// The nodes behind this one.
    public var children: [Peer] {
        linkOfChild.values.sorted().compactMap { links.peer(on: $0) }
    }

    /// A node that has dialled this one, on a channel of its own.
    public struct Neighbour: Hashable, Sendable {
        /// The link to it.
        public var link: LinkID
        /// Whether it takes others along.
        public var relays: Bool

        /// A neighbour on this link.
        public init(link: LinkID, relays: Bool) { (self.link, self.relays) = (link, relays) }
    }

    /// The nodes that have dialled this one and are linked, in the order in which they came.
    public var neighbours: [Neighbour] {
        (Array(linkOfPeer.values) + Array(linkOfChild.values)).sorted().compactMap { id in
            guard let link = links[id], link.place == nil, link.machine.role == .responder,
                link.machine.connectedPeer != nil
            else { return nil }
            return Neighbour(link: id, relays: link.leadsToRelay)
        }
    }

    /// Asks who relays nothing to go behind a relay, where it hears one.
    public mutating func askForRoom(on id: LinkID) -> [Action] { update(id) { $0.askForRoom() } }

    /// Whether the peer of a link takes circuits, and gets the state signed.
    public func leadsToRelay(_ id: LinkID) -> Bool { links.summary(of: id)?.leadsToRelay == true }

    /// How many circuits there are on a link with a relay, or of one; nil on any other.
    public func circuits(on id: LinkID) -> Int? {
        guard let link = links.summary(of: id), link.isCarrier || link.leadsToRelay || uplink == id && relays else {
            return nil
        }
        return link.circuits
    }

    /// How many circuits are passed on.
    public var relayedCircuits: Int { relayed.count / 2 }

    /// Whether circuits of nodes behind this one go over a link.
    public func passesCircuits(on id: LinkID) -> Bool { relayed.keys.contains { $0.link == id } }

    /// The host that this node is linked to.
    public var host: Peer? { hostLink.flatMap { links.peer(on: $0) } }

    /// The relay that the link to the host goes through first; nil where it has a channel of its own, or there is none.
    public var parent: (link: LinkID, peer: Peer)? {
        guard let hostLink, let carrier = links.carrier(of: hostLink) else { return nil }
        return links.peer(on: carrier).map { (carrier, $0) }
    }

    /// Tells those behind this node where circuits lead from now on, also where it is the same as before: the way was lost
    /// meanwhile. Nowhere ends those that there are.
    public mutating func lead(_ route: Route?) -> [Action] {
        self.route = route
        var actions: [Action] = []
        for id in linkOfChild.values.sorted() {
            if route == nil {
                for number in links[id]?.circuits.numbers ?? [] { end(CircuitPlace.Circuit(link: id, number: number)) }
                links[id]?.carrier?.isServed = false
            }
            actions += update(id) { $0.tell(route) }
        }
        if let uplink { actions.append(.wake(uplink)) }
        return actions
    }

    /// Ends a circuit that is passed on, at both sides.
    private mutating func end(_ circuit: CircuitPlace.Circuit) {
        links[circuit.link]?.circuits.close(circuit.number, .ended)
        guard let other = relayed.removeValue(forKey: circuit) else { return }
        relayed[other] = nil
        links[other.link]?.circuits.close(other.number, .ended)
    }

    // MARK: The host's state

    /// What is for everybody, signed.
    mutating func signed(_ body: [UInt8], as state: SharedState) -> SharedLog.Entry? {
        if let lastSigned, lastSigned.body == body, lastSigned.entry.name == state.name,
            lastSigned.entry.sharing == state.sharing
        {
            return lastSigned.entry
        }
        guard let key = identity.signingKey, let signed = signature.signed(body, as: state, by: key) else { return nil }
        let entry = SharedLog.Entry(sharing: state.sharing, name: state.name, signed: signed)
        lastSigned = (entry, body)
        return entry
    }

    /// What a host is told of its states that are here. A relay says what it has for others, since what it is sent goes on to them.
    func shown(_ states: [StateName], to host: Peer.ID?) -> [StateName] {
        guard relays else { return Array(states.prefix(Limits.namedStates)) }
        guard let host, let kept = log.host, Identity.mayBeSame(kept, host) else { return [] }
        return log.names
    }

    /// The state that the initiator of a link has said that it has.
    public func shownState(on id: LinkID) -> StateName? { links[id]?.hello?.shownState }

    /// Whether the host at the other end of a link was told by it which state is here.
    public func hasShownState(on id: LinkID) -> Bool { links[id]?.place == nil && links[id]?.shown.isEmpty == false }

    /// A node behind this one is sent the host's state from now on: what follows on the newest one that both have had, or the log from its
    /// beginning.
    mutating func serve(_ id: LinkID) {
        guard let link = links[id], let carrier = link.carrier else { return }
        let known = carrier.known
        links[id]?.carrier?.known = []
        if carrier.isServed, link.circuits.count > 1 {
            // All has been sent on this link that has come meanwhile.
            if carrier.place != nil { _ = links[id]?.machine.tell(Array(known.prefix(1))) }
            return
        }
        let common = log.newest(of: known)
        links[id]?.carrier?.isServed = true
        links[id]?.carrier?.takesCheckpoints = link.leadsToRelay
        links[id]?.carrier?.place = common?.place
        if let common { _ = links[id]?.machine.tell([common.name]) }
    }

    /// Somebody at a carrier's other end says which states it has, or that it goes on behind one that this side has.
    mutating func knows(_ names: [StateName], on id: LinkID) { links[id]?.carrier?.known = names }

    /// Says on a carrier which states of a host's are the last that are here, with the circuit of a link that is about to be asked for. The
    /// relay at the other end may be behind, and have gathered what has changed in another way.
    mutating func tellShownState(of id: LinkID, over carrier: LinkID) {
        links[carrier]?.carrier?.known = []
        let names = links[id]?.shown ?? []
        _ = links[carrier]?.machine.tell(names)
    }

    /// Whether what a relay brings follows what this node has of the host's state: nothing of it comes again.
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

    /// Whether a part of an update has come from a relay, and the rest not yet.
    public func isReceivingState(on carrier: LinkID) -> Bool {
        links[carrier]?.machine.reassemblers[.latest].map { $0.byteCount > 0 } == true
    }

    /// What has come before its key was known.
    mutating func takeHeldState(on inner: LinkID) -> [Action] {
        guard let carrier = links[inner]?.place?.carrier, let held = links[carrier]?.carrier?.held, !held.isEmpty,
            hostLink == inner
        else { return [] }
        links[carrier]?.carrier?.forgetHeld()
        return held.flatMap { receivedShared($0, from: inner, on: carrier) }
    }

    /// An update that the host has signed: over the link to it, or passed on by the relay at the other end of a carrier.
    mutating func receivedShared(_ unit: MessageUnit, from host: LinkID, on id: LinkID) -> [Action] {
        guard let sharing = unit.sharing, let conversation = links.conversation(on: host),
            links[host]?.machine.role == .initiator, links[id]?.isOver == false
        else { return [] }
        guard let key = links[host]?.hello?.signingKey,
            let (name, body) = signature.opened(unit.body, as: sharing, by: key)
        else {
            return update(id) { $0.end(.misbehaved(.forgedState)) }
        }
        let message = ReceivedMessage(
            conversation: conversation, messageClass: .latest, number: unit.number,
            epoch: conversations[conversation]?.peerEpoch ?? 0, body: Array(body))
        log.host = conversation.peer
        return keep(SharedLog.Entry(sharing: sharing, name: name, signed: Array(unit.body))) + [
            .tell(host, .received(message))
        ]
    }

    /// The way to the host is another one. Where what is on it does not follow what is kept, it may leave something out that was under
    /// way on the last one, and what is kept may be older than what those behind this node have seen since: nobody is given anything
    /// of it any more. A host that was told what is kept sends what follows on it, or a whole, which empties the log.
    mutating func beginLog(on id: LinkID) {
        guard relays, !continuesState(on: id), !hasShownState(on: id) else { return }
        log.beginAgain()
    }

    private mutating func keep(_ entry: SharedLog.Entry) -> [Action] {
        guard relays else { return [] }
        log.append(entry)
        return linkOfChild.values.sorted().filter { links[$0]?.carrier?.isServed == true }.map { .wake($0) }
    }
}
