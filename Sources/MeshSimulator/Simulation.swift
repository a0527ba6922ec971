// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// One run of a world.
public struct Simulation: Sendable {
    /// The world's parameters and its faults.
    public let scenario: Scenario

    /// The world of a seed. `nodes` overrides the number of nodes, from 2 to 16, and `faults` the faults.
    public init(seed: UInt64, nodes: Int? = nil, faults: [Scenario.Fault]? = nil) {
        scenario = Scenario(seed: seed, nodes: nodes, faults: faults)
    }

    /// The world of a scenario.
    public init(_ scenario: Scenario) { self.scenario = scenario }

    /// The world of a seed in which a guest is driven along a road.
    public init(seed: UInt64, road: Road) {
        scenario = Scenario(seed: seed, road: road)
    }

    /// Runs the world to its end. `log` gets a line for each event.
    public func run(log: ((String) -> Void)? = nil) -> Outcome {
        var world = World(scenario, log: log)
        world.run()
        return Outcome(
            scenario: scenario, hash: world.hash.value, violation: world.violations.first,
            figures: world.people.figures,
            unconfirmed: world.people.wishes.unconfirmed)
    }

    /// Runs the world to its end and returns the last lines of its log.
    public func lastLines(_ count: Int) -> [String] {
        var lines: [String] = []
        _ = run { line in
            lines.append(line)
            if lines.count > 2 * count { lines.removeFirst(count) }
        }
        return lines.suffix(count)
    }
}

/// The result of a run.
public struct Outcome: Hashable, Sendable {
    /// The world that ran.
    public let scenario: Scenario
    /// A hash of all events, in order. The same seed gives the same hash on all machines.
    public let hash: UInt64
    /// The first violated invariant. Nil if there was none.
    public let violation: Violation?
    /// The counters of the run.
    public let figures: Figures
    /// Wishes for songs without a confirmation, by their times.
    public let unconfirmed: [UnconfirmedWish]
}

/// An invariant that was violated.
public struct Violation: Hashable, Sendable {
    /// The invariant.
    public let invariant: Invariant
    /// The node that noticed it.
    public let who: String
    /// A description.
    public let what: String
    /// The virtual time.
    public let time: Duration
}

/// Counters of one run, or of many.
public struct Figures: Hashable, Sendable {
    /// Number of events.
    public var steps = 0
    /// Virtual time.
    public var time: Duration = .zero
    /// Links that came up, counted at both ends.
    public var connections = 0
    /// Links that were given to browsers.
    public var visits = 0
    /// SDUs that arrived.
    public var sdus = 0
    /// Wishes of people for a song.
    public var wishes = 0
    /// Wishes that were confirmed to their people.
    public var confirmed = 0
    /// Covers that guests have received over the air.
    public var covers = 0
    /// Wishes that were rejected.
    public var rejected = 0
    /// Writes that a disk has refused.
    public var refusedWrites = 0
    /// Faults that happened, by kind.
    public var faults: [Scenario.Fault: Int] = [:]
    /// Time from the end of the faults until all nodes were connected and everything had arrived. Of many runs, the
    /// longest.
    public var recovery: Duration = .zero

    /// All counters are zero.
    public init() {}

    /// Adds the counters of another run.
    public static func += (sum: inout Figures, more: Figures) {
        sum.steps += more.steps
        sum.time += more.time
        sum.connections += more.connections
        sum.visits += more.visits
        sum.sdus += more.sdus
        sum.wishes += more.wishes
        sum.confirmed += more.confirmed
        sum.covers += more.covers
        sum.rejected += more.rejected
        sum.refusedWrites += more.refusedWrites
        sum.faults.merge(more.faults, uniquingKeysWith: +)
        sum.recovery = max(sum.recovery, more.recovery)
    }
}
