// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Up to a thousand nodes on a plane. They have radios of limited range, which hold a few links and do one thing at a
/// time.
typealias Field = Simulator<Ground>

extension Ground: Air {
    typealias Scenario = FieldScenario
    typealias People = FieldPeople

    /// An event of a field. An event is small and has no references, since a simulated hour has hundreds of millions of
    /// events. It identifies a node by its number, since a killed node does not come back under the same number.
    enum Event {
        /// A node's radio is ready.
        case starts(node: Int)
        /// A node that scans looks for the nodes that it may hear within the next second.
        case listens(node: Int, scan: Int)
        case hears(node: Int, other: Int, scan: Int)
        /// A pending dial may succeed.
        case reaches(node: Int, dial: Int)
        case dialEnds(node: Int, dial: Int)
        /// A channel opens on a link.
        case opens(link: Int)
        /// A connection event with data to send.
        case meets(link: Int)
        case arrives(link: Int, from: Int)
        /// The link layer has heard nothing for the supervision timeout.
        case fades(link: Int)
        case shuts(link: Int, end: Int)
        /// A link's interval changes, or the link may have been idle long enough for a change.
        case retunes(link: Int)
        /// The moving nodes take a step.
        case moves
        case votes(node: Int)
    }

    static let keptViolations = 5

    static func handle(_ event: Event, in field: inout Field) {
        switch event {
        case .starts(let node): field.starts(node)
        case .listens(let node, let scan): field.listens(node, scan)
        case .hears(let node, let other, let scan): field.hears(node, other, scan)
        case .reaches(let node, let dial): field.air.reaches(node, dial, &field.timeline)
        case .dialEnds(let node, let dial): if field.air.isPending(node, dial) { field.dialFails(node, dial) }
        case .opens(let link): field.opens(link)
        case .meets(let link): field.air.connections.meets(link, &field.timeline)
        case .arrives(let link, let from): field.arrives(link, from)
        case .fades(let link): field.fades(link)
        case .shuts(let link, let end): field.shuts(link, end)
        case .retunes(let link): field.air.connections.retunes(link, &field.timeline)
        case .moves:
            field.schedule(.moves, at: field.now + FieldMover.step)
            field.air.moves(&field.timeline)
        case .votes(let node):
            guard field.nodes[node].core != nil else { return }
            field.feed(.input(field.people.votes(node, at: field.now)), node)
        }
    }

    static func perform(
        _ action: NodeCore.Action, of node: Int, on link: MeshCore.LinkID?, in field: inout Field
    ) {
        field.perform(action, node)
    }

    static func goOn(_ node: Int, on link: MeshCore.LinkID?, in field: inout Field) { field.readAgain(node) }

    static func beginWrite(_ node: Int, in field: inout Field) -> Int { 1_000 + field.random.below(9_000) }

    static func commit(_ batch: StoreBatch, of node: Int, in field: inout Field) { field.store(batch, node) }

    static func wrote(_ node: Int, isRefused: Bool, in field: inout Field) {}
}

extension Field {
    init(_ scenario: FieldScenario, threads: Int = 1, log: ((String) -> Void)? = nil) {
        var timeline = Timeline<Event>(seed: scenario.seed, drawsOrder: false)
        let places = scenario.layout.places(scenario.nodes, &timeline.random)
        let nodes = (0..<scenario.nodes).map { node in
            let identity = Identity.drawn(&timeline.random)
            let isHost = scenario.host(of: node) == node
            let isRelay = !isHost && timeline.random.chance(scenario.relays)
            timeline.schedule(.air(.starts(node: node)), at: isHost ? 0 : timeline.random.below(1_000_000))
            return SimulatedNode(
                identity, name: isHost ? "Car \(node)" : "Guest \(node)", isHost: isHost, isRelay: isRelay)
        }
        let terrain = Terrain(scenario, places, &timeline.random)
        if terrain.hasMovers { timeline.schedule(.air(.moves), at: FieldMover.step) }
        self.init(
            scenario, timeline, nodes, Ground(terrain, nodes),
            FieldPeople(nodes.map(\.peer), hosts: nodes.indices.map { scenario.host(of: $0) }), threads: threads,
            log: log)
    }

    /// Runs until a time.
    mutating func run(until time: Int) {
        while let first = timeline.first, first <= time {
            lookAhead(until: time)
            step()
            pull()
            refreshTimers()
        }
        timeline.advance(to: time)
    }

    // MARK: Lives

    fileprivate mutating func starts(_ node: Int) {
        guard !people.isGone(node) else { return }
        let host = nodes[scenario.host(of: node)].peer
        start(
            node,
            nodes[node].isHost
                ? .host(hosting) : .guest(wanted: scenario.party == nil ? nil : host, relays: nodes[node].isRelay))
        nodes[node].core?.loop.core.share(air.checked, air.reading)
        air.start(node)
        if nodes[node].isHost { air.startAdvertising(node, &timeline) }
        feed(.started, node)
    }

    /// Removes a node at once and permanently.
    mutating func kill(_ node: Int) {
        guard !people.isGone(node) else { return }
        nodes[node].die()
        people.leaves(node)
        air.stop(node, &timeline)
    }

    /// Songs that play until the end of the run, so that votes count for queued songs.
    private var hosting: Hosting {
        let songs = (0..<FieldScenario.songs).map {
            Song(id: "s\($0)", title: "Song \($0)", artist: "Artist \($0 % 7)", duration: 86_000)
        }
        return Hosting(SongLibrary(songs), opens: songs.count, wallClockSeconds: 1_000_000)
    }

    // MARK: Actions

    fileprivate mutating func perform(_ action: NodeCore.Action, _ node: Int) {
        switch action {
        case .startRadio:
            guard !nodes[node].isHost else { break }
            trace(node, "scans")
            air.startScanning(node, &timeline)
        case .stopScanning:
            air.stopScanning(node)
            trace(node, "stops to scan")
        case .linksChanged, .retryRadio: air.connections.changed(node, at: now)
        case .dial(let number, let head, let expecting):
            let target = air.node(head)
            trace(node, "dial \(number) to \(target.map { nodes[$0].name } ?? head)")
            reaches(.dialled, node)
            air.dial(node, number, to: target, expecting: expecting, &timeline)
        case .cancelDial(let number):
            trace(node, "dial \(number) is given up")
            _ = air.giveUp(node, number)
        case .openCircuit(let place, _, _):
            trace(node, "circuit on link \(place.carrier)")
            if place.host != nil { reaches(.circuit, node) }
        case .relay(let notice):
            trace(
                node, "relays: \(notice.map { "\($0.hops) hops, \($0.hasRoom ? "room" : "no room")" } ?? "no longer")")
            nodes[node].advertisement.notice = notice
            guard notice != nil else { return air.stopAdvertising(node) }
            reaches(.relays, node)
            air.startAdvertising(node, &timeline)
        case .wake(let id):
            if let (link, end) = air.connections.place(of: id, node) { air.connections.wants(link, end) }
        case .close(let id, let afterFinalFrame):
            guard let (link, end) = air.connections.place(of: id, node) else { break }
            air.connections.wants(link, end)
            let wait = afterFinalFrame ? Limits.goodbyeTimeout.microseconds : 0
            schedule(.shuts(link: link, end: end), at: now + wait)
        case .measure(let id):
            guard let (link, end) = air.connections.place(of: id, node) else { break }
            let signal = air.terrain.signal(node, air.connections.links[link].ends[1 - end].node)
            nodes[node].core?.loop.take(.measured(id, rssi: signal, nil), now: instant)
        case .show(let event):
            trace(of: event, node)
            report(people.sees(event, node, at: now), nodes[node].name)
        case .misbehaved(let how, let who, _):
            broken(.falselyAccused, node, "\(who) is said to break the protocol: \(how)")
        // No person searches, and covers come without a request.
        case .search, .fetchCovers, .retryCovers, .makeCover, .keepCover, .answered, .notSent, .heed: break
        case .deliver, .acknowledge, .end, .storeFailed, .quit, .write, .placesForRelays:
            broken(.outOfOrder, node, "\(action)")
        }
    }

    private func trace(of event: NodeEvent, _ node: Int) {
        switch event {
        case .connection(let state): trace(node, "connection: \(state)")
        case .notice(let notice): trace(node, "notice \(notice.code)")
        default: break
        }
    }

    private mutating func reaches(_ stage: FieldStage, _ node: Int) { people.reaches(stage, node, at: now) }

    // MARK: Scans and dials

    fileprivate mutating func listens(_ node: Int, _ scan: Int) {
        for other in air.listens(node, scan, &timeline) { feed(.unheard(nodes[other].advertisement.sender), node) }
    }

    fileprivate mutating func hears(_ node: Int, _ other: Int, _ scan: Int) {
        let wasAsked = ahead.hasAsked(node, entry)
        let event = wasAsked ? nil : heard(other, by: node, scan)
        guard event != nil || wasAsked else { return }
        air.heard(other, by: node, at: now)
        reaches(.heard, node)
        trace(node, "hears \(nodes[other].name)")
        if !takesTurn(node), let event { feed(event, node) }
    }

    /// The scan result that a scanning node gets of another node. Nil if it hears nothing.
    private func heard(_ other: Int, by node: Int, _ scan: Int) -> NodeCore.Event? {
        air.signal(of: other, at: node, scan).flatMap { nodes[other].advertisement.heard(rssi: $0) }
    }

    fileprivate mutating func dialFails(_ node: Int, _ number: Int) {
        guard nodes[node].core != nil, air.giveUp(node, number) else { return }
        trace(node, "dial \(number) fails")
        feed(.dialFailed(number, refusal: nil), node)
    }

    // MARK: Links

    fileprivate mutating func opens(_ link: Int) {
        let opened = air.connections.links[link]
        guard !opened.isOver, !opened.isFading else { return }
        guard let dial = air.answer(opened.central, opened.dial) else { return shuts(link, 0) }
        trace(opened.central, "link to \(nodes[opened.peripheral].name)")
        reaches(.linked, opened.central)
        air.connections.opens(link, &timeline)
        begin(link, 1, nil)
        begin(link, 0, dial)
        for end in opened.ends { readAgain(end.node) }
    }

    private mutating func begin(_ link: Int, _ end: Int, _ dial: Ground.Dial?) {
        let opened = air.connections.links[link]
        guard !opened.ends[end].isClosed else { return }
        let node = opened.ends[end].node
        let opening = NodeCore.Opening(
            end == 0 ? .initiator : .responder, sendMTU: Limits.sduBytes, dial: dial?.number,
            expected: dial?.expecting,
            advertised: AdvertisedFlags(critical: nodes[opened.peripheral].isHost ? [] : .circuitsOnly),
            entropy: .drawn(&random))
        guard let id = open(opening, node) else { return }
        air.connections.opened(link, end, as: id)
        perform(node)
        finish(node)
    }

    /// Fills the controllers' buffers until they are full or no node has more data.
    private mutating func pull() {
        while let (link, end) = air.connections.nextPull() { pull(link, end) }
    }

    private mutating func pull(_ link: Int, _ end: Int) {
        let (node, id) = (air.connections.links[link].ends[end].node, air.connections.links[link].ends[end].id)
        guard id != 0, !air.connections.links[link].ends[end].isClosed else { return }
        settle(node)
        while air.connections.hasRoom(link, end),
            let sdu = nodes[node].core?.loop.nextSDU(for: id, limit: Limits.sduBytes, now: instant)
        {
            air.connections.queue(sdu, link, end, &timeline)
            perform(node)
            touch(node)
        }
        air.connections.pulled(link, end, &timeline)
    }

    fileprivate mutating func arrives(_ link: Int, _ from: Int) {
        guard let sdu = air.connections.arrives(link, from: from) else { return }
        let end = 1 - from
        let node = air.connections.links[link].ends[end].node
        guard !takesTurn(node), nodes[node].core != nil, !air.connections.links[link].ends[end].isClosed else { return }
        let id = air.connections.links[link].ends[end].id
        if id == 0 || !air.connections.links[link].ends[end].unread.isEmpty || mayRead(node, id) != true {
            air.connections.leaveUnread(sdu, link, end)
        } else {
            feed(.received(sdu, on: id), node)
        }
    }

    /// Reads data that a node has left unread, if it reads again.
    fileprivate mutating func readAgain(_ node: Int) {
        for link in air.connections.links(of: node) {
            let end = air.connections.links[link].central == node ? 0 : 1
            let id = air.connections.links[link].ends[end].id
            while !air.connections.links[link].ends[end].unread.isEmpty, id != 0, mayRead(node, id) == true,
                let sdu = air.connections.read(link, end)
            {
                take(.received(sdu, on: id), node)
                air.connections.wants(link, 1 - end)
            }
        }
    }

    fileprivate mutating func fades(_ link: Int) {
        let areThere = air.connections.links[link].ends.allSatisfy { nodes[$0.node].core != nil }
        guard air.connections.fades(link, areThere: areThere, &timeline) else { return }
        for end in 0...1 { closes(link, end) }
    }

    fileprivate mutating func shuts(_ link: Int, _ end: Int) {
        guard air.connections.shuts(link, end, &timeline) else { return }
        closes(link, end)
        air.connections.shut(link, end, &timeline)
    }

    /// A node learns that its channel has closed, or has closed it.
    private mutating func closes(_ link: Int, _ end: Int) {
        guard air.connections.closes(link, end, &timeline) else { return }
        let closed = air.connections.links[link]
        let (node, id) = (closed.ends[end].node, closed.ends[end].id)
        trace(node, "link with \(nodes[closed.ends[1 - end].node].name) closes")
        if id != 0 {
            feed(.channelClosed(id), node)
        } else if end == 0 {
            dialFails(node, closed.dial)
        }
    }

    // MARK: Decisions in advance

    /// The shortest exchange of packets. Nothing arrives faster.
    private static let window = FieldAir.exchange(0, 0, isTuned: true)

    /// At the start of a window, asks all nodes that have an event in it. `end` is when the run ends.
    private mutating func lookAhead(until end: Int) {
        guard timeline.isWindowOver, let first = timeline.first else { return }
        let entries = timeline.openWindow(until: min(end, first + Self.window - 1))
        guard entries.count > 1 else { return }
        ahead.begin(nodes: nodes.count)
        defer { ahead.open() }
        for entry in entries.prefix(NodeTurns.most) {
            switch entry.event {
            case .ticks(let node):
                if ahead.concerns(node), nodes[node].timer == entry.at { ask(node, nil, entry) }
            case .written(let node, _):
                if ahead.concerns(node), nodes[node].disk.writing != nil { ask(node, .written, entry) }
            case .air(let event): guard askAbout(event, entry) else { return }
            }
        }
    }

    /// Asks the node of an event. False if the event may concern unknown nodes.
    private mutating func askAbout(_ event: Ground.Event, _ entry: Agenda<Event>.Entry) -> Bool {
        switch event {
        case .meets, .retunes, .reaches: break
        case .arrives(let link, let from):
            askAbout(link, from, entry)
            _ = ahead.concerns(air.connections.links[link].ends[from].node)
        case .hears(let node, let other, let scan):
            if ahead.concerns(node), let event = heard(other, by: node, scan) { ask(node, event, entry) }
        case .listens(let node, _), .dialEnds(let node, _), .votes(let node): _ = ahead.concerns(node)
        case .starts, .opens, .fades, .shuts, .moves: return false
        }
        return true
    }

    private mutating func askAbout(_ link: Int, _ from: Int, _ entry: Agenda<Event>.Entry) {
        let end = 1 - from
        let (node, id) = (air.connections.links[link].ends[end].node, air.connections.links[link].ends[end].id)
        guard ahead.concerns(node), id != 0, !air.connections.links[link].isOver,
            !air.connections.links[link].ends[end].isClosed, air.connections.links[link].ends[end].unread.isEmpty,
            let sdu = air.connections.links[link].ends[from].underway.first,
            nodes[node].core?({ $0.mayRead(id, now: .microseconds(entry.at)) }) == true
        else { return }
        ask(node, .received(sdu, on: id), entry)
    }

    private mutating func ask(_ node: Int, _ event: NodeCore.Event?, _ entry: Agenda<Event>.Entry) {
        guard let core = nodes[node].core else { return }
        ahead.ask(node, core, event, entry.number, at: entry.at)
    }
}
