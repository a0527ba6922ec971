// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Up to a thousand nodes on a plane, in virtual time. They are real `NodeCore`s with radios of limited range that hold
/// a few links and do one thing at a time.
///
/// Only data take time to compute: a connection event without data costs nothing. Times are microseconds. One generator
/// draws all random numbers in the order of events, so a seed determines the run.
struct Field {
    let scenario: FieldScenario
    /// Called with a line for each event, to trace a run.
    let tell: ((String) -> Void)?

    var random: SeededGenerator
    private(set) var now = 0
    /// The virtual time in the form that nodes get.
    private(set) var instant: MeshInstant = .zero
    var agenda = FieldAgenda()
    var nodes: [FieldNode] = []
    var links: [FieldLink] = []
    /// Nodes by the head of their identifier.
    var heads: [Peer.ID: Int] = [:]
    var peers: [Peer.ID: Int] = [:]
    var grid: FieldGrid
    /// Cached ranges: which nodes can hear each other. Valid until a node moves.
    var ranges: [Int: [(node: Int, signal: Int)]] = [:]
    var movers: [FieldMover] = []
    /// Links with ends that may have data to send.
    var pulls: [(link: Int, end: Int)] = []
    /// Nodes whose deadline may have changed.
    var touched: [Int] = []
    /// The number of the current entry of the agenda.
    private(set) var entry = 0
    /// The threads that decide known events.
    let turns: NodeTurns
    /// Number of windows so far, and of turns that the last one has opened.
    var windows = 0
    var opened = 0
    var tally = FieldTally()
    /// The checked signatures of the host. Without this cache, each node would check them.
    let checked = CheckedSignatures()
    /// The decoded messages. Without this cache, each node would decode them.
    let reading = SharedReading()

    init(_ scenario: FieldScenario, threads: Int = 1, log: ((String) -> Void)? = nil) {
        self.scenario = scenario
        tell = log
        turns = NodeTurns(helpers: threads - 1)
        random = SeededGenerator(seed: scenario.seed)
        grid = FieldGrid(cell: scenario.layout.range)
        let places = scenario.layout.places(scenario.nodes, &random)
        for node in 0..<scenario.nodes {
            let identity = Identity.drawn(&random)
            let isHost = scenario.host(of: node) == node
            let isRelay = !isHost && random.chance(scenario.relays)
            nodes.append(
                FieldNode(
                    identity, name: isHost ? "Car \(node)" : "Guest \(node)", isHost: isHost, isRelay: isRelay,
                    place: places[node]))
            heads[nodes[node].advertisement.sender.id] = node
            peers[nodes[node].peer] = node
            nodes[node].cell = grid.add(node, at: places[node])
            if !isHost { tally.audience[scenario.host(of: node), default: 0] += 1 }
            schedule(.starts(node: node), at: isHost ? 0 : random.below(1_000_000))
        }
        movers = FieldMover.all(scenario, places, &random)
        if !movers.isEmpty { schedule(.moves, at: FieldMover.step) }
    }

    mutating func schedule(_ event: FieldEvent, at time: Int) { agenda.add(event, at: max(time, now)) }

    /// Runs until a time.
    mutating func run(until time: Int) {
        while let first = agenda.first, first <= time {
            lookAhead(until: time)
            guard let next = agenda.next() else { break }
            entry = next.number
            if next.at > now {
                now = next.at
                instant = .microseconds(now)
            }
            tally.events += 1
            handle(next.event)
            refreshTimers()
        }
        now = max(now, time)
        instant = .microseconds(now)
    }

    private mutating func handle(_ event: FieldEvent) {
        switch event {
        case .starts(let node): starts(node)
        case .ticks(let node): ticks(node)
        case .written(let node): written(node)
        case .listens(let node, let scan): listens(node, scan)
        case .hears(let node, let other, let scan): hears(node, other, scan)
        case .reaches(let node, let dial): reaches(node, dial)
        case .dialEnds(let node, let dial): dialEnds(node, dial)
        case .opens(let link): opens(link)
        case .meets(let link): meets(link)
        case .arrives(let link, let from): arrives(link, from)
        case .fades(let link): fades(link)
        case .shuts(let link, let end): shuts(link, end)
        case .retunes(let link): retunes(link)
        case .moves: moves()
        case .votes(let node): votes(node)
        }
    }

    func trace(_ node: Int, _ text: @autoclosure () -> String) {
        tell?("\(Double(now) / 1_000_000) \(nodes[node].name): \(text())")
    }

    /// Records a violation. The first few are kept.
    mutating func broken(_ node: Int, _ what: String) {
        tally.violationCount += 1
        if tally.violations.count < FieldTally.keptViolations {
            tally.violations.append("\(nodes[node].name) at \(Double(now) / 1_000_000) s: \(what)")
        }
    }
}

/// Counters of a field.
struct FieldTally: Hashable {
    static let keptViolations = 5

    var events = 0
    var sdus = 0
    var bytes = 0
    /// Bytes sent by hosts.
    var hostBytes = 0
    /// Connection events with data that were skipped because a radio was busy.
    var skipped = 0
    var linksMade = 0
    var faded = 0
    var dialsFailed = 0
    var dialsGivenUp = 0
    var misbehaviours = 0
    /// Number of guests of each host that are still in the field.
    var audience: [Int: Int] = [:]
    var violationCount = 0
    var violations: [String] = []
}
