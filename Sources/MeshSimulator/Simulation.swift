// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// One run of a world.
public struct Simulation: Sendable {
    /// What is there and what will go wrong.
    public let scenario: Scenario

    /// The world of a seed. `nodes` overrides how many there are, from 2 to 16, and `faults` what goes wrong.
    public init(seed: UInt64, nodes: Int? = nil, faults: [Scenario.Fault]? = nil) {
        scenario = Scenario(seed: seed, nodes: nodes, faults: faults)
    }

    /// A world that was drawn.
    public init(_ scenario: Scenario) { self.scenario = scenario }

    /// The world of a seed in which a guest is driven along a road.
    public init(seed: UInt64, road: Road) {
        scenario = Scenario(seed: seed, road: road)
    }

    /// Runs it to its end. `log` gets a line for everything that happens.
    public func run(log: ((String) -> Void)? = nil) -> Outcome {
        var world = World(scenario, log: log)
        world.run()
        return Outcome(
            scenario: scenario, hash: world.hash.value, violation: world.violation, figures: world.figures)
    }

    /// Runs it to its end and returns so many of the last lines of what happened.
    public func lastLines(_ count: Int) -> [String] {
        var lines: [String] = []
        _ = run { line in
            lines.append(line)
            if lines.count > 2 * count { lines.removeFirst(count) }
        }
        return lines.suffix(count)
    }
}

/// What came of a run.
public struct Outcome: Hashable, Sendable {
    /// The world that ran.
    public let scenario: Scenario
    /// A hash of everything that happened, in order: the same for the same seed, everywhere.
    public let hash: UInt64
    /// The first invariant that was violated. Nil where all were kept.
    public let violation: Violation?
    /// How much happened.
    public let figures: Figures
}

/// An invariant that was violated.
public struct Violation: Hashable, Sendable {
    /// Which one.
    public let invariant: Invariant
    /// The node that noticed.
    public let who: String
    /// What exactly.
    public let what: String
    /// When, in virtual time.
    public let time: Duration
}

/// How much happened in a run, or in many.
public struct Figures: Hashable, Sendable {
    /// Events.
    public var steps = 0
    /// Virtual time.
    public var time: Duration = .zero
    /// Links that came up, counted at both ends.
    public var connections = 0
    /// Links that were given to browsers.
    public var visits = 0
    /// SDUs that arrived.
    public var sdus = 0
    /// What people have wished of a song.
    public var wishes = 0
    /// Those of them whose people were told that they are fulfilled.
    public var confirmed = 0
    /// Covers that guests have got over the air.
    public var covers = 0
    /// Those of them whose people were told that they are not.
    public var rejected = 0
    /// Writes that a disk has refused.
    public var refusedWrites = 0
    /// Faults that happened, by kind.
    public var faults: [Scenario.Fault: Int] = [:]
    /// From the end of the faults until everybody was connected and everything had arrived. Of many runs, the longest.
    public var recovery: Duration = .zero

    /// Nothing has happened.
    public init() {}

    /// Adds what has happened in another run.
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
