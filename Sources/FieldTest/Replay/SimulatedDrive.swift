// SPDX-License-Identifier: Apache-2.0

import MeshSimulator

/// A drive, driven again in the simulator: the product's protocol and reconnect policy, in virtual time, with a
/// bookkeeper that checks every invariant (`docs/simulator.md`).
public struct SimulatedDrive: Sendable {
    /// What came of it.
    public struct Result: Sendable {
        /// How much happened in all runs.
        public var figures = Figures()
        /// How many runs there were.
        public var runs = 0
        /// The first invariant that was violated, with the seed of its run.
        public var violation: (seed: UInt64, violation: Violation)?
    }

    let road: Road

    /// A drive to be driven again.
    public init(_ script: AirScript) {
        road = script.road
    }

    /// Drives it once for each seed, as many at a time as there are tasks for, until an invariant is violated. `progress` is
    /// told how many runs are done, after each.
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

    /// Runs at a time. Each is one thread's work and some megabytes.
    private static let width = 4
}
