// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
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
        /// Wishes that were not confirmed, each with the number of runs in which that happened, by their times.
        public internal(set) var unconfirmed: [(wish: UnconfirmedWish, runs: Int)] = []
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
                result.add(outcome.unconfirmed)
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

extension SimulatedDrive.Result {
    /// Adds the wishes of a run. The same wish with the same reason in several runs is one entry.
    mutating func add(_ wishes: [UnconfirmedWish]) {
        for wish in wishes {
            if let index = unconfirmed.firstIndex(where: { $0.wish.isLike(wish) }) {
                unconfirmed[index].runs += 1
            } else {
                unconfirmed.append((wish, 1))
            }
        }
        unconfirmed.sort { $0.wish.at < $1.wish.at }
    }

    /// Why each wish was not confirmed, in words.
    public var explanations: [String] {
        let shown = unconfirmed.prefix(FieldTestLimits.explainedWishes).map { wish, runs in
            "Not confirmed\(self.runs == 1 ? "" : " in \(runs) of \(self.runs) runs"): \(wish.sentence)"
        }
        let others = unconfirmed.count - shown.count
        return shown + (others > 0 ? ["\(others) more were not confirmed, for reasons like these."] : [])
    }
}

extension UnconfirmedWish {
    /// Whether two runs have the same wish, with the same end.
    fileprivate func isLike(_ other: UnconfirmedWish) -> Bool {
        switch (reason, other.reason) {
        // Votes of a road have the same times in all runs. Their answers do not.
        case (.replaced(let one, _), .replaced(let another, _)) where one != another: return false
        case (.replaced, .replaced): break
        default: guard reason == other.reason else { return false }
        }
        return at == other.at && kind == other.kind
    }

    /// The wish and its end in words.
    var sentence: String {
        let what =
            switch kind {
            case .vote: "the vote"
            case .takeBack: "the withdrawal of the vote"
            case .suggest: "the suggestion"
            }
        let why =
            switch reason {
            case .replaced(let kind, let after):
                "\(kind == .takeBack ? "It was taken back" : "The person changed it") \(Format.time(after / .seconds(1))) later, "
                    + "before the host had answered it. Only the last wish for a song counts."
            case .rejected(let reason): "It was rejected: \(reason.why.english)."
            case .waiting: "It still waited for the host at the end of the run."
            }
        return "\(what) at \(Format.clock(at / .seconds(1))). \(why)"
    }
}
