// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The part of a node that handles its links at once, without a step. It performs the decisions of the protocol, of the
/// route and of this node's part as a relay. It returns events above the links for the next step.
struct NodeLinks: Sendable {
    /// The protocol, the route and the time, which steps read too.
    typealias Context = NodeDecisions.Context

    private let part: NodeCore.Part
    private let origin: ContinuousClock.Instant
    private var table = LinkTable()
    private var relayRole: RelayRole
    /// The actions of the current event.
    private var actions: [NetworkAction] = []

    /// The links of a node that begins. `origin` is the instant at which its time was zero.
    init(_ part: NodeCore.Part, origin: ContinuousClock.Instant) {
        (self.part, self.origin) = (part, origin)
        relayRole = RelayRole(isHost: part.role == .responder, relays: part.relays)
    }

    // MARK: Questions

    /// Whether the next SDU of a link may be read. `full` are the peers with no room for another
    /// event in the next step.
    func mayRead(_ id: MeshCore.LinkID, full: Set<Peer.ID>, _ mesh: MeshCore, now: MeshInstant) -> Bool {
        table.mayRead(id, full: full, mesh, now: now)
    }

    /// The bearer of a link. A link in a circuit has the bearer of its carrier.
    func bearer(of id: MeshCore.LinkID) -> BearerKind? { table.bearer(of: table.place(of: id)?.carrier ?? id) }

    /// The link that carries the circuit of a link.
    func carrier(of id: MeshCore.LinkID) -> MeshCore.LinkID? { table.place(of: id)?.carrier }

    /// Which node brings the host's state to the guest of a link.
    func delivery(on id: MeshCore.LinkID, _ mesh: MeshCore) -> StateFeed.Delivery {
        if carrier(of: id) != nil { return .byRelay }
        return mesh.leadsToRelay(id) ? .forOthers : .byHost
    }

    /// The links in circuits, and whether each is not read.
    var circuits: [(id: MeshCore.LinkID, isHeld: Bool)] { table.inCircuits.map { ($0, table.isCircuitHeld($0)) } }

    // MARK: Events of channels

    /// A channel or a circuit has opened. A dialled host gets the names of the `states` that this guest has of it.
    mutating func opened(
        _ id: MeshCore.LinkID, _ opening: NodeCore.Opening, showing states: [StateName], _ context: inout Context
    ) -> [NetworkAction] {
        if let number = opening.dial {
            // After a power cut a new link would continue with what is still on disk, and repeat it.
            if context.memory.isForgetting {
                emit(.close(id, afterFinalFrame: false))
                return follow(&context) { $0.dialFailed(number, nil, $1) }
            }
            // The dial was cancelled while the channel opened.
            guard let host = context.route.opened(number, id) else {
                if opening.place == nil { emit(.close(id, afterFinalFrame: false)) }
                return take()
            }
            show(.contact(Encounter(.dialled, host, at: origin + context.now)))
        }
        if opening.role == .initiator { perform(relayRole.handle(.approaches, now: context.now), &context) }
        table.opened(id, over: opening.bearer, in: opening.place)
        if let place = opening.place { context.route.circuitOpened(in: place) }
        // A relay's bond is the relay's alone.
        let lacksBond = opening.place != nil && opening.role == .responder && part.requiresBond
        let refusal = lacksBond ? .bond : opening.refusal
        perform(
            context.mesh.opened(
                id, as: opening.role, sendMTU: opening.sendMTU, expected: opening.expected, refusal: refusal,
                advertised: opening.advertised, in: opening.place, over: opening.bearer,
                showing: states, entropy: opening.entropy, now: context.now), &context)
        if opening.role == .responder, opening.place == nil { emit(.linksChanged) }
        return take()
    }

    /// An SDU has arrived.
    mutating func received(_ sdu: [UInt8], on id: MeshCore.LinkID, _ context: inout Context) -> [NetworkAction] {
        table.received(sdu.count, on: id)
        perform(context.mesh.received(sdu, on: id, now: context.now), &context)
        return take()
    }

    /// A channel has closed.
    mutating func channelClosed(_ id: MeshCore.LinkID, _ context: inout Context) -> [NetworkAction] {
        perform(context.mesh.channelClosed(id), &context)
        table.closed(id)
        return take()
    }

    /// The next SDU to send on a link, of at most `limit` bytes; nil if nothing is queued.
    mutating func nextSDU(
        for id: MeshCore.LinkID, limit: Int, _ context: inout Context
    ) -> (sdu: [UInt8], actions: [NetworkAction])? {
        guard let (sdu, meshActions) = context.mesh.nextSDU(for: id, limit: limit) else { return nil }
        table.sent(sdu.count, on: id)
        return (sdu, apply(meshActions, &context))
    }

    /// The radio's data about a link.
    mutating func measured(
        _ id: MeshCore.LinkID, _ rssi: Int?, _ condition: LinkCondition?, _ context: inout Context
    ) -> [NetworkAction] {
        context.route.measured(rssi, on: id)
        guard let peer = context.mesh.peer(on: id),
            var report = table.report(on: id, rssi: rssi, condition, context.mesh.conversation(on: id))
        else { return [] }
        (report.relays, report.via) = context.route.hops(in: table.place(of: id))
        report.circuits = context.mesh.circuits(on: id)
        show(.link(peer, report))
        if let note = condition?.note, table.isNew(note, on: id) { perform(context.mesh.note(note, on: id), &context) }
        return take()
    }

    // MARK: Decisions of a step

    /// Performs the protocol's decisions in order.
    mutating func apply(_ meshActions: [MeshCore.Action], _ context: inout Context) -> [NetworkAction] {
        perform(meshActions, &context)
        return take()
    }

    /// Gives the route an event, and performs what it decides.
    mutating func follow(
        _ context: inout Context, _ event: (inout Route, Route.Surroundings) -> [Route.Action]
    ) -> [NetworkAction] {
        steer(&context, event)
        return take()
    }

    /// Sends a message that is valid on the present link only.
    mutating func send(
        _ bytes: [UInt8], to peer: Peer.ID, sharing: SharedState? = nil, _ context: inout Context
    ) -> [NetworkAction] {
        apply(context.mesh.send(bytes, as: .latest, to: context.key(of: peer), sharing: sharing).1, &context)
    }

    /// Adds a state to the answer to a guest.
    mutating func welcome(
        _ id: MeshCore.LinkID, with first: (message: MeshMessage, state: HostSnapshot), _ context: inout Context
    ) -> [NetworkAction] {
        let welcome = context.mesh.welcome(first.message.encoded, as: first.message.sharing, on: id)
        if !welcome.isEmpty { table.welcomed(id, with: first.state) }
        return apply(welcome, &context)
    }

    /// Removes and returns the state that was sent with a link's answer.
    mutating func takeWelcome(_ id: MeshCore.LinkID) -> HostSnapshot? { table.takeWelcome(id) }

    /// Reads nothing from a link before this time.
    mutating func hold(_ id: MeshCore.LinkID, until time: MeshInstant) { table.hold(id, until: time) }

    /// Ends the link with a peer and cancels a dial to it.
    mutating func disconnect(
        _ peer: Peer.ID, refusing reason: RefusalReason? = nil, _ context: inout Context
    ) -> [NetworkAction] {
        steer(&context) { $0.cancelDial(to: peer, $1) }
        if let reason {
            perform(context.mesh.sendAway(peer, reason), &context)
        } else if let id = context.mesh.link(to: peer) {
            perform(context.mesh.leave(id), &context)
        }
        return take()
    }

    /// Ends all links with a goodbye.
    mutating func leaveAll(saying reason: GoodbyeReason, _ context: inout Context) -> [NetworkAction] {
        // Links in circuits come first, because their carriers transport the goodbyes.
        for id in table.inCircuits + context.mesh.allLinks { perform(context.mesh.leave(id, saying: reason), &context) }
        return take()
    }

    /// The parent has asked for this node's slot. This node moves if it can reach the host through another relay.
    mutating func makeRoom(on id: MeshCore.LinkID, _ context: inout Context) -> [NetworkAction] {
        guard !part.relays, let host = context.mesh.host, let way = context.mesh.link(to: host.id),
            id == context.mesh.parent?.link ?? way, !table.isBesideRadio(id)
        else { return [] }
        let place = table.place(of: way)
        return follow(&context) { $0.askedForRoom(in: place, $1) }
    }

    // MARK: Time

    /// When a link is due next.
    func deadline(_ mesh: MeshCore) -> MeshInstant? { table.deadline(mesh) }

    /// When the route or the part as a relay are due next.
    func relaysDeadline(_ route: Route) -> MeshInstant? {
        earliest(route.deadline, relayRole.deadline)
    }

    /// Time has passed for the links. `full` are the peers with no room for another event in the next step.
    mutating func tick(full: Set<Peer.ID>, isQuitting: Bool, _ context: inout Context) -> [NetworkAction] {
        for id in table.due(context.mesh, now: context.now) {
            // While this side does not read, it cannot blame the peer for silence. A handshake always has a deadline.
            if !isQuitting, context.mesh.peer(on: id) != nil,
                !table.mayRead(id, full: full, context.mesh, now: context.now)
            {
                context.mesh.heardNothingByChoice(on: id, now: context.now)
            } else {
                perform(context.mesh.tick(id, now: context.now), &context)
            }
        }
        return take()
    }

    /// Time has passed for the route and the part as a relay.
    mutating func tickRelays(_ context: inout Context) -> [NetworkAction] {
        perform(relayRole.tick(now: context.now), &context)
        return follow(&context) { $0.tick($1) }
    }

    /// Limits the reading of links in circuits like that of other links, without holding up the other circuits on the
    /// same carrier. A host may have a thousand links in circuits, so this checks only links that are held or may have
    /// to be held.
    mutating func holdCircuits(full: Set<Peer.ID>, isQuitting: Bool, _ context: inout Context) -> [NetworkAction] {
        let changes = table.holdCircuits(full: full, isQuitting: isQuitting, context.mesh, now: context.now)
        for (id, isHeld) in changes { perform(context.mesh.holdCircuit(of: id, isHeld), &context) }
        return take()
    }

    // MARK: The protocol's decisions

    private mutating func perform(_ meshActions: [MeshCore.Action], _ context: inout Context) {
        for action in meshActions {
            switch action {
            case .wake(let id): emit(.wake(id))
            case .tell(let id, let event): told(event, of: id, &context)
            case .heed(let id, let note): emit(.heed(id, note))
            case .holdReading(let id, let until): table.hold(id, until: until)
            case .close(let id, let afterFinalFrame): emit(.close(id, afterFinalFrame: afterFinalFrame))
            case .forgot(let key): actions.append(.queue(.forgot(key)))
            case .circuitOffered(let place): emit(.openCircuit(place, dial: nil, expecting: nil))
            case .circuitEnded(let id):
                table.closed(id)
                context.route.circuitClosed(id)
                actions.append(.circuitEnded(id))
            }
        }
    }

    private mutating func told(_ event: LinkEvent, of id: MeshCore.LinkID, _ context: inout Context) {
        let place = table.place(of: id)
        switch event {
        case .roundTrip(let time, _):
            table.answered(id, after: time)
            return emit(.measure(id))
        case .asked: return emit(.measure(id))
        case .received(let message): return actions.append(.received(message, on: id))
        // The first state leaves with the answer, which saves one round trip. Behind relays the state is already there,
        // or it comes with the first circuit.
        case .admitted: return place == nil ? actions.append(.admitted(id)) : ()
        case .connected(let peer):
            if place != nil, !isHost { actions.append(.circuitUp(id)) }
            steer(&context) { $0.linkUp(id, in: place, $1) }
            if place == nil { neighboursChanged(&context) }
            show(.contact(Encounter(.resumed, peer, at: origin + context.now)))
        case .failed(let expected, _, let end):
            if place == nil, let relay = context.route.dialledRelay(on: id) {
                log(end, relay, context)
                steer(&context) { $0.carrierFailed(id, end, $1) }
                return emit(.linksChanged)
            }
            log(end, expected ?? "a peer that has not proved who it is", context)
            steer(&context) { $0.linkFailed(id, in: place, end, $1) }
            if place == nil { emit(.linksChanged) }
            // The dial was for a better route than the one that is up.
            if !isHost, context.mesh.host != nil { return }
        case .ended(let peer, let end): return ended(peer, end, on: id, &context)
        case .carrier(let peer, let route): return carrierUp(peer, route, on: id, &context)
        case .carrierEnded(let peer, let end): return carrierEnded(peer, end, on: id, &context)
        case .route(let route): return steer(&context) { $0.routeChanged(route, on: id, $1) }
        case .askedForRoom: return actions.append(.askedForRoom(id))
        case .acknowledged, .latestHasLeft, .guessedWrong, .invitationUsed, .unansweredProofs, .probed: break
        }
        actions.append(.queue(.link(id, event)))
    }

    private mutating func ended(_ peer: Peer, _ end: LinkEnd, on id: MeshCore.LinkID, _ context: inout Context) {
        log(end, "\(peer)", context)
        // A peer that has moved to another link or route is not lost.
        if context.mesh.link(to: peer.id) == nil {
            let at = origin + context.now
            show(.contact(Encounter(lost: peer, end, supervision: table.supervision(of: id), at: at)))
        }
        let (place, bearer) = (table.place(of: id), table.bearer(of: id))
        steer(&context) { $0.linkEnded(id, in: place, over: bearer, end, $1) }
        if place == nil {
            emit(.linksChanged)
            neighboursChanged(&context)
        }
        // A link that replaces this one gets nothing before the step in which its guest connects.
        actions += [.gone(peer.id), .queue(.ended(id, peer, end, besideRadio: table.isBesideRadio(id)))]
    }

    private mutating func log(_ end: LinkEnd, _ who: String, _ context: Context) {
        guard case .misbehaved(let how) = end else { return }
        emit(.misbehaved(how, who: who, count: context.mesh.misbehaviours[how] ?? 0))
    }

    // MARK: The route's decisions

    private mutating func steer(
        _ context: inout Context, _ event: (inout Route, Route.Surroundings) -> [Route.Action]
    ) {
        perform(routeActions(&context, event), &context)
    }

    /// A function of its own, so that no copy of the protocol's state is left when the actions change it.
    private func routeActions(
        _ context: inout Context, _ event: (inout Route, Route.Surroundings) -> [Route.Action]
    ) -> [Route.Action] {
        let around = Route.Surroundings(
            mesh: context.mesh, ceiling: relayRole.ceiling, carriesOthers: relayRole.carriesOthers, now: context.now)
        return event(&context.route, around)
    }

    private mutating func perform(_ routeActions: [Route.Action], _ context: inout Context) {
        for action in routeActions {
            switch action {
            case .scan: emit(.startRadio)
            case .stopScanning: emit(.stopScanning)
            case .dial(let number, let head, let expecting): emit(.dial(number, head: head, expecting: expecting))
            case .cancelDial(let number): emit(.cancelDial(number))
            case .openCircuit(let place, let dial, let host): emit(.openCircuit(place, dial: dial, expecting: host))
            case .leave(let id): perform(context.mesh.leave(id), &context)
            case .disconnect(let host):
                if let id = context.mesh.link(to: host) { perform(context.mesh.leave(id), &context) }
            case .lead(let hops): perform(relayRole.lead(over: hops, context.mesh, now: context.now), &context)
            case .down: perform(relayRole.handle(.down, now: context.now), &context)
            case .heard(let node): actions.append(.heard(node))
            case .reachable(let node): actions.append(.queue(.event(.heard(node))))
            case .report(let node): actions.append(.report(node))
            case .failed(let failure): actions.append(.queue(.inviteFailed(failure)))
            case .lost(let host): actions.append(.tell(Notice(.connectionLost(host: host))))
            case .show(let state): show(.connection(state))
            case .giveUp(let host): actions.append(.gaveUp(host))
            case .offer(let host): actions.append(.tell(Notice(.unknownHost(host))))
            }
        }
    }

    // MARK: Relays

    /// A link to a relay, or to a node behind this one, is up.
    private mutating func carrierUp(
        _ peer: Peer, _ route: MeshProtocol.Route?, on id: MeshCore.LinkID, _ context: inout Context
    ) {
        guard context.route.dialledRelay(on: id) == nil else {
            return steer(&context) { $0.carrierUp(peer, route, on: id, $1) }
        }
        // End the circuit's link if another node has dialled this one, or if the link is not needed any more.
        guard context.mesh.children.contains(where: { $0.id == peer.id }) else {
            return perform(context.mesh.leave(id), &context)
        }
        neighboursChanged(&context, withChildren: true)
    }

    private mutating func carrierEnded(_ peer: Peer, _ end: LinkEnd, on id: MeshCore.LinkID, _ context: inout Context) {
        log(end, "\(peer)", context)
        table.closed(id)
        show(.linkEnded(peer))
        steer(&context) { $0.carrierEnded(peer, end, on: id, $1) }
        neighboursChanged(&context, withChildren: true)
        emit(.linksChanged)
    }

    /// The set of linked nodes that have dialled this node has changed.
    private mutating func neighboursChanged(_ context: inout Context, withChildren: Bool = false) {
        if withChildren { perform(relayRole.childrenChanged(context.mesh, now: context.now), &context) }
        // Links over a network use none of the radio's slots.
        perform(relayRole.neighboursChanged(context.mesh, without: table.besideRadio, now: context.now), &context)
    }

    private mutating func perform(_ roleActions: [RelayRole.Action], _ context: inout Context) {
        for action in roleActions {
            switch action {
            case .advertise(let notice): emit(.relay(notice))
            case .lead(let route): perform(context.mesh.lead(route), &context)
            case .reserveSlots(let areKept): emit(.placesForRelays(areKept))
            case .askForRoom(let link): perform(context.mesh.askForRoom(on: link), &context)
            }
        }
    }

    private var isHost: Bool { part.role == .responder }

    private mutating func emit(_ action: NodeCore.Action) { actions.append(.emit(action)) }

    private mutating func show(_ event: NodeEvent) { actions.append(.emit(.show(event))) }

    private mutating func take() -> [NetworkAction] {
        defer { actions = [] }
        return actions
    }
}
