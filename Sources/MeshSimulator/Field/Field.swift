// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Up to a thousand nodes on the ground, in virtual time: real `NodeCore`s with radios of limited range that hold some links
/// and do one thing at a time.
///
/// What costs time here is what is sent: nothing happens at a connection event in which nothing is said. Times are
/// microseconds. One generator draws all random numbers in the order of events, so a seed is a run.
struct Field {
    let scenario: FieldScenario
    /// Called with a line for what happens, where somebody wants to see it.
    let tell: ((String) -> Void)?
    static let origin = ContinuousClock().now

    var random: SeededGenerator
    private(set) var now = 0
    /// The same, as nodes are told it.
    private(set) var instant: MeshInstant = .zero
    var agenda = FieldAgenda()
    var nodes: [FieldNode] = []
    var links: [FieldLink] = []
    /// Nodes by the head of their identifier.
    var heads: [Peer.ID: Int] = [:]
    var peers: [Peer.ID: Int] = [:]
    var grid: FieldGrid
    /// What was found of who is in range of whom, for as long as nobody moves.
    var ranges: [Int: [(node: Int, signal: Int)]] = [:]
    var movers: [FieldMover] = []
    /// Links whose ends are to be asked for what they have to send.
    var pulls: [(link: Int, end: Int)] = []
    /// Nodes whose deadline may be another one.
    var touched: [Int] = []
    /// Which entry of the agenda it is that happens.
    private(set) var entry = 0
    /// Those who decide on what is known to happen.
    let turns: NodeTurns
    /// How many windows have begun, and how many turns were opened in the last.
    var windows = 0
    var opened = 0
    var tally = FieldTally()
    /// The host's signatures, which each node would check by itself.
    let checked = CheckedSignatures()
    /// The messages that they have read, which each would read by itself.
    let reading = SharedReading()

    init(_ scenario: FieldScenario, threads: Int = 1, log: ((String) -> Void)? = nil) {
        self.scenario = scenario
        tell = log
        turns = NodeTurns(helpers: threads - 1)
        random = SeededGenerator(seed: scenario.seed)
        grid = FieldGrid(cell: scenario.layout.range)
        let places = scenario.layout.places(scenario.nodes, &random)
        for node in 0..<scenario.nodes {
            guard let identity = Identity(stored: random.bytes(Identity.storedBytes)) else {
                preconditionFailure("any 32 bytes are a private key")
            }
            let isHost = scenario.host(of: node) == node
            let isRelay = !isHost && random.chance(scenario.relays)
            nodes.append(
                FieldNode(
                    identity, name: isHost ? "Car \(node)" : "Guest \(node)", isHost: isHost, isRelay: isRelay,
                    place: places[node]))
            heads[nodes[node].head] = node
            peers[nodes[node].peer] = node
            nodes[node].cell = grid.add(node, at: places[node])
            if !isHost { tally.audience[scenario.host(of: node), default: 0] += 1 }
            schedule(.starts(node: node), at: isHost ? 0 : random.below(1_000_000))
        }
        movers = FieldMover.all(scenario, places, &random)
        if !movers.isEmpty { schedule(.moves, at: FieldMover.step) }
    }

    mutating func schedule(_ event: FieldEvent, at time: Int) { agenda.add(event, at: max(time, now)) }

    /// Runs up to a time.
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

    /// Something that must not be is so. The first few are kept.
    mutating func broken(_ node: Int, _ what: String) {
        tally.violationCount += 1
        if tally.violations.count < FieldTally.keptViolations {
            tally.violations.append("\(nodes[node].name) at \(Double(now) / 1_000_000) s: \(what)")
        }
    }
}

/// What has happened in a field.
struct FieldTally: Hashable {
    static let keptViolations = 5

    var events = 0
    var sdus = 0
    var bytes = 0
    /// Those that hosts have sent.
    var hostBytes = 0
    /// Connection events in which something was to be sent and a radio was at something else.
    var skipped = 0
    var linksMade = 0
    var faded = 0
    var dialsFailed = 0
    var dialsGivenUp = 0
    var misbehaviours = 0
    /// How many guests each host has that are not gone.
    var audience: [Int: Int] = [:]
    var violationCount = 0
    var violations: [String] = []
}
