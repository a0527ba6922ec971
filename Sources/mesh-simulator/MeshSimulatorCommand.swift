// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import MeshProtocol
import MeshSimulator

/// Runs simulated nodes.
@main
struct MeshSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mesh-simulator",
        abstract: "Run many nodes in virtual time: small worlds with faults, or large fields.",
        subcommands: [WorldsCommand.self, FieldCommand.self], defaultSubcommand: WorldsCommand.self)
}

/// Runs small worlds, and prints the command that repeats a failed one.
struct WorldsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worlds",
        abstract: "Run simulated worlds: a host, guests, and the faults between them.",
        discussion: """
            Each seed is one world. It runs in virtual time, and always the same. The exit code is 1 if an invariant is \
            violated in any of them.
            """)

    @Option(help: ArgumentHelp("The seeds to run: 7, or 1...1000.", valueName: "range"))
    var seeds = SeedRange(all: 1...1_000)

    @Option(help: "The number of nodes, from 2 to 16, instead of the seed's.")
    var nodes: Int?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The faults, instead of the seed's: tunnel disk.", valueName: "fault"))
    var faults: [Scenario.Fault] = []

    @Flag(help: "All faults, instead of the seed's.")
    var everyFault = false

    @Flag(help: "Put nodes behind relays in every world, not only in some.")
    var relays = false

    @Option(help: "How many worlds run at the same time; by default one per core.")
    var jobs: Int?

    @Flag(help: "Print all events of the first seed, and run no other.")
    var trace = false

    @Flag(help: "End at the first world in which an invariant is violated.")
    var first = false

    @Flag(help: "Print the hash of each world.")
    var hashes = false

    func validate() throws {
        if let nodes, !(2...Limits.guests).contains(nodes) {
            throw ValidationError("There are 2 to \(Limits.guests) nodes.")
        }
        if everyFault, !faults.isEmpty { throw ValidationError("Use --every-fault or --faults, not both.") }
        if let jobs, jobs < 1 { throw ValidationError("At least one world runs at a time.") }
    }

    func run() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var report = RunReport(nodes: nodes, printsHashes: hashes)
        if trace {
            report.add(simulation(seeds.all.lowerBound).run { print($0) })
        } else {
            await runSideBySide(in: &report)
        }
        report.finish(after: clock.now - start)
        if report.failures > 0 { throw ExitCode(1) }
    }

    /// Runs several worlds in parallel, and reports on them in the order of their seeds.
    private func runSideBySide(in report: inout RunReport) async {
        let width = jobs ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let report_ = await withTaskGroup(of: Outcome.self) { [report] group in
            var report = report
            var next = seeds.all.makeIterator()
            var early: [UInt64: Outcome] = [:]
            var due = seeds.all.lowerBound
            for _ in 0..<width {
                if let seed = next.next() { group.addTask { simulation(seed).run() } }
            }
            for await outcome in group {
                early[outcome.scenario.seed] = outcome
                while let outcome = early.removeValue(forKey: due) {
                    report.add(outcome)
                    due += 1
                    if first, report.failures > 0 { return report }
                }
                if let seed = next.next() { group.addTask { simulation(seed).run() } }
            }
            return report
        }
        report = report_
    }

    private func simulation(_ seed: UInt64) -> Simulation {
        let wanted = everyFault ? Scenario.Fault.allCases : faults
        return Simulation(
            Scenario(seed: seed, nodes: nodes, faults: wanted.isEmpty ? nil : wanted, hasRelays: relays))
    }
}

extension Scenario.Fault: ExpressibleByArgument {
    /// The names of all faults.
    public static var allValueStrings: [String] { allCases.map { "\($0)" } }

    /// Parses the name of a fault.
    public init?(argument: String) {
        guard let fault = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = fault
    }
}

/// A range of seeds on the command line.
struct SeedRange: ExpressibleByArgument, Sendable {
    let all: ClosedRange<UInt64>

    init(all: ClosedRange<UInt64>) {
        self.all = all
    }

    init?(argument: String) {
        let dots = argument.firstRange(of: "...")
        let first = UInt64(dots.map { argument[..<$0.lowerBound] } ?? argument[...])
        let last = dots.map { UInt64(argument[$0.upperBound...]) } ?? first
        guard let first, let last, first <= last, last < UInt64.max else { return nil }
        all = first...last
    }

    var defaultValueDescription: String { "\(all.lowerBound)...\(all.upperBound)" }
}
