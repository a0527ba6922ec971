// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSimulator

/// Reports the results of many worlds in sentences.
struct RunReport {
    /// How many failures are reported in full. The report shows only the seed and the command of the others.
    private static let toldInFull = 5
    /// How many of the last lines of a failed world are shown.
    private static let lastLines = 25

    let nodes: Int?
    let printsHashes: Bool
    private(set) var failures = 0
    private var worlds = 0
    private var fewest = Int.max
    private var most = 0
    private var total = Figures()
    private var slowest: (recovery: Duration, seed: UInt64) = (.zero, 0)
    private var hash = TraceHash()

    init(nodes: Int?, printsHashes: Bool) {
        self.nodes = nodes
        self.printsHashes = printsHashes
    }

    mutating func add(_ outcome: Outcome) {
        let scenario = outcome.scenario
        worlds += 1
        fewest = min(fewest, scenario.nodes)
        most = max(most, scenario.nodes)
        total += outcome.figures
        hash.add(outcome.hash)
        if outcome.figures.recovery > slowest.recovery { slowest = (outcome.figures.recovery, scenario.seed) }
        if printsHashes { print("\(scenario.seed) \(hexadecimal(outcome.hash))") }
        guard let violation = outcome.violation else { return }
        failures += 1
        tell(violation, in: scenario)
    }

    private func tell(_ violation: Violation, in scenario: Scenario) {
        let command = command(scenario)
        guard failures <= Self.toldInFull else {
            print("Seed \(scenario.seed), too: \(violation.invariant). Run it again: \(command)")
            return
        }
        print(
            """
            Seed \(scenario.seed) violates an invariant, \(violation.invariant): \(violation.invariant.rawValue)
              \(violation.who) at \(violation.time.inSeconds(6)): \(violation.what)
              The last events there:
            """)
        let simulation = Simulation(scenario)
        for line in simulation.lastLines(Self.lastLines) { print("    \(line)") }
        print("  Run it again: \(command)")
    }

    /// Returns the command that repeats one seed. It names the number of nodes, since a seed alone may draw another
    /// number.
    private func command(_ scenario: Scenario) -> String {
        let isDrawn = Scenario(seed: scenario.seed).faults == scenario.faults
        let all = scenario.faults == Scenario.Fault.allCases
        let named = all ? " --every-fault" : " --faults " + scenario.faults.map { "\($0)" }.joined(separator: " ")
        let faults = isDrawn ? "" : named
        let hasItsReach = Scenario(seed: scenario.seed, nodes: scenario.nodes).reach == scenario.reach
        let relays = hasItsReach ? "" : " --relays"
        return "mesh-simulator --seeds \(scenario.seed) --nodes \(scenario.nodes)\(relays)\(faults) --trace"
    }

    func finish(after time: Duration) {
        let nodes = fewest == most ? "\(most) nodes" : "\(fewest) to \(most) nodes"
        let faults = Scenario.Fault.allCases.compactMap { fault in
            total.faults[fault].map { "\(fault.rawValue) \($0.grouped)" }
        }
        print(
            """
            \(worlds.grouped) \(worlds == 1 ? "world" : "worlds") of \(nodes) ran in \(time.inSeconds(1)), \
            for \(total.time.inSeconds(0)) of their own time and \(total.steps.grouped) steps.
            \((total.connections / 2).grouped) links came up and carried \(total.sdus.grouped) SDUs; \
            browsers were admitted \(total.visits.grouped) times. \
            \(total.wishes.grouped) wishes were made, \(total.confirmed.grouped) were confirmed, \(total.rejected.grouped) rejected, \
            disks refused \(total.refusedWrites.grouped) writes, and \(total.covers.grouped) covers went over the air.
            Faults: \(faults.isEmpty ? "nothing" : faults.joined(separator: ", ")).
            """)
        if slowest.recovery > .zero {
            print(
                "After the faults everything was in order within \(slowest.recovery.inSeconds(1)) "
                    + "(the slowest is seed \(slowest.seed)).")
        }
        print("\(verdict) The hash of the run is \(hexadecimal(hash.value)).")
    }

    private var verdict: String {
        switch failures {
        case 0: "Every invariant held."
        case 1: "An invariant was violated in one world."
        default: "An invariant was violated in \(failures.grouped) worlds."
        }
    }

    private func hexadecimal(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Int {
    /// The number with commas between thousands.
    fileprivate var grouped: String {
        let digits = String(self)
        return String(
            digits.enumerated().flatMap { place, digit in
                place > 0 && (digits.count - place) % 3 == 0 ? [",", digit] : [digit]
            })
    }
}

extension Duration {
    /// The duration in seconds, with this many digits after the point.
    fileprivate func inSeconds(_ digits: Int) -> String {
        guard digits > 0 else { return "\(Int(components.seconds).grouped) s" }
        let fraction = String(components.attoseconds / 1_000_000_000_000)
        let padded = String(repeating: "0", count: 6 - fraction.count) + fraction
        return "\(Int(components.seconds).grouped).\(padded.prefix(digits)) s"
    }
}
