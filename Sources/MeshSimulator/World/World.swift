// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A host, its guests, the air between them and attackers, in virtual time.
///
/// It performs the actions of each `NodeLoop`, as the actor `Node` does, and checks every event. One generator draws
/// all random numbers in the order of events, so a seed determines the run.
struct World {
    let scenario: Scenario
    /// Called with a line for each event, to trace a run.
    let log: ((String) -> Void)?

    var random: SeededGenerator
    var hash = TraceHash()
    var now: Duration = .zero
    var calendar = TimedHeap<WorldEntry>()
    var nodes: [SimulatedNode] = []
    var channels: [Channel] = []
    var browsers: [SimulatedBrowser] = []
    /// The host's links that end in its own process.
    var browserLinks: [MeshCore.LinkID: BrowserLink] = [:]
    var ledger = Ledger()
    var story: Story
    var violation: Violation?
    var figures = Figures()
    var wishes = WishLedger()

    /// Guests that are out of the host's range.
    var outOfReach: Set<Int> = []
    /// An attacker answers instead of the host until this time.
    var impostorUntil: Duration = .zero
    /// The identity of an intruder that joins.
    let mallory: Identity
    /// The scripts of the attackers.
    var scripts: [HostileScript] = []
    /// Recordings of parties that dial, and of parties that answer. The latest is last.
    var recordings: [[[[UInt8]]]] = [[], []]
    /// Number of timers in a row that were due at once.
    var spins = 0
    /// Number of the road's votes so far.
    var roadVotes = 0
    /// Reported events that clear notices, and their nodes.
    var cleared: [(node: Int, clearer: Problem.Clearer)] = []
    /// The node that has just found a link silent.
    var silent: Int?
    var isQuiet = false
    var isSettled = false

    init(_ scenario: Scenario, log: ((String) -> Void)?) {
        self.scenario = scenario
        self.log = log
        random = SeededGenerator(seed: scenario.seed)
        story = Story(scenario)
        mallory = .drawn(&random)
        for index in 0..<scenario.nodes { nodes.append(SimulatedNode(index, .drawn(&random))) }
        story.peers = nodes.map(\.peer)
        for index in 0..<scenario.browsers {
            let shared = index < scenario.sharedKeys ? nodes[index + 1] : nil
            let peer = shared.map { Peer(id: $0.peer, name: $0.name) }
            let name = "Browser \(index + 1)"
            browsers.append(
                SimulatedBrowser(peer ?? Peer(id: Identity.drawn(&random).peerID, name: name), name: name))
            if let shared { story.shared.insert(shared.peer) }
        }
        story.browsers = browsers.map(\.peer.id)
        ledger.mute = (mallory.peerID, Self.muteEpoch)
        prepare()
    }

    private mutating func prepare() {
        for node in nodes.indices {
            schedule(.starts(node: node), after: random.time(0...500))
            if node > 0 { schedule(.hears(node: node), after: random.time(0...500)) }
        }
        for browser in browsers.indices { schedule(.browser(browser, .opens), after: random.time(0...3_000)) }
        if let road = scenario.road { prepare(road) }
        let acting = Int(scenario.faultsEnd.components.seconds) * 1_000
        for _ in 0..<scenario.acts { schedule(.acts, after: random.time(500...acting)) }
        if !scenario.faults.isEmpty { schedule(.fault, after: random.time(1_000...2_000)) }
        schedule(.quiet, after: scenario.faultsEnd)
    }

    // MARK: Time

    mutating func schedule(_ event: Event, after delay: Duration) {
        schedule(event, at: now + delay)
    }

    mutating func schedule(_ event: Event, at time: Duration) {
        calendar.add(WorldEntry(at: max(now, time), tie: random.next(), event: event))
    }

    /// Runs until everything has arrived, an invariant is violated, or the time is over.
    mutating func run() {
        while violation == nil, !isSettled, let entry = calendar.pop() {
            now = entry.at
            figures.steps += 1
            if now > scenario.faultsEnd + scenario.patience {
                broken(.notSettled, "world", whatIsMissing())
                break
            }
            hash.add(now)
            entry.event.fold(into: &hash)
            handle(entry.event)
        }
        figures.time = now
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .opens(let channel, let end): opens(channel, end)
        case .closes(let channel, let end), .shuts(let channel, let end): closes(channel, end)
        case .arrives(let channel, let from): arrives(channel, from)
        case .pulls(let channel, let end): pulls(channel, end)
        case .hears(let node): hears(node)
        case .dials(let node, let life, let dial): dials(node, life, dial)
        case .dialFails(let node, let life, let dial): dialFails(node, life, dial)
        case .tick(let node, let life, let due): tick(node, life, due)
        case .written(let node, let life): written(node, life)
        case .tells(let node, let life, let event): tells(node, life, event)
        case .starts(let node): starts(node)
        case .losesStore(let node): if !isQuiet { kill(node, losingStore: true) }
        case .ends(let node, let life): ends(node, life)
        case .gone(let node, let life): gone(node, life)
        case .acts: acts()
        case .says(let node, let input): say(input, node)
        case .votes: votes()
        case .retries(let node): retries(node)
        case .browser(let browser, let event): handle(event, browser)
        case .fault: fault()
        case .rangeReturns(let guest): outOfReach.remove(guest)
        case .rangeEnds(let guest): leavesRange(guest)
        case .directionReturns(let channel, let from): directionReturns(channel, from)
        case .adapterReturns(let node): adapterReturns(node)
        case .hostileLeaves(let channel, let end): closes(channel, end)
        case .quiet: quiet()
        case .looks: looks()
        }
    }

    // MARK: Trace

    func trace(_ node: Int, _ text: @autoclosure () -> String) {
        log?("\(seconds(now)) \(nodes[node].name): \(text())")
    }

    func trace(_ text: @autoclosure () -> String) {
        log?("\(seconds(now)) \(text())")
    }

    private func seconds(_ time: Duration) -> String {
        let microseconds = time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// An invariant is violated, and the run ends.
    mutating func broken(_ invariant: Invariant?, _ who: String, _ what: String) {
        guard let invariant, violation == nil else { return }
        violation = Violation(invariant: invariant, who: who, what: what, time: now)
        trace("BROKEN \(invariant.rawValue) at \(who): \(what)")
    }
}
