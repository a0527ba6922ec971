// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// One run of a field.
public struct FieldRun: Sendable {
    /// The field's parameters.
    public let scenario: FieldScenario
    private let log: (@Sendable (String) -> Void)?
    private let timeline: Bool
    private let threads: Int

    /// A run. `log` gets a line for each event. With `timeline`, the run records how the field connects, if all nodes
    /// have one host. More `threads` finish sooner, with the same result.
    public init(
        _ scenario: FieldScenario, timeline: Bool = false, threads: Int = 1, log: (@Sendable (String) -> Void)? = nil
    ) {
        self.threads = threads
        self.scenario = scenario
        self.timeline = timeline
        self.log = log
    }

    /// All nodes join, all guests vote, and then a tenth of the guests are killed at once. `draw` gets a picture as
    /// SVG, with each node and its parent, when all have joined.
    public func run(draw: ((String) -> Void)? = nil) -> FieldMetrics {
        var run = FieldPhases(scenario, timeline: timeline, threads: threads, log: log)
        run.join()
        draw?(FieldPicture(run.field).svg)
        run.vote()
        run.lose(percent: 10)
        return run.finish()
    }

    /// All nodes join, and then people vote from time to time, each of them `votes` times an hour on average.
    public func hour(_ minutes: Int = 60, votes: Int = 4) -> FieldMetrics {
        var run = FieldPhases(scenario, timeline: timeline, threads: threads, log: log)
        run.join()
        run.pass(minutes: minutes, votes: votes)
        return run.finish()
    }
}

/// The phases of a run, and their measurements.
struct FieldPhases {
    private(set) var field: Field
    private(set) var metrics = FieldMetrics()

    private static let second = 1_000_000
    /// Time for all to join, for votes to arrive, and for the rest to find a route.
    private static let patience = 180 * second
    /// Time between two checks.
    private static let look = second / 50

    /// How the field connects, if the run records it.
    private var timeline: FieldTimeline?

    init(
        _ scenario: FieldScenario, timeline: Bool = false, threads: Int = 1, log: ((String) -> Void)? = nil
    ) {
        self.timeline = timeline && scenario.party == nil ? FieldTimeline() : nil
        field = Field(scenario, threads: threads, log: log)
        metrics.nodes = scenario.nodes
        metrics.guests = field.guests.count
        metrics.relays = field.nodes.count { $0.isRelay }
    }

    /// Runs until all of these guests have joined, or the time is over. Returns when each of them first had.
    private mutating func wait(for guests: [Int]) -> [Int: Int] {
        let limit = field.now + Self.patience
        var joined: [Int: Int] = [:]
        while field.now < limit {
            field.run(until: field.now + Self.look)
            timeline?.look(at: field)
            let missing = Set(field.missing(of: guests))
            for guest in guests where joined[guest] == nil && !missing.contains(guest) { joined[guest] = field.now }
            if missing.isEmpty { break }
        }
        for guest in field.missing(of: guests) {
            let route = field.hops(of: guest).map { "\($0) hops" } ?? "no route"
            field.trace(guest, "is missing: \(route), shows state \(field.people.revision(guest))")
        }
        return joined
    }

    mutating func join() {
        // By then the nodes that start later exist, too.
        field.run(until: Self.second)
        let guests = field.inReach()
        metrics.cutOff = field.guests.count - guests.count
        let joined = wait(for: guests)
        timeline?.addPaths(of: field)
        metrics.joined = joined.count
        metrics.joinTime = joined.count == guests.count ? joined.values.max().map { .microseconds($0) } : nil
        metrics.joinMedian = Array(joined.values).median.map { .microseconds($0) }
        // After this, delayed work is done and the links are idle.
        field.run(until: field.now + 10 * Self.second)
        let (bytes, links, time) = (field.bytes(), openLinks, 10 * Self.second)
        field.run(until: field.now + time)
        metrics.idleBytes =
            Double(field.bytes() - bytes) / Double(max(1, links)) / (Double(time) / Double(Self.second))
    }

    private var openLinks: Int { field.air.connections.links.count { !$0.isOver } }

    /// All linked guests vote, one after another in random order.
    mutating func vote() {
        var voters = field.guests.filter { field.isJoined($0) }
        for place in voters.indices.reversed() { voters.swapAt(place, field.random.below(place + 1)) }
        let (start, bytes, links) = (field.now, field.bytes(), openLinks)
        for (place, voter) in voters.enumerated() {
            field.schedule(.votes(node: voter), at: start + place * Self.second / 10 + field.random.below(50_000))
        }
        let hops = Dictionary(uniqueKeysWithValues: voters.map { ($0, field.hops(of: $0) ?? 0) })
        field.run(until: start + voters.count * Self.second / 10 + 5 * Self.second)
        let seconds = Double(field.now - start) / Double(Self.second)
        let idle = metrics.idleBytes * Double(links) * seconds
        metrics.bytesPerVote =
            (Double(field.bytes() - bytes) - idle) / Double(max(1, links)) / Double(max(1, voters.count))
        let limit = field.now + Self.patience
        while field.now < limit, !voters.allSatisfy({ field.people.isAnswered($0) }) {
            field.run(until: field.now + Self.look)
        }
        metrics.votes = voters.count
        metrics.counted = voters.count { field.people.vote($0)?.counted != nil }
        note(voters, hops)
        field.checkVotes()
    }

    private mutating func note(_ voters: [Int], _ hops: [Int: Int]) {
        let byHops = Dictionary(grouping: voters) { hops[$0] ?? 0 }
        metrics.distances = byHops.sorted { $0.key < $1.key }.map { hops, voters in
            func median(_ time: (FieldPeople.Vote) -> Int?) -> Duration? {
                voters.compactMap { voter in
                    field.people.vote(voter).flatMap { vote in time(vote).map { $0 - vote.cast } }
                }.median.map { .microseconds($0) }
            }
            return FieldMetrics.Distance(
                hops: hops, nodes: voters.count, counted: median(\.counted), confirmed: median(\.confirmed))
        }
        metrics.seenByAll = voters.compactMap { field.people.delayUntilAllSee($0) }.median.map { .microseconds($0) }
    }

    /// Kills some guests at once.
    mutating func lose(percent: Int) {
        var guests = field.guests
        metrics.gone = guests.count * percent / 100
        let start = field.now
        for _ in 0..<metrics.gone { field.kill(guests.remove(at: field.random.below(guests.count))) }
        let left = field.inReach()
        let orphans = left.filter { field.hops(of: $0) == nil }
        metrics.orphans = orphans.count
        let joined = wait(for: left)
        guard joined.count == left.count else { return }
        metrics.repairTime = .microseconds(field.now - start)
        metrics.repairMedian = orphans.compactMap { joined[$0] }.median.map { .microseconds($0 - start) }
    }

    /// Time passes: people vote from time to time, and the moving nodes move.
    mutating func pass(minutes: Int, votes: Int) {
        let losses = field.people.losses
        var (samples, connected) = (0, 0)
        for _ in 0..<minutes * 60 {
            let chances = field.guests.count * votes
            for _ in 0..<chances / 3_600 + (field.random.below(3_600) < chances % 3_600 ? 1 : 0) {
                guard let voter = field.random.pick(field.guests), field.people.isAnswered(voter) else { continue }
                metrics.votes += 1
                field.schedule(.votes(node: voter), at: field.now + field.random.below(Self.second))
            }
            field.run(until: field.now + Self.second)
            guard field.now / Self.second % 10 == 0 else { continue }
            let guests = field.inReach()
            samples += guests.count
            connected += guests.count { field.isJoined($0) }
        }
        metrics.connected = samples == 0 ? nil : 100 * Double(connected) / Double(samples)
        metrics.losses =
            Double(field.people.losses - losses) / Double(max(1, field.guests.count))
        // All nodes stop moving, and data in transit arrive.
        field.air.stopMoving()
        _ = wait(for: field.inReach())
        let limit = field.now + Self.patience
        while field.now < limit, !field.inReach().allSatisfy({ field.people.isAnswered($0) }) {
            field.run(until: field.now + Self.second)
        }
        metrics.counted = metrics.votes - field.guests.count { !field.people.isAnswered($0) }
        field.checkVotes()
    }

    mutating func finish() -> FieldMetrics {
        field.checkLimits()
        metrics.simulated = .microseconds(field.now)
        metrics.events = field.steps
        metrics.sdus = field.sdus
        metrics.hash = field.fingerprint
        metrics.timeline = timeline?.lines ?? []
        metrics.violations = field.violations.map { "\($0.who) at \($0.time / .seconds(1)) s: \($0.what)" }
        metrics.violationCount = field.violationCount
        return metrics
    }
}
