// SPDX-License-Identifier: Apache-2.0

/// The links of a node: those with channels of their own, those in circuits, and those between relays and the nodes
/// behind them.
///
/// An event reaches the machine of its link, and `apply` performs what that machine decides. `Membership` decides which
/// peers join, `CircuitEnds` what becomes of circuits, and `SharedStates` which state goes to the nodes behind this one.
struct MeshLinks: Sendable {
    typealias LinkID = MeshCore.LinkID
    typealias Action = MeshCore.Action

    private let settings: MeshCore.Settings
    private(set) var slots = LinkSlots()
    private(set) var byPeer = PeerLinks()
    private(set) var circuits = CircuitEnds()
    private(set) var states: SharedStates
    /// The route that this node has reported to the nodes behind it.
    private(set) var route: Route?
    /// Protocol violations, by kind.
    private(set) var misbehaviours: [Misbehaviour: Int] = [:]
    /// Whether circuits may end here.
    var takesCircuits = false
    /// Time of the last event.
    private(set) var now = MeshInstant.zero

    init(_ settings: MeshCore.Settings) {
        self.settings = settings
        states = SharedStates(settings.service, key: settings.identity.signingKey, relays: settings.relays)
    }

    // MARK: Questions

    /// The link that carries a conversation.
    func link(of key: ConversationKey) -> LinkID? { byPeer.link(of: key, slots) }

    /// The first relay on the route to the host. Nil with a direct channel, or without a host.
    var parent: (link: LinkID, peer: Peer)? {
        guard let carrier = byPeer.toHost.flatMap({ slots.carrier(of: $0) }) else { return nil }
        return slots.peer(on: carrier).map { (carrier, $0) }
    }

    /// The linked nodes that have dialled this one, in the order of their links.
    var neighbours: [MeshCore.Neighbour] {
        byPeer.all.compactMap { id in
            guard let link = slots.summary(of: id), link.carrier == nil, link.isResponder, link.peer != nil else {
                return nil
            }
            return MeshCore.Neighbour(link: id, relays: link.leadsToRelay)
        }
    }

    /// Number of circuits on a link to or from a relay. Nil on any other link.
    func circuits(on id: LinkID) -> Int? {
        guard let link = slots.summary(of: id), link.isCarrier || link.leadsToRelay || isUplinkOfRelay(id) else {
            return nil
        }
        return link.circuits
    }

    private func isUplinkOfRelay(_ id: LinkID) -> Bool { settings.relays && byPeer.uplink(slots) == id }

    /// Adds the memory use of all links.
    func measure(_ footprint: inout Footprint) {
        slots.measure(&footprint)
        (footprint.innerLinks, footprint.relayedCircuits) = (circuits.count, circuits.relayedCount)
        (footprint.connected, footprint.logBytes) = (byPeer.count, states.log.byteCount)
    }

    // MARK: Events

    /// Time has passed.
    mutating func moveClock(to now: MeshInstant) { self.now = max(now, self.now) }

    /// A link begins. `sendMTU` is 0 if its channel is closed already.
    mutating func opened(
        _ id: LinkID, _ link: MeshCore.Link, in place: CircuitPlace?, _ start: Membership.Start,
        _ members: inout Membership, now: MeshInstant
    ) -> [Action] {
        self.now = now
        slots[id] = link
        let role = link.machine.role
        if let place, !circuits.enter(place, id, role, &slots) {
            slots[id]?.place = place
            return end(id, .circuit(.noRoom), &members)
        }
        if place != nil, role == .responder { slots[id]?.machine.isBusy = !members.mayAgreeInCircuit(now: now) }
        slots[id]?.machine.takesKnownOnly = start.gate == .known
        let standing = start.known.flatMap { members.introduce(to: $0, on: id, &slots, around) }
        let decided: [LinkMachine.Action]? =
            // The channel is already closed, which is not a violation.
            if link.sendMTU == 0 {
                slots[id]?.machine.end(.linkLost)
            } else if link.sendMTU < Limits.leastSDUBytes {
                slots[id]?.machine.end(.misbehaved(.smallChannel))
            } else if start.gate == .busy {
                slots[id]?.machine.turnAway()
            } else {
                slots[id]?.machine.opened(as: standing)
            }
        let actions = apply(decided, on: id, &members)
        // SDUs may have arrived in the circuit before the link was in it.
        guard role == .responder, let circuit = slots[id]?.place?.circuit else { return actions }
        let early = circuits.takeEarly(circuit)
        return actions + early.flatMap { apply(circuits.received($0, in: circuit, &slots), &members) }
    }

    /// An SDU has arrived.
    mutating func received(
        _ sdu: [UInt8], on id: LinkID, _ members: inout Membership, now: MeshInstant
    ) -> [Action] {
        self.now = now
        if slots[id]?.machine.awaitsKnown == true, case .knownHello? = HandshakePacket(sdu[...]),
            !members.mayRecognise(at: slots.entrance(of: id), now: now)
        {
            slots[id]?.machine.isBusy = true
        }
        let actions = apply(slots[id]?.machine.received(sdu, now: now), on: id, &members)
        guard let carrier = slots.carrier(of: id), let greediest = slots.greediest(over: carrier) else {
            return actions
        }
        return actions + end(greediest, .misbehaved(.badFragment), &members)
    }

    /// The channel has closed. The link is removed.
    mutating func channelClosed(_ id: LinkID, _ members: inout Membership) -> [Action] {
        let actions = apply(slots[id]?.machine.channelClosed(), on: id, &members)
        slots[id] = nil
        return actions
    }

    /// Time has passed for a link.
    mutating func tick(_ id: LinkID, _ members: inout Membership, now: MeshInstant) -> [Action] {
        if let until = slots[id]?.lingersUntil {
            return now >= until ? leaveCircuit(id, afterFinalFrame: false, &members) : []
        }
        if let since = slots[id]?.waitsSince, now >= since + Limits.circuitPatience {
            slots[id]?.waitsSince = nil
            return apply(slots[id]?.machine.doubt(now: now), on: id, &members)
        }
        return apply(slots[id]?.machine.tick(now: now), on: id, &members)
    }

    /// Nothing was read from a link until now because this side did not read.
    mutating func heardNothingByChoice(on id: LinkID, now: MeshInstant) {
        slots[id]?.machine.heardNothingByChoice(now: now)
        // The unread data may contain an acknowledgement.
        if slots[id]?.waitsSince != nil { slots[id]?.waitsSince = now }
    }

    /// This side leaves a link.
    mutating func leave(_ id: LinkID, saying reason: GoodbyeReason, _ members: inout Membership) -> [Action] {
        // The queued SDUs in the circuits of the link are sent before. They include the goodbyes.
        if let link = slots[id], !link.isOver, !link.circuits.isEmpty {
            let last = circuits.lastSDUs(
                of: id, limit: link.sendMTU, atMost: Limits.lastRecords, &slots, &members.peers, states.log, now: now)
            slots[id]?.machine.packets += last
        }
        return apply(slots[id]?.machine.leave(saying: reason), on: id, &members)
    }

    /// Changes the machine of a link, and performs what it decides.
    mutating func change(
        _ id: LinkID, _ members: inout Membership, _ change: (inout LinkMachine) -> [LinkMachine.Action]
    ) -> [Action] {
        apply(slots[id]?.machine.apply(change), on: id, &members)
    }

    /// Ends a link.
    mutating func end(_ id: LinkID, _ reason: LinkEnd, _ members: inout Membership) -> [Action] {
        apply(slots[id]?.machine.end(reason), on: id, &members)
    }

    /// Sends the current route of circuits to all nodes behind this one. A nil route ends all relayed circuits.
    mutating func lead(_ route: Route?, _ members: inout Membership) -> [Action] {
        self.route = route
        var actions: [Action] = []
        for id in byPeer.toChildren {
            if route == nil { circuits.routeLost(id, &slots) }
            actions += apply(slots[id]?.machine.tell(route), on: id, &members)
        }
        return actions + (byPeer.uplink(slots).map { [.wake($0)] } ?? [])
    }

    /// Holds back the credits of a link's circuit while this side does not read it.
    mutating func holdCircuit(of id: LinkID, _ isHeld: Bool) -> [Action] {
        guard let circuit = slots[id]?.place?.circuit else { return [] }
        slots[circuit.link]?.circuits.hold(circuit.number, isHeld)
        return [.wake(circuit.link)]
    }

    /// Pings the peer of a link. Returns the ping's number.
    mutating func ping(_ id: LinkID, now: MeshInstant) -> UInt64? { slots[id]?.machine.measure(now: now) }

    /// Requests a circuit that measures the time to a relay. Returns its number.
    mutating func probe(relay: Int, towards host: Peer.ID, over carrier: LinkID) -> UInt64? {
        circuits.probe(relay: relay, towards: host, over: carrier, &slots)
    }

    /// Closes the circuit of a probe. Returns whether it was open.
    mutating func abandonProbe(_ number: UInt64, over carrier: LinkID) -> Bool {
        circuits.abandonProbe(CircuitPlace.Circuit(link: carrier, number: number), &slots)
    }

    // MARK: Sending

    /// A link has data to send. The carrier sends the data of a link in a circuit.
    mutating func wake(_ id: LinkID) -> Action { .wake(slots.wake(id)) }

    /// A conversation has data to send.
    mutating func wake(_ key: ConversationKey) -> [Action] { link(of: key).map { [wake($0)] } ?? [] }

    /// An update for all guests, signed.
    mutating func signed(_ body: [UInt8], as sharing: SharedState?) -> SharedLog.Entry? {
        sharing.flatMap { states.signed(body, as: $0) }
    }

    /// Whether the answer to a peer may still get a state update.
    func mayWelcome(_ id: LinkID) -> Bool {
        slots[id].map { $0.isAdmitted && !$0.isWelcomed && !$0.isOver } == true
    }

    /// Adds a state update to the answer to a peer. Returns whether there was an answer without one.
    mutating func welcome(_ id: LinkID, with unit: MessageUnit) -> Bool {
        guard slots[id]?.machine.welcome(with: unit) == true else { return false }
        slots[id]?.isWelcomed = true
        return true
    }

    /// The next SDU to send on a link, of at most this many bytes, and the actions that follow.
    mutating func nextSDU(
        for id: LinkID, limit: Int, _ peers: inout PeerBook
    ) -> (sdu: [UInt8], actions: [Action])? {
        circuits.nextSDU(for: id, limit: limit, &slots, &peers, states.log, now: now)
    }

    // MARK: Decisions of a link

    /// Performs what a link's machine has decided.
    mutating func apply(
        _ decided: [LinkMachine.Action]?, on id: LinkID, _ members: inout Membership
    ) -> [Action] {
        var actions: [Action] = []
        // Ignore frames after the end in the same record, whichever side has ended the link.
        for action in decided ?? [] where slots.goesOn(id) {
            switch action {
            case .wake: actions.append(wake(id))
            case .identified(let peer):
                actions += answer(members.identified(peer, on: id, &slots, around), id, &members)
            case .returning(let kept, let attempt, let record):
                actions += answer(members.returned(kept, attempt, record, on: id, &slots, around), id, &members)
            case .introduced(let peer, let hello):
                actions += answer(members.introduced(peer, hello, on: id, &slots, around), id, &members)
            case .claimed(_, let name): actions += answer(members.claimed(name, on: id, &slots, around), id, &members)
            case .readyToProve: actions += answer(members.readyToProve(on: id, &slots), id, &members)
            case .proved(let peer, let hello):
                actions += answer(members.proved(peer, hello, on: id, &slots, around), id, &members)
            case .provedWrong(let peer, let hello):
                actions += answer(members.provedWrong(peer, hello, on: id, &slots, around), id, &members)
            case .connected(let peer, let hello):
                slots[id]?.hello = hello
                if hello.relays { slots[id]?.circuits.limit = Limits.relayedCircuits }
                actions +=
                    slots.isCarrier(id)
                    ? carrierConnected(peer, hello, on: id, &members)
                    : connected(peer, hello.resumption, on: id, &members)
            case .received(let unit): actions += received(unit, on: id, &members)
            case .acknowledged(let number): actions += acknowledged(upTo: number, on: id, &members)
            case .roundTrip(let time, let number): actions.append(.tell(id, .roundTrip(time, ping: number)))
            case .asked: actions.append(.tell(id, .asked))
            case .heed(let note): actions.append(.heed(id, note))
            case .circuit(let frame): actions += circuit(frame, on: id, &members)
            case .route(let route): if slots.isCarrier(id) { actions.append(.tell(id, .route(route))) }
            // The node at a carrier's other end has these states, or its updates continue from this one.
            case .state(let names): slots[id]?.carrier?.known = names
            case .askedForRoom: if slots[id]?.place == nil { actions.append(.tell(id, .askedForRoom)) }
            case .holdReading(let until): actions.append(.holdReading(id, until: until))
            case .close(let end, let afterFinalFrame):
                actions += ended(id, end, afterFinalFrame: afterFinalFrame, &members)
            }
        }
        return actions
    }

    /// Performs the answer to a peer that joins.
    private mutating func answer(
        _ answer: Membership.Answer, _ id: LinkID, _ members: inout Membership
    ) -> [Action] {
        answer.events.map { .tell(id, $0) } + apply(answer.decided, on: id, &members)
    }

    /// The data of the node with which a peer joins.
    private var around: Membership.Surroundings {
        Membership.Surroundings(
            peerLinks: byPeer, states: states, route: route, isCrowded: circuits.count > Limits.fewCircuits, now: now)
    }

    private mutating func ended(
        _ id: LinkID, _ end: LinkEnd, afterFinalFrame: Bool, _ members: inout Membership
    ) -> [Action] {
        slots[id]?.isOver = true
        if case .misbehaved(let how) = end { misbehaviours[how, default: 0] += 1 }
        let report = slots[id].map { [Action.tell(id, $0.event(for: end))] } ?? []
        if byPeer.ended(id, with: slots[id]?.machine.peer?.id), let key = slots.conversation(on: id) {
            members.peers[key]?.conversation.pause()
        }
        if end == .replaced, circuits.mayLinger(id, slots) {
            slots[id]?.lingersUntil = now + Limits.lingeringCircuit
            return report
        }
        let actions = apply(circuits.ended(id, &slots), &members) + report
        return actions
            + (slots[id]?.place == nil
                ? [.close(id, afterFinalFrame: afterFinalFrame)]
                : leaveCircuit(id, afterFinalFrame: afterFinalFrame, &members))
    }

    // MARK: Links that are up

    private mutating func connected(
        _ peer: Peer, _ resumption: Resumption, on id: LinkID, _ members: inout Membership
    ) -> [Action] {
        guard let link = slots[id], let publicKey = link.machine.remoteKey else { return [] }
        let key = members.key(peer.id, as: link.machine.role)
        // A peer that was proved at the same time may have got the last slot since.
        if key.role == .responder, let reason = members.refusal(of: peer.id, on: id, slots, around) {
            return apply(slots[id]?.machine.sendAway(reason), on: id, &members)
        }
        let old = byPeer.link(to: peer.id)
        // This link's packets arrived late, after the peer dialled again. Links are numbered in the order of opening.
        if let old, old > id, key.role == .responder { return end(id, .replaced, &members) }
        var (replaced, actions): ([Action], [Action]) = ([], [])
        // The same peer has a newer link. The older link is dead, although this side has not noticed it yet, or the
        // peer has left it for a better route.
        if let old, old != id {
            if slots[old]?.machine.isAnswering == true { members.admission.replace(peer.id, now: now) }
            // Both links end with this reason.
            if members.admission.isTwin(peer.id, now: now), key.role == .responder {
                return apply(slots[old]?.machine.sendAway(.twin), on: old, &members)
                    + apply(slots[id]?.machine.sendAway(.twin), on: id, &members)
            }
            replaced = end(old, .replaced, &members)
        }
        if let forgotten = members.connected(peer, publicKey, on: link, byPeer, now: now) {
            actions.append(.forgot(forgotten))
        }
        // The host has proved that it knows the secret.
        if link.machine.isProved, key.role == .initiator, members.proofs.answered(link.machine.keys.secret) {
            actions.append(.tell(id, .unansweredProofs))
        }
        let isCrowded = link.place != nil && around.isCrowded
        slots[id]?.connected(key, isCrowded: isCrowded, silence: settings.silence, now: now)
        byPeer.connected(peer.id, on: id, as: key.role)
        if key.role == .initiator { states.hostConnected(on: id, slots) }
        let acknowledged = members.peers[key]?.conversation.begin(with: resumption) == true
        if link.isWelcomed { members.peers[key]?.conversation.countWelcome() }
        actions.append(.tell(id, .connected(peer)))
        if link.machine.hasWelcomeLeft { actions.append(.tell(id, .latestHasLeft)) }
        if acknowledged { actions.append(.tell(id, .acknowledged(upTo: resumption.delivered, in: key))) }
        // Acknowledges messages that were stored after this side had sent its hello.
        if let accepted = members.peers[key]?.conversation.resumption.delivered, accepted > link.told {
            actions += apply(slots[id]?.machine.acknowledge(upTo: accepted), on: id, &members)
        }
        actions += receiveHeld(on: id, &members) + [wake(id)]
        // A peer that has moved to a better route was never disconnected.
        return key.role == .initiator ? actions + replaced : replaced + actions
    }

    private mutating func carrierConnected(
        _ peer: Peer, _ hello: Hello, on id: LinkID, _ members: inout Membership
    ) -> [Action] {
        let isChild = slots[id]?.machine.role == .responder
        if isChild, let reason = members.refusal(of: peer.id, on: id, slots, around) {
            return apply(slots[id]?.machine.sendAway(reason), on: id, &members)
        }
        // The newest link stays, regardless of which side dialled. If two nodes use each other as a relay, one has lost
        // its route.
        let others = slots.keys.filter { $0 != id && slots.isCarrier($0) && slots.peer(on: $0)?.id == peer.id }
        var actions = others.sorted().flatMap { end($0, .replaced, &members) }
        slots[id]?.machine.liveness.begin(now: now)
        if isChild {
            byPeer.childConnected(peer.id, on: id)
            // The route may have changed since the answer was sent.
            actions += apply(slots[id]?.machine.tell(route), on: id, &members)
        } else {
            slots[id]?.machine.liveness.isAsked = true
        }
        return actions + [.tell(id, .carrier(peer, hello.route ?? nil)), wake(id)]
    }

    // MARK: Messages

    private mutating func received(_ unit: MessageUnit, on id: LinkID, _ members: inout Membership) -> [Action] {
        if slots.isCarrier(id) { return receivedOnCarrier(unit, on: id, &members) }
        guard let key = slots.conversation(on: id) else { return [] }
        switch members.peers[key]?.conversation.receive(unit) {
        case .new where unit.sharing != nil: return receivedShared(unit, from: id, on: id, &members)
        case .new: return [.tell(id, .received(members.peers.message(unit, in: key, Array(unit.body))))]
        case .duplicate, nil: return []
        case .gap: return end(id, .misbehaved(.missingMessage), &members)
        }
    }

    private mutating func receivedOnCarrier(
        _ unit: MessageUnit, on id: LinkID, _ members: inout Membership
    ) -> [Action] {
        guard slots[id]?.machine.role == .initiator, unit.messageClass == .latest else {
            return end(id, .misbehaved(.unexpectedFrame), &members)
        }
        guard unit.sharing != nil, slots[id]?.carrier?.isNew(unit) == true else { return [] }
        guard let host = byPeer.toHost, slots.carrier(of: host) == id else {
            slots[id]?.carrier?.hold(unit)
            return []
        }
        return receivedShared(unit, from: host, on: id, &members)
    }

    /// Handles the updates that arrived before their key was known.
    private mutating func receiveHeld(on inner: LinkID, _ members: inout Membership) -> [Action] {
        guard let carrier = slots.carrier(of: inner), let held = slots[carrier]?.carrier?.held, !held.isEmpty,
            byPeer.toHost == inner
        else { return [] }
        slots[carrier]?.carrier?.forgetHeld()
        return held.flatMap { receivedShared($0, from: inner, on: carrier, &members) }
    }

    /// Handles an update that the host has signed. It came over the link to the host, or from the relay at the other
    /// end of a carrier.
    private mutating func receivedShared(
        _ unit: MessageUnit, from host: LinkID, on id: LinkID, _ members: inout Membership
    ) -> [Action] {
        guard let sharing = unit.sharing, let key = slots.conversation(on: host), key.role == .initiator,
            slots[id]?.isOver == false
        else { return [] }
        let signer = slots[host]?.hello?.signingKey
        guard let body = states.received(unit, as: sharing, of: key.peer, signedBy: signer) else {
            return end(id, .misbehaved(.forgedState), &members)
        }
        let served = settings.relays ? byPeer.toChildren.filter { slots[$0]?.carrier?.isServed == true } : []
        return served.map { .wake($0) } + [.tell(host, .received(members.peers.message(unit, in: key, body)))]
    }

    private mutating func acknowledged(
        upTo number: UInt64, on id: LinkID, _ members: inout Membership
    ) -> [Action] {
        guard let key = slots.conversation(on: id) else {
            // A carrier has no conversation, so its peer cannot acknowledge a message.
            guard number > 0, slots.isCarrier(id) else { return [] }
            return end(id, .misbehaved(.impossibleAcknowledgement), &members)
        }
        switch members.peers[key]?.conversation.acknowledge(upTo: number) {
        case .acknowledged:
            slots[id]?.waitsSince = nil
            return [.tell(id, .acknowledged(upTo: number, in: key))]
        case .stale, nil: return []
        case .impossible: return end(id, .misbehaved(.impossibleAcknowledgement), &members)
        }
    }

    // MARK: Circuits

    /// A frame about a circuit has arrived on a link.
    private mutating func circuit(_ frame: Frame, on id: LinkID, _ members: inout Membership) -> [Action] {
        var actions: [Action] = []
        for event in slots[id]?.circuits.received(frame) ?? [] {
            var around: CircuitEnds.Surroundings?
            if case .offered = event {
                around = CircuitEnds.Surroundings(
                    local: settings.local.id, relays: settings.relays, takesCircuits: takesCircuits,
                    host: route == nil ? nil : byPeer.toHost.flatMap { slots.peer(on: $0)?.id },
                    uplink: byPeer.uplink(slots))
            }
            actions += apply(circuits.decide(event, on: id, around, &slots), &members)
        }
        // A refusal may have to be sent.
        return actions + (slots[id]?.circuits.waitingFrames == 0 ? [] : [.wake(id)])
    }

    private mutating func apply(_ decided: [CircuitEnds.Action], _ members: inout Membership) -> [Action] {
        var actions: [Action] = []
        for action in decided {
            switch action {
            case .wake(let id): actions.append(.wake(id))
            case .offered(let place): actions.append(.circuitOffered(place))
            case .received(let sdu, let inner, let circuit):
                actions += received(sdu, on: inner, &members, now: now)
                slots[circuit.link]?.circuits.handled(circuit.number)
                actions.append(.wake(circuit.link))
            case .serve(let id): states.serve(id, &slots)
            case .probed(let circuit, let end): actions.append(.tell(circuit.link, .probed(circuit.number, end)))
            case .ended(let inner, let reason):
                actions +=
                    slots[inner]?.lingersUntil == nil
                    ? end(inner, .circuit(reason), &members) : leaveCircuit(inner, afterFinalFrame: false, &members)
            case .malformed(let id): actions += end(id, .misbehaved(.malformedFrame), &members)
            }
        }
        return actions
    }

    /// Removes a link in a circuit that has ended, and the circuit.
    private mutating func leaveCircuit(
        _ id: LinkID, afterFinalFrame: Bool, _ members: inout Membership
    ) -> [Action] {
        guard let circuit = slots[id]?.place?.circuit else {
            // The circuit was never opened.
            slots[id] = nil
            return [.circuitEnded(id)]
        }
        circuits.leave(circuit, id, saysLast: afterFinalFrame, &slots, &members.peers, states.log, now: now)
        slots[id] = nil
        return [.circuitEnded(id), .wake(circuit.link)]
    }

    // MARK: Simulator and tests

    /// Makes all nodes of a simulation share their checked signatures.
    mutating func share(_ checked: CheckedSignatures) { states.share(checked) }

    /// A link, for tests.
    subscript(test id: LinkID) -> MeshCore.Link? {
        get { slots[id] }
        _modify { yield &slots[id] }
    }

    /// Changes the log, for tests.
    mutating func change(_ change: (inout SharedLog) -> Void) { states.change(change) }
}
