// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A host, its guests, and the air between them, in virtual time.
///
/// It performs the actions of each `NodeLoop`, as the actor `Node` does. One generator draws all random numbers in the
/// order of events, so a seed determines the run.
struct Simulator<Medium: Air> {
    enum Event {
        /// A node's deadline may have come.
        case ticks(node: Int)
        /// A disk has a write. A killed node begins another life, and gets no events of the last one.
        case written(node: Int, life: Int)
        case air(Medium.Event)
    }

    let scenario: Medium.Scenario
    /// Called with a line for each event, to trace a run.
    let log: ((String) -> Void)?

    var timeline: Timeline<Event>
    var nodes: [SimulatedNode]
    var air: Medium
    var people: Medium.People
    /// The decisions that nodes make in advance.
    var ahead: LookAhead
    var hash = TraceHash()
    /// Number of events so far, and the number of the current one.
    private(set) var steps = 0
    private(set) var entry: UInt64 = 0
    /// The first violated invariants, and the number of all of them.
    private(set) var violations: [Violation] = []
    private(set) var violationCount = 0
    /// Nodes with a deadline that may have changed.
    private var touched: [Int] = []

    init(
        _ scenario: Medium.Scenario, _ timeline: Timeline<Event>, _ nodes: [SimulatedNode], _ air: Medium,
        _ people: Medium.People, threads: Int = 0, log: ((String) -> Void)?
    ) {
        (self.scenario, self.timeline, self.nodes, self.air) = (scenario, timeline, nodes, air)
        (self.people, self.log) = (people, log)
        ahead = LookAhead(threads: threads)
    }

    // MARK: Time

    var now: Int { timeline.now }
    var instant: MeshInstant { timeline.instant }
    var random: SeededGenerator {
        get { timeline.random }
        _modify { yield &timeline.random }
    }

    /// The time of a node's own clock.
    func localTime(of node: Int) -> MeshInstant { instant + nodes[node].clockLead }

    mutating func schedule(_ event: Medium.Event, at time: Int) { timeline.schedule(.air(event), at: time) }

    /// Performs the next event.
    mutating func step() {
        guard let next = timeline.next() else { return }
        (steps, entry) = (steps + 1, next.number)
        switch next.event {
        case .ticks(let node): ticks(node)
        case .written(let node, let life): written(node, life)
        case .air(let event): Medium.handle(event, in: &self)
        }
    }

    // MARK: Nodes

    /// Starts a node with the content of its disk.
    mutating func start(_ node: Int, _ part: NodeCore.Part, http: String? = nil) {
        nodes[node].core = RunningNode(
            part, nodes[node].identity, name: nodes[node].name, disk: nodes[node].disk.content, http: http,
            seed: random.next(), lastLink: nodes[node].lastLink)
    }

    /// Feeds an event to a node and performs its actions. `link` is the event's link.
    mutating func feed(_ event: NodeCore.Event, _ node: Int, on link: MeshCore.LinkID? = nil) {
        guard take(event, node, on: link) else { return }
        finish(node, on: link)
    }

    /// A node handles an event while another event is being handled. Returns false if it has ended.
    @discardableResult
    mutating func take(_ event: NodeCore.Event, _ node: Int, on link: MeshCore.LinkID? = nil) -> Bool {
        settle(node)
        guard nodes[node].core?.loop.take(event, now: localTime(of: node)) == true else { return false }
        perform(node, on: link)
        return true
    }

    /// A channel or a circuit is open at a node's end. Returns the node's number of the link.
    mutating func open(_ opening: NodeCore.Opening, _ node: Int) -> MeshCore.LinkID? {
        settle(node)
        return nodes[node].core?.loop.open(opening, now: localTime(of: node))
    }

    /// A node has performed its actions.
    mutating func finish(_ node: Int, on link: MeshCore.LinkID? = nil) {
        Medium.goOn(node, on: link, in: &self)
        touch(node)
    }

    /// Performs all actions of a node.
    mutating func perform(_ node: Int, on link: MeshCore.LinkID? = nil) {
        let time = localTime(of: node)
        while let action = nodes[node].core?.loop.next(now: time, entropy: .drawn(&random)) {
            switch action {
            case .write(let batch): write(batch, node)
            case .placesForRelays(let areKept): nodes[node].advertisement.placesForRelays = areKept
            default: Medium.perform(action, of: node, on: link, in: &self)
            }
        }
    }

    /// Whether a node reads the next SDU of a link; nil if it is down.
    func mayRead(_ node: Int, _ link: MeshCore.LinkID) -> Bool? {
        let time = localTime(of: node)
        return nodes[node].core?({ $0.mayRead(link, now: time) })
    }

    // MARK: Decisions in advance

    /// Performs a node's decision about the current event. False if the node was not asked about it.
    mutating func takesTurn(_ node: Int) -> Bool {
        settle(node)
        return ahead.hasSettled(node, entry)
    }

    /// Performs a node's pending decision, so that the node can be used again. This happens early if another event
    /// comes first that was unknown at the start of the window.
    mutating func settle(_ node: Int) {
        guard let hasActions = ahead.takeTurn(of: node) else { return }
        touch(node)
        guard hasActions else { return }
        perform(node)
        Medium.goOn(node, on: nil, in: &self)
    }

    // MARK: Disks

    private mutating func write(_ batch: StoreBatch, _ node: Int) {
        guard !nodes[node].isEnding else { return nodes[node].disk.final = batch }
        nodes[node].disk.writing = batch
        let time = Medium.beginWrite(node, in: &self)
        timeline.schedule(
            .written(node: node, life: nodes[node].life), at: max(now, nodes[node].disk.hangsUntil) + time)
    }

    private mutating func written(_ node: Int, _ life: Int) {
        guard nodes[node].life == life, nodes[node].core != nil, let batch = nodes[node].disk.writing else { return }
        guard nodes[node].disk.hangsUntil <= now else {
            return timeline.schedule(.written(node: node, life: life), at: nodes[node].disk.hangsUntil)
        }
        nodes[node].disk.writing = nil
        let isRefused = now < nodes[node].disk.refusesUntil
        if !isRefused { Medium.commit(batch, of: node, in: &self) }
        guard !nodes[node].isEnding else { return }
        if isRefused {
            trace(node, "its disk refuses a write")
            feed(.writeFailed(NodeStoreError(.diskFull, cause: "no space is left")), node)
        } else if !takesTurn(node) {
            feed(.written, node)
        }
        Medium.wrote(node, isRefused: isRefused, in: &self)
    }

    /// A write is on a disk.
    mutating func store(_ batch: StoreBatch, _ node: Int) {
        do {
            try nodes[node].disk.content.apply(batch)
        } catch {
            broken(.leftOut, node, "no store takes its write: \(error)")
        }
    }

    // MARK: Timers

    private mutating func ticks(_ node: Int) {
        // An earlier tick has replaced this one.
        guard nodes[node].timer == now, !nodes[node].isEnding else { return }
        nodes[node].timer = .max
        guard !takesTurn(node), let due = deadline(of: node) else { return }
        if due <= now { feed(.tick, node) } else { touch(node) }
    }

    private func deadline(of node: Int) -> Int? {
        nodes[node].core?({ $0.deadline }).map { ($0 - nodes[node].clockLead).microseconds }
    }

    /// Marks a node, since its deadline may have changed.
    mutating func touch(_ node: Int) {
        if !touched.contains(node) { touched.append(node) }
    }

    /// Schedules the next ticks of all nodes that took part in the last event, once for each. A tick that comes too early
    /// checks the deadline again.
    mutating func refreshTimers() {
        for node in touched {
            guard let due = deadline(of: node).map({ max($0, now) }), due < nodes[node].timer else { continue }
            // If a node does not handle its deadline, this would go on forever, and a core in the car would run at full
            // load.
            nodes[node].spins = due == now ? nodes[node].spins + 1 : 0
            guard nodes[node].spins < 10_000 else {
                broken(.overLimit, node, "10,000 ticks without end at one time")
                continue
            }
            nodes[node].timer = due
            timeline.schedule(.ticks(node: node), at: due)
        }
        touched.removeAll(keepingCapacity: true)
    }

    // MARK: Trace

    func trace(_ node: Int, _ text: @autoclosure () -> String) { log?("\(seconds) \(nodes[node].name): \(text())") }

    func trace(_ text: @autoclosure () -> String) { log?("\(seconds) \(text())") }

    private var seconds: String {
        let fraction = String(now % 1_000_000)
        return "\(now / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// An invariant is violated.
    mutating func broken(_ invariant: Invariant, _ who: String, _ what: String) {
        violationCount += 1
        guard violations.count < Medium.keptViolations else { return }
        violations.append(Violation(invariant: invariant, who: who, what: what, time: instant))
        trace("BROKEN \(invariant) at \(who): \(what)")
    }

    mutating func broken(_ invariant: Invariant, _ node: Int, _ what: String) {
        broken(invariant, nodes[node].name, what)
    }

    /// Checks that all quantities that a peer can influence stay within their limits.
    mutating func checkLimits(of node: Int, channels: Int, peers: Int) {
        guard let footprint = nodes[node].core?({ $0.footprint }) else { return }
        for what in footprint.excess(channels: channels, peers: peers) { broken(.overLimit, node, what) }
    }

    /// Reports what a check has found, if it has.
    mutating func report(_ finding: Finding?, _ who: String) {
        if let finding { broken(finding.0, who, finding.1) }
    }
}
