// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession

// Relays: as part of the route to a host, and this node as a relay.

extension NodeCore {
    /// The content of a relay's advertisement.
    public struct RelayNotice: Hashable, Sendable {
        /// The host to which its circuits lead.
        public var host: Peer
        /// Number of links from the relay to the host, at least 1.
        public var hops: Int
        /// Whether the relay accepts another node.
        public var hasRoom: Bool
        /// Whether its last slots are reserved for relays.
        public var placesForRelays: Bool
        /// Whether the host asks for a PIN.
        public var asksForPIN: Bool
    }

    // MARK: What is heard

    mutating func heard(_ relay: HeardNode) {
        guard decisions.app.isJoining else { return }
        switch ways.heard(relay, now: context.now) {
        case .steer: steer(to: relay)
        case .tell: if !isSettled || !decisions.reported.knows(relay.named) { waiting.append(.reported(relay.named)) }
        case .wait: break
        }
        if betterWay.looksAside, let aside { look(.heardAside(aside)) }
    }

    private mutating func steer(to relay: HeardNode) {
        let relay = relay.named
        let now = configuration.origin + context.now
        // Who is linked and looks for a better way hears all in range each second: what people know already is no step.
        if isSettled, context.mesh.host != nil, decisions.reported.knows(relay) {
            return show(.contact(Contact(.heard, relay.host, at: now, by: .sighting, rssi: relay.rssi)))
        }
        waiting.append(.event(.heard(relay)))
        show(.contact(Contact(.heard, relay.host, at: now, by: .sighting, rssi: relay.rssi)))
    }

    mutating func unheard(_ peer: Peer) {
        ways.unheard(peer.id)
        dials.unheard(peer)
        waiting.append(.event(.unheard(peer)))
    }

    /// The route to a host: over a link that is up, directly, or through the best relay.
    func way(to host: Peer.ID) -> Dials.Way {
        let leading = circuits.leading(to: host) { relay in ways.isLeftAlone(relay, now: context.now) }
        if let (link, route) = leading, Int(route.hops) < duty.ceiling ?? .max {
            return .circuit(CircuitPlace(to: route.host, over: link, hops: Int(route.hops)))
        }
        guard let best = ways.best(to: host, below: duty.ceiling, now: context.now) else { return .host }
        // A host that has not answered, or that reserves its last slots for relays, is avoided if a relay is available.
        let isKept = dials.keepsPlaces(host) && !relays && !best.placesForRelays
        let isLeftAlone = isKept || ways.isLeftAlone(host, now: context.now)
        let isHost = dials.heard(host) != nil && !isLeftAlone && !ways.isAsGood(best, as: dials.signal(of: host))
        return isHost ? .host : .relay(best.id)
    }

    // MARK: Links to relays, and to nodes behind this one

    mutating func carrierUp(_ peer: Peer, _ route: Route?, on id: MeshCore.LinkID) {
        guard let (host, number, advertised) = dials.invited(on: id) else {
            // Another node has dialled this one, or the node does not need the link any more.
            guard context.mesh.children.contains(where: { $0.id == peer.id }) else {
                return apply(context.mesh.leave(id))
            }
            perform(duty.handle(.children(context.mesh.children.count), now: context.now))
            neighboursChanged()
            return
        }
        guard let route, route.host.hasPrefix(host), route.host.hasPrefix(advertised ?? "") else {
            ways.failed(peer.id, now: context.now)
            _ = dials.ended(id)
            inviteFailed(.dialFailed("the relay belongs to another host"))
            return apply(context.mesh.leave(id))
        }
        circuits.linked(peer, route, on: id, now: context.now)
        let place = CircuitPlace(to: route.host, over: id, hops: Int(route.hops))
        emit(.openCircuit(place, dial: number, expecting: host))
    }

    /// A link to a relay has failed before it was up. The person need not know what the relay reported, because there
    /// are other relays.
    mutating func carrierFailed(_ end: LinkEnd, on id: MeshCore.LinkID) {
        let relay = dials.relay(on: id)
        if let host = dials.ended(id), let relay {
            log(end, relay)
            leadsNowhere(relay, to: host, .linkEnded(end))
        }
        emit(.linksChanged)
    }

    mutating func routeChanged(_ route: Route?, on id: MeshCore.LinkID) {
        if let route, let relay = circuits.relays[id]?.peer, !circuits.keepsHost(route, on: id) {
            ways.failed(relay.id, now: context.now)
            return apply(context.mesh.leave(id))
        }
        circuits.leads(route, on: id)
        guard let route else { return apply(context.mesh.leave(id)) }
        guard let relay = circuits.relays[id]?.peer else { return }
        if let parent = context.mesh.parent, parent.link == id {
            look(.up(relays: Int(route.hops)))
            leads(over: Int(route.hops), from: id)
            return follow(route, on: id)
        }
        // A guest that waits for its host must know about this route.
        let host = Peer(id: Identity.head(of: route.host), name: dials.heard(route.host)?.name ?? "")
        let heard = HeardNode(host, relay: relay.id, hops: Int(route.hops), hasRoom: ways.hasRoom(relay.id))
        waiting.append(.event(.heard(heard)))
    }

    /// The relay has changed its route to the host. Its old route ends soon, and this node's circuit with it. So the
    /// node opens another circuit in parallel. A relay that repeats this can cause at most one handshake per second.
    /// The same limit applies to a relay that keeps ending circuits.
    private mutating func follow(_ route: Route, on carrier: MeshCore.LinkID) {
        guard let host = context.mesh.host, Identity.mayBeSame(route.host, host.id), !hasEnded,
            let link = context.mesh.link(to: host.id), circuits.hasLasted(link, now: context.now)
        else { return }
        dial(host.id, by: .circuit(CircuitPlace(to: host.id, over: carrier, hops: Int(route.hops))))
    }

    mutating func carrierEnded(_ peer: Peer, _ end: LinkEnd, on id: MeshCore.LinkID) {
        log(end, "\(peer)")
        circuits.lost(id)
        links.closed(id)
        show(.linkEnded(peer))
        if dials.ended(id) != nil { inviteFailed(.linkEnded(end)) }
        switch end {
        case .misbehaved, .refused: ways.failed(peer.id, now: context.now)
        default: break
        }
        if relays { perform(duty.handle(.children(context.mesh.children.count), now: context.now)) }
        neighboursChanged()
        emit(.linksChanged)
    }

    // MARK: The route to the host

    private var relays: Bool { configuration.part.relays }

    /// A link to the host is up. Other links that were dialled for a route are no longer needed.
    mutating func isOnItsWay(_ id: MeshCore.LinkID) {
        guard decisions.app.isJoining else { return }
        quietLoss.isOver()
        endFreshLook()
        let place = circuits.place(of: id)
        for link in circuits.relays.keys.sorted() where link != place?.carrier {
            guard context.mesh.carriesLingering(link) || context.mesh.passesCircuits(on: link) else {
                apply(context.mesh.leave(link))
                continue
            }
            circuits.isIdle(link, since: context.now)
        }
        if place != nil {
            circuits.isUp(id, since: context.now)
            circuits.wantsState = (
                id, context.now + NodeLimits.relayedState, context.now + NodeLimits.longestRelayedState, 0
            )
        }
        let relays = circuits.way(of: id).relays
        look(.up(relays: relays))
        // The nodes behind this one were notified when the relay reported the route.
        if let place, circuits.isTold(place.carrier, hops: relays) { return }
        leads(over: relays, from: place?.carrier)
    }

    /// This node offers a route to its host over this many relays. `carrier` is the link to the first of them.
    private mutating func leads(over hops: Int, from carrier: MeshCore.LinkID?) {
        guard relays, let host = context.mesh.host else { return }
        circuits.tells(carrier, hops: hops)
        let asksForPIN = context.mesh.asksForProof(host.id)
        perform(duty.handle(.up(host, relaysOnTheWay: hops, asksForPIN: asksForPIN), now: context.now))
    }

    /// A link to the host has ended or was never up.
    mutating func wayEnded(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        guard decisions.app.isJoining else { return }
        if context.mesh.host == nil {
            look(.down)
            circuits.tells(nil, hops: 0)
            perform(duty.handle(.down, now: context.now))
        }
        guard let place = circuits.place(of: id), let relay = circuits.relays[place.carrier] else { return }
        // The host's old position says nothing about its present one.
        if let host = place.host { dials.forgetHeard(host) }
        if context.mesh.parent?.link != place.carrier { circuits.isIdle(place.carrier, since: context.now) }
        switch end {
        case .left, .goodbye, .refused, .replaced: break
        case .circuit(.noHost): ways.leadsNowhere(relay.peer.id, now: context.now)
        // The relay reports that its own route has ended. That is not its failure, because it looks for another route.
        // A relay that repeats this for circuits that have just opened is breaking them.
        case .circuit(.ended) where circuits.hasLasted(id, now: context.now):
            ways.leadsNowhere(relay.peer.id, now: context.now)
        default: ways.failed(relay.peer.id, now: context.now)
        }
    }

    mutating func perform(_ actions: [RelayDuty.Action]) {
        for action in actions {
            switch action {
            case .advertise(let notice): emit(.relay(notice))
            case .lead(let route): apply(context.mesh.lead(route))
            }
        }
    }

    // MARK: A better route

    /// Gives an event to the search for a better route and performs its actions.
    mutating func look(_ event: BetterWay.Event) {
        guard betterWay.heeds(event) else { return }
        for action in betterWay.handle(event, now: context.now, jitter: nextJitter()) {
            switch action {
            case .look: scan()
            case .stopLooking: stopScanning()
            case .goOver(let way): if let host = context.mesh.host { dial(host.id, by: way) }
            case .giveUp: if let host = context.mesh.host { giveUpDial(host.id) }
            }
        }
    }

    /// The best route that was heard, if it is better than the present one.
    private var better: Dials.Way? {
        guard let host = context.mesh.host, let parent = context.mesh.parent.flatMap({ circuits.relays[$0.link] })
        else { return nil }
        let saving = duty.children > 0 ? NodeLimits.hopsWithOthers : 1
        if Int(parent.route?.hops ?? 1) >= saving, dials.isNear(host.id), relays || !dials.keepsPlaces(host.id) {
            return .host
        }
        return ways.better(than: parent, to: host.id, saving: saving, now: context.now).map { .relay($0.id) }
    }

    /// A relay to which this node can move to free its slot.
    private var aside: Dials.Way? {
        guard let host = context.mesh.host else { return nil }
        let parent = context.mesh.parent.flatMap { circuits.relays[$0.link] }
        let hops = parent?.route.map { Int($0.hops) } ?? 0
        return ways.aside(of: parent?.peer.id, hops: hops, to: host.id, now: context.now).map { .relay($0.id) }
    }

    // MARK: The state

    /// Whether a message of the host must wait for the state that it refers to. That state arrives over another link.
    mutating func waitsForRelay(_ message: ReceivedMessage, _ content: MeshMessage?, on id: MeshCore.LinkID) -> Bool {
        guard circuits.place(of: id) != nil, decisions.app.isJoining else { return false }
        switch content {
        case .stateHeartbeat(let epoch, let revision, _):
            // Without a state, the message says which revision the first state must have.
            guard decisions.app.isCurrent, let state = decisions.app.hostSnapshot else { return false }
            guard (state.epoch, state.revision) != (epoch, revision) else { return false }
            // A message that is older than the state on view says nothing about it, unless that state came over an
            // earlier link.
            guard state.epoch != epoch || revision > state.revision else { return false }
            circuits.heartbeat = (
                id, message, circuits.heartbeat?.until ?? context.now + NodeLimits.relayedState,
                circuits.heartbeat?.latest ?? context.now + NodeLimits.longestRelayedState
            )
            return true
        case .stateChange:
            circuits.stateComes(now: context.now)
            return false
        default: return false
        }
    }

    // MARK: Time

    var waysDeadline: MeshInstant? {
        guard !isQuitting else { return nil }
        // Called after each event, so it allocates no array.
        let wayDeadline = earliest(earliest(ways.deadline, dials.deadline), earliest(duty.deadline, circuits.deadline))
        return earliest(
            earliest(earliest(wayDeadline, freshLook?.until), betterWay.deadline),
            earliest(quietLoss.deadline, places.deadline))
    }

    mutating func tickWays() {
        guard !isQuitting else { return }
        let heard = ways.tick(now: context.now)
        for host in heard {
            let best = ways.best(to: host, below: nil, now: context.now)
            if let best { steer(to: best) }
            for relay in ways.all(to: host) where relay != best { waiting.append(.reported(relay.named)) }
        }
        mayBeJoined(heard)
        tickFreshLook()
        perform(duty.handle(.tick, now: context.now))
        if let deadline = betterWay.deadline, deadline <= context.now {
            look(.tick(better: betterWay.looksAside ? nil : better, carriesOthers: duty.children > 0))
        }
        tickPlaces()
        tickDials()
        if let host = quietLoss.due(now: context.now) { tell(Notice(.connectionLost(host: host))) }
        for id in circuits.idle(now: context.now) {
            if context.mesh.passesCircuits(on: id), circuits.mayWait(id, now: context.now) { continue }
            circuits.lost(id)
            apply(context.mesh.leave(id))
        }
        if circuits.waitsForState, let parent = context.mesh.parent?.link, context.mesh.isReceivingState(on: parent) {
            circuits.stateComes(now: context.now)
        }
        if let (link, message, until, _) = circuits.heartbeat, until <= context.now {
            circuits.heartbeat = nil
            waiting.append(.link(link, .received(message)))
        }
        if let wants = circuits.wantsState, wants.at <= context.now { askForState(on: wants.link, again: wants.asked) }
    }

    /// Whether no events wait for a step or for the disk.
    private var isSettled: Bool { writing == nil && waiting.isEmpty }

    /// Asks the host for the state, because no relay has delivered a current one.
    private mutating func askForState(on link: MeshCore.LinkID, again asked: Int) {
        // The state came from a relay or is current again. A state that is not written yet may be rolled back.
        if decisions.app.isCurrent {
            let later = context.now + NodeLimits.relayedState
            return circuits.wantsState = isSettled ? nil : (link, later, later, asked)
        }
        let next = context.now + NodeLimits.relayedStateAgain * (1 << min(asked, 3))
        circuits.wantsState = (link, next, next, asked + 1)
        guard let key = context.mesh.key(on: link) else { return circuits.wantsState = nil }
        apply(context.mesh.send(MeshMessage.stateRequest.encoded, as: .latest, to: key).1)
    }

    /// Applies the limits on reading to links in circuits, without blocking other links on the same carrier. There may
    /// be a thousand links in circuits. So this looks only at links that are held or may have to be.
    mutating func holdCircuits() {
        guard circuits.hasInner, !(circuits.held.isEmpty && links.held.isEmpty && waiting.full.isEmpty) else { return }
        let busy = waiting.full.compactMap { context.mesh.link(to: $0) }
        for id in circuits.held.union(links.held).union(busy).sorted() where circuits.place(of: id) != nil {
            let isHeld = !mayRead(id, now: context.now)
            guard isHeld != circuits.held.contains(id) else { continue }
            if isHeld { circuits.held.insert(id) } else { circuits.held.remove(id) }
            apply(context.mesh.holdCircuit(of: id, isHeld))
        }
    }
}
