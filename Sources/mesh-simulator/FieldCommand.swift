// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import MeshSimulator

/// Runs fields of up to a thousand nodes on the ground, and prints the measurements.
struct FieldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "field",
        abstract:
            "Run fields: many nodes with radios of limited range, which join, vote, and lose a tenth of the nodes.",
        discussion: """
            The exit code is 1 if a node in reach did not join, a vote was not counted, or something \
            broke a promise.
            """)

    @Option(
        help: ArgumentHelp(
            "How many nodes there are: 200, or 10...1000 for 10, 20, 50, 100, 200, 500 and 1,000 of them.",
            valueName: "range"))
    var nodes = NodeRange(all: 10...1_000)

    @Option(help: "How they are placed: \(FieldLayout.allCases.map(\.rawValue).joined(separator: ", ")).")
    var layout = FieldLayout.line

    @Option(help: "How many guests in a hundred relay.")
    var relays = 50

    @Option(help: "How many nodes in a hundred move now and then.")
    var movers = 0

    @Option(help: "How many nodes in a row share a host; by default all.")
    var party: Int?

    @Option(help: "The seed of all random decisions.")
    var seed: UInt64 = 1

    @Option(help: "Run this many minutes in which people vote now and then, instead of the votes and the loss.")
    var minutes: Int?

    @Option(help: "How often a guest votes in an hour of these, on average.")
    var votes = 4

    @Option(help: "How many threads decide for the nodes. The results are the same with any number.")
    var threads = min(2, ProcessInfo.processInfo.activeProcessorCount)

    @Flag(help: "Print the latency of votes at each distance from the host.")
    var distances = false

    @Flag(help: "Print how the field forms: which nodes join when, and how long each level of the tree takes.")
    var timeline = false

    @Option(help: ArgumentHelp("Draw the last field into this file when all have joined, as SVG.", valueName: "file"))
    var picture: String?

    @Flag(help: "Print which nodes hear, dial and lose which others.")
    var trace = false

    @Sendable private static func tell(_ line: String) { print(line) }

    func run() async throws {
        var drawn: String?
        var table = FieldTable(isHour: minutes != nil)
        print(table.head)
        for count in nodes.steps {
            var scenario = FieldScenario(nodes: count, layout: layout)
            (scenario.relays, scenario.movers, scenario.party, scenario.seed) = (relays, movers, party, seed)
            let clock = ContinuousClock()
            let start = clock.now
            let run = FieldRun(
                scenario, timeline: timeline, threads: max(1, threads), log: trace ? Self.tell : nil)
            let metrics = minutes.map { run.hour($0, votes: votes) } ?? run.run { drawn = $0 }
            print(table.row(metrics, wall: clock.now - start))
            if distances { print(table.distances(metrics)) }
            for line in metrics.timeline { print(line) }
        }
        if let picture, let drawn { try drawn.write(toFile: picture, atomically: true, encoding: .utf8) }
        if table.failures > 0 { throw ExitCode(1) }
    }
}

extension FieldLayout: ExpressibleByArgument {}

/// A range of node counts on the command line.
struct NodeRange: ExpressibleByArgument, Sendable {
    let all: ClosedRange<Int>

    init(all: ClosedRange<Int>) { self.all = all }

    init?(argument: String) {
        let dots = argument.firstRange(of: "...")
        let first = Int(dots.map { argument[..<$0.lowerBound] } ?? argument[...])
        let last = dots.map { Int(argument[$0.upperBound...]) } ?? first
        guard let first, let last, first >= 2, first <= last, last <= 10_000 else { return nil }
        all = first...last
    }

    /// 10, 20, 50, 100 and so on within the range; a single number stays as it is.
    var steps: [Int] {
        guard all.count > 1 else { return [all.lowerBound] }
        return [1, 10, 100, 1_000].flatMap { [$0, 2 * $0, 5 * $0] }.filter { all.contains($0) }
    }

    var defaultValueDescription: String { "\(all.lowerBound)...\(all.upperBound)" }
}
