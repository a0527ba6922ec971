// SPDX-License-Identifier: Apache-2.0

import MeshSimulator

/// Replays a drive in the simulator: the product's protocol and reconnect policy, on virtual time, with a check of
/// every invariant (`docs/simulator.md`).
public struct SimulatedDrive: Sendable {
    /// The result.
    public struct Result: Sendable {
        /// Totals of all runs.
        public var figures = Figures()
        /// The number of runs.
        public var runs = 0
        /// The first invariant that was violated, with the seed of its run.
        public var violation: (seed: UInt64, violation: Violation)?
    }

    let road: Road

    /// Makes a replay of this script.
    public init(_ script: AirScript) {
        road = script.road
    }

    /// Replays it once for each seed, several at a time, until an invariant is violated. Calls `progress` with the
    /// number of finished runs after each.
    public func run(seeds: ClosedRange<UInt64>, progress: (_ done: Int) -> Void = { _ in }) async -> Result {
        await withTaskGroup(of: Outcome.self) { group in
            var result = Result()
            var next = seeds.makeIterator()
            func startNext() {
                if let seed = next.next() { group.addTask { [road] in Simulation(seed: seed, road: road).run() } }
            }
            for _ in 0..<Self.width { startNext() }
            for await outcome in group {
                result.figures += outcome.figures
                result.runs += 1
                progress(result.runs)
                if let violation = outcome.violation, outcome.scenario.seed < result.violation?.seed ?? .max {
                    result.violation = (outcome.scenario.seed, violation)
                }
                guard result.violation == nil else { continue }
                startNext()
            }
            return result
        }
    }

    /// Concurrent runs. Each needs one thread and some megabytes.
    private static let width = 4
}
