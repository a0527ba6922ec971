// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides how a guest reaches its host: which host, directly or through which relay, when to dial, when to scan and
/// when to change. A host has an idle route.
///
/// There are three kinds of functions: events, which change the state and return actions; `deadline` and `tick`; and
/// questions, which change nothing. Events about hearing, dialling and links are decided at once. `handle` decides
/// which host to join, when a step has been written.
///
/// The route owns smaller machines. `ReconnectPolicy` chooses the host, and `HeardNodes` the relay. `BetterRoute`
/// decides when to change. `Dials` dials by the best path, and `RelayLinks` has the links to relays.
struct Route: Sendable {
    private enum ScanReason: Hashable, Sendable {
        /// A host to join.
        case host
        /// Another path, after a dial that was not answered.
        case otherPath
        case betterRoute
    }

    private let isGuest: Bool
    private let relays: Bool
    /// Chooses the host. Steps ask it whether a host may be joined.
    private(set) var policy: ReconnectPolicy
    private var heard: HeardNodes
    private var dials: Dials
    private var links = RelayLinks()
    private var better = BetterRoute()
    private var quietLoss = QuietLoss()
    /// The route that was reported to nodes behind this one: its first link, and its number of relays.
    private var led: (carrier: MeshCore.LinkID, hops: Int)?
    /// Spreads dials and scans of several guests.
    private var jitter: SeededGenerator
    /// Why the node scans. These reasons are derived from the machines at the end of every event.
    private var scanReasons: Set<ScanReason> = []
    /// The next scan must begin now, even if another one is under way.
    private var needsNewScan = false

    /// The route of a node. `seed` spreads the dials of several guests.
    init(local: Peer.ID, _ part: NodeCore.Part, seed: UInt64) {
        switch part {
        case .host: (isGuest, relays, policy) = (false, false, ReconnectPolicy())
        case .guest(let wanted, let joinsAny, let relays, _, _):
            (isGuest, self.relays, policy) = (true, relays, ReconnectPolicy(wanted: wanted, joinsAny: joinsAny))
        }
        (heard, dials) = (HeardNodes(local: local, relays: relays), Dials(relays: relays))
        jitter = SeededGenerator(seed: seed)
    }

    // MARK: Questions

    /// Whether the node scans.
    var isScanning: Bool { !scanReasons.isEmpty }

    /// Whether people are shown a dial.
    var isDialling: Bool { policy.isDialling }

    /// The host that is dialled.
    var dialled: Peer.ID? { dials.pending }

    /// The head of the relay that a dial goes to.
    func relay(of dial: Int) -> Peer.ID? { dials.relay(of: dial) }

    /// The head of the relay that was dialled on this link, which is not up yet, or has just come up.
    func dialledRelay(on link: MeshCore.LinkID) -> Peer.ID? { dials.invited(on: link)?.relay }

    /// How many relays a link in this circuit passes, and through which of them the guest at one of its ends is joined.
    func hops(in place: CircuitPlace?) -> (relays: Int, via: Peer.ID?) {
        guard let place else { return (0, nil) }
        guard let relay = links[place.carrier] else { return (place.hops, place.passed.first) }
        return (relay.route.map { Int($0.hops) } ?? place.hops, relay.peer.id)
    }

    // MARK: What is heard

    /// A host or a relay is heard, or is heard again.
    mutating func heard(_ node: HeardNode, _ around: Surroundings) -> [Action] {
        guard isGuest else { return node.relay == nil ? [.heard(node)] : [] }
        guard node.relay != nil else {
            heard.heard(host: node, now: around.now)
            let head = Identity.head(of: node.host.id)
            return decided(dials.joinable([head], &heard, links, around) + [.heard(node)], around)
        }
        var actions: [Action] =
            switch heard.heard(relay: node, now: around.now) {
            case .offer: [.heard(node)]
            case .report: [.report(node)]
            case .wait: []
            }
        if better.looksAside, let path = aside(around) { actions += improve(.heardAside(path), around) }
        return decided(actions, around)
    }

    /// A host or a relay is not heard any more.
    mutating func unheard(_ head: Peer.ID) { heard.unheard(head) }

    /// The host is heard on a better bearer than that of the link. The link stays until the new one is up.
    mutating func heardOnBetterBearer(_ peer: Peer, _ around: Surroundings) -> [Action] {
        guard isGuest, let host = around.mesh.host,
            Identity.head(of: host.id) == Identity.head(of: peer.id), let link = around.mesh.link(to: host.id),
            around.mesh.place(of: link) == nil
        else { return [] }
        if heard.host(peer.id) == nil { heard.heard(host: HeardNode(peer), now: around.now) }
        return decided(dials.dial(host.id, by: .direct, heard, now: around.now), around)
    }

    // MARK: Which host

    /// A step has decided about hosts. `known` are the hosts that were joined before.
    mutating func handle(
        _ event: ReconnectPolicy.Event, known: KnownHosts, _ around: Surroundings
    ) -> [Action] {
        guard isGuest else { return [] }
        var actions: [Action] = []
        for action in policy.handle(event, known: known, now: around.now, jitter: jitter.fraction()) {
            switch action {
            case .browse: needsNewScan = true
            case .invite(let host):
                actions += dials.invite(host, blindly: event == .linkLost, &heard, links, around)
            case .cancelInvite(let host): actions += dials.giveUp(host) + [.disconnect(host)]
            case .goHome(let host): actions += dials.giveUp(host.id) + [.disconnect(host.id)]
            case .show(let state): actions.append(.show(state))
            case .giveUp(let host):
                quietLoss.isOver()
                actions.append(.giveUp(host))
            case .offer(let host): actions.append(.offer(host))
            }
        }
        return decided(actions, around)
    }

    /// The radio will be tried again. It scans afterwards only if the route needs a scan.
    mutating func retryRadio() -> [Action] {
        guard isGuest else { return [] }
        heard.removeAll()
        return isScanning ? [.scan] : [.scan, .stopScanning]
    }

    /// The parent needs its slot for a node that relays. `place` is the circuit of the link to the host.
    mutating func askedForRoom(in place: CircuitPlace?, _ around: Surroundings) -> [Action] {
        decided(improve(.asked(relays: hops(in: place).relays), around), around)
    }

    /// The node ends.
    mutating func end() -> [Action] { dials.end() }

    // MARK: Dials

    /// Cancels the dial to a host.
    mutating func cancelDial(to host: Peer.ID, _ around: Surroundings) -> [Action] {
        decided(dials.giveUp(host), around)
    }

    /// The channel of a dial has opened. Returns the invited host, or nil if the dial was cancelled.
    mutating func opened(_ number: Int, _ link: MeshCore.LinkID) -> Peer? {
        dials.opened(number, link).map { heard.host($0)?.host ?? Peer(id: $0, name: "") }
    }

    /// A circuit opens.
    mutating func circuitOpened(in place: CircuitPlace) { links.circuitOpened(over: place.carrier) }

    /// A link in a circuit is gone.
    mutating func circuitClosed(_ id: MeshCore.LinkID) { links.circuitClosed(id) }

    /// A dial has ended without a channel.
    mutating func dialFailed(_ number: Int, _ refusal: RefusalReason?, _ around: Surroundings) -> [Action] {
        let relay = dials.relay(of: number)
        guard let host = dials.failed(number) else { return [] }
        let failure = InviteFailure.dialFailed("no channel opened")
        guard let relay else { return decided([.failed(refusal.map { .refused($0, by: nil) } ?? failure)], around) }
        return decided(dials.notAnswered(by: relay, for: host, failure, &heard, around), around)
    }

    // MARK: Links

    /// A link to the host is up. Other routes are not needed any more.
    mutating func linkUp(_ id: MeshCore.LinkID, in place: CircuitPlace?, _ around: Surroundings) -> [Action] {
        guard isGuest else { return [] }
        dials.linkUp(id)
        quietLoss.isOver()
        var actions: [Action] = []
        for link in links.links where link != place?.carrier {
            if around.mesh.carriesLingering(link) || around.mesh.passesCircuits(on: link) {
                links.isIdle(link, since: around.now)
            } else {
                actions.append(.leave(link))
            }
        }
        if place != nil { links.circuitUp(id, now: around.now) }
        let hops = hops(in: place).relays
        actions += improve(.up(relays: hops), around)
        // Nodes behind this one may know the route already, since they were notified when the relay reported it.
        if let place, let led, led == (place.carrier, hops) { return decided(actions, around) }
        return decided(actions + lead(over: hops, from: place?.carrier, around), around)
    }

    /// The handshake of a link has failed.
    mutating func linkFailed(
        _ id: MeshCore.LinkID, in place: CircuitPlace?, _ end: LinkEnd, _ around: Surroundings
    ) -> [Action] {
        let wasDialled = dials.ended(id) != nil
        var actions = ended(id, in: place, end, around)
        if isGuest, wasDialled, around.isLinked { actions += improve(.failed, around) }
        return decided(actions, around)
    }

    /// A link to the host has ended.
    mutating func linkEnded(
        _ id: MeshCore.LinkID, in place: CircuitPlace?, over bearer: BearerKind?, _ end: LinkEnd, _ around: Surroundings
    ) -> [Action] {
        if !around.isLinked { quietLoss.ended(over: bearer) }
        return decided(ended(id, in: place, end, around), around)
    }

    /// Whether the loss of a host is reported later, since another bearer may replace the link.
    mutating func holdsLoss(of host: Peer, now: MeshInstant) -> Bool { quietLoss.holds(host, now: now) }

    private mutating func ended(
        _ id: MeshCore.LinkID, in place: CircuitPlace?, _ end: LinkEnd, _ around: Surroundings
    ) -> [Action] {
        guard isGuest else { return [] }
        var actions: [Action] = []
        if !around.isLinked {
            actions = improve(.down, around) + [.down]
            led = nil
        }
        guard let place, let relay = links[place.carrier] else { return actions }
        // The host may be somewhere else now.
        if let host = place.host { heard.forget(host: host) }
        if around.mesh.parent?.link != place.carrier { links.isIdle(place.carrier, since: around.now) }
        switch end {
        case .left, .goodbye, .refused, .replaced: break
        case .circuit(.noHost): heard.leadsNowhere(relay.peer.id, now: around.now)
        // The relay reports that its own route has ended, which is not a failure of the relay. A relay that reports
        // this soon after the link opened counts as failed, because it breaks circuits.
        case .circuit(.ended) where links.hasLasted(id, now: around.now):
            heard.leadsNowhere(relay.peer.id, now: around.now)
        default: heard.failed(relay.peer.id, now: around.now)
        }
        return actions
    }

    // MARK: Links to relays

    /// The link to a dialled relay is up.
    mutating func carrierUp(
        _ peer: Peer, _ route: MeshProtocol.Route?, on id: MeshCore.LinkID, _ around: Surroundings
    ) -> [Action] {
        guard let (host, number, _, advertised) = dials.invited(on: id) else { return [] }
        guard let route, route.host.hasPrefix(host), route.host.hasPrefix(advertised ?? "") else {
            heard.failed(peer.id, now: around.now)
            _ = dials.ended(id)
            return decided([.failed(.dialFailed("the relay leads somewhere else")), .leave(id)], around)
        }
        links.linked(peer, route, on: id, now: around.now)
        let place = CircuitPlace(to: route.host, over: id, hops: Int(route.hops))
        return [.openCircuit(place, dial: number, expecting: host)]
    }

    /// The handshake with a dialled relay has failed. People are not notified, since there are other relays.
    mutating func carrierFailed(_ id: MeshCore.LinkID, _ end: LinkEnd, _ around: Surroundings) -> [Action] {
        guard let (host, _, relay, _) = dials.invited(on: id) else { return [] }
        _ = dials.ended(id)
        return decided(dials.notAnswered(by: relay, for: host, .linkEnded(end), &heard, around), around)
    }

    /// A linked relay reports its route. Nil: it has none.
    mutating func routeChanged(
        _ route: MeshProtocol.Route?, on id: MeshCore.LinkID, _ around: Surroundings
    ) -> [Action] {
        guard links.reports(route, on: id) else {
            if let relay = links[id]?.peer { heard.failed(relay.id, now: around.now) }
            return [.leave(id)]
        }
        guard let route else { return [.leave(id)] }
        guard let relay = links[id]?.peer else { return [] }
        if let parent = around.mesh.parent, parent.link == id {
            var actions = improve(.up(relays: Int(route.hops)), around)
            actions += lead(over: Int(route.hops), from: id, around) + follow(route, on: id, around)
            return decided(actions, around)
        }
        // The guest waits for its host.
        let host = Peer(id: Identity.head(of: route.host), name: heard.host(route.host)?.host.name ?? "")
        let hasRoom = heard.relay(relay.id)?.hasRoom != false
        return [.reachable(HeardNode(host, relay: relay.id, hops: Int(route.hops), hasRoom: hasRoom))]
    }

    /// The link to a relay has ended.
    mutating func carrierEnded(_ peer: Peer, _ end: LinkEnd, on id: MeshCore.LinkID, _ around: Surroundings) -> [Action]
    {
        links.lost(id)
        let actions: [Action] = dials.ended(id) == nil ? [] : [.failed(.linkEnded(end))]
        switch end {
        case .misbehaved, .refused: heard.failed(peer.id, now: around.now)
        default: break
        }
        return decided(actions, around)
    }

    /// The radio knows the signal of a link.
    mutating func measured(_ rssi: Int?, on id: MeshCore.LinkID) { links.measured(rssi, on: id) }

    /// The relay has another route to the host. Its former route ends soon, and with it the circuit over that route. So
    /// another circuit opens next to the old one. A relay that repeats this can cause at most one handshake per second.
    private mutating func follow(
        _ route: MeshProtocol.Route, on carrier: MeshCore.LinkID, _ around: Surroundings
    ) -> [Action] {
        guard let host = around.mesh.host, Identity.mayBeSame(route.host, host.id),
            let link = around.mesh.link(to: host.id), links.hasLasted(link, now: around.now)
        else { return [] }
        let place = CircuitPlace(to: host.id, over: carrier, hops: Int(route.hops))
        return dials.dial(host.id, by: .circuit(place), heard, now: around.now)
    }

    private mutating func lead(over hops: Int, from carrier: MeshCore.LinkID?, _ around: Surroundings) -> [Action] {
        guard relays, around.isLinked else { return [] }
        led = carrier.map { ($0, hops) }
        return [.lead(hops: hops)]
    }

    // MARK: A better route

    private mutating func improve(_ event: BetterRoute.Event, _ around: Surroundings) -> [Action] {
        guard better.heeds(event) else { return [] }
        let action = better.handle(event, now: around.now, jitter: jitter.fraction())
        guard let host = around.mesh.host else { return [] }
        return switch action {
        case .change(let path): settled(dials.dial(host.id, by: path, heard, now: around.now), around)
        case .giveUp: dials.giveUp(host.id)
        case nil: []
        }
    }

    /// The best path that is heard, if it is better than the present one.
    private func betterPath(_ around: Surroundings) -> Path? {
        guard let host = around.mesh.host, let parent = around.mesh.parent.flatMap({ links[$0.link] }) else {
            return nil
        }
        return heard.better(than: parent, to: host.id, carriesOthers: around.carriesOthers, now: around.now)
    }

    /// A relay behind which this node makes room for others.
    private func aside(_ around: Surroundings) -> Path? {
        guard let host = around.mesh.host else { return nil }
        let parent = around.mesh.parent.flatMap { links[$0.link] }
        let hops = parent?.route.map { Int($0.hops) } ?? 0
        return heard.aside(of: parent?.peer.id, hops: hops, to: host.id, now: around.now).map { .relay($0.id) }
    }

    // MARK: Time

    /// When `tick` is due.
    var deadline: MeshInstant? {
        // Asked after each event, so no array is made for it.
        let dialling = earliest(earliest(heard.deadline, dials.deadline), links.deadline)
        return earliest(dialling, earliest(better.deadline, quietLoss.deadline))
    }

    /// The next time at which a step must decide about hosts, with `ReconnectPolicy.Event.tick`.
    var stepDeadline: MeshInstant? { isGuest ? policy.deadline : nil }

    /// Time has passed.
    mutating func tick(_ around: Surroundings) -> [Action] {
        let now = around.now
        assert(around.isLinked || !better.isLooking, "only a linked node looks for a better route")
        var actions: [Action] = []
        let due = heard.tick(now: now)
        for host in due {
            let best = heard.best(to: host, below: nil, now: now)
            if let best { actions.append(.heard(best)) }
            actions += heard.relays(to: host).filter { $0 != best }.map { .report($0) }
        }
        actions += dials.joinable(due, &heard, links, around)
        if let deadline = better.deadline, deadline <= now {
            let path = better.looksAside ? nil : betterPath(around)
            actions += improve(.tick(better: path, carriesOthers: around.carriesOthers), around)
        }
        actions += dials.tick(&heard, around)
        if let host = quietLoss.due(now: now) { actions.append(.lost(host)) }
        for id in links.idle(now: now) {
            if around.mesh.passesCircuits(on: id), links.mayWait(id, now: now) { continue }
            links.lost(id)
            actions.append(.leave(id))
        }
        return decided(actions, around)
    }

    // MARK: The end of every event

    private mutating func decided(_ actions: [Action], _ around: Surroundings) -> [Action] {
        scanChanged(settled(actions, around))
    }

    /// While a route is up, a failed invitation is a failed change to a better route.
    private mutating func settled(_ actions: [Action], _ around: Surroundings) -> [Action] {
        guard around.isLinked else { return actions }
        var settled: [Action] = []
        for action in actions {
            if case .failed = action { settled += improve(.failed, around) } else { settled.append(action) }
        }
        return settled
    }

    /// Begins and ends scans. No other function does. Nodes that were heard before may be somewhere else by now, so
    /// each machine that begins to need a scan gets a new scan.
    private mutating func scanChanged(_ actions: [Action]) -> [Action] {
        var needed: Set<ScanReason> = []
        if policy.isScanning { needed.insert(.host) }
        if dials.isScanning { needed.insert(.otherPath) }
        if better.isLooking { needed.insert(.betterRoute) }
        assert(isGuest || needed.isEmpty && dials.pending == nil, "a host has no route")
        let isNew = needsNewScan && !needed.isEmpty || !needed.isSubset(of: scanReasons)
        let isOver = needed.isEmpty && isScanning
        (scanReasons, needsNewScan) = (needed, false)
        if isNew { heard.removeAll() }
        return isNew ? [.scan] + actions : isOver ? [.stopScanning] + actions : actions
    }
}
