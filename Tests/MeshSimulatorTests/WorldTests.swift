// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import MeshSimulator

@Suite("Worlds in which everything goes wrong")
struct WorldTests {
    @Test("In two dozen worlds every promise holds", arguments: [1...8, 9...16, 17...24] as [ClosedRange<UInt64>])
    func promisesHold(seeds: ClosedRange<UInt64>) {
        for seed in seeds {
            let outcome = Simulation(seed: seed).run()
            #expect(outcome.violation == nil, "mesh-simulator --seeds \(seed) --trace")
        }
    }

    @Test("A world without faults connects everybody, and every message that was taken arrives")
    func calm() throws {
        // With eleven kinds one seed in some two thousand has none.
        let seed = (UInt64(1)...100_000).first { Scenario(seed: $0).faults.isEmpty }
        let outcome = try Simulation(seed: #require(seed)).run()
        #expect(outcome.violation == nil)
        #expect(outcome.figures.faults.isEmpty)
        #expect(outcome.figures.safe > 0)
        #expect(outcome.figures.safe + outcome.figures.refused == outcome.figures.cast)
    }

    @Test("The smallest car and a full bus: 2 nodes and 16 nodes", arguments: [2, 16])
    func sizes(nodes: Int) {
        let outcome = Simulation(seed: 5, nodes: nodes).run()
        #expect(outcome.scenario.nodes == nodes)
        #expect(outcome.violation == nil)
        #expect(outcome.figures.connections >= 2 * (nodes - 1))
    }

    @Test("A seed leads to the same run, step by step, whether somebody watches or not")
    func sameSeedSameRun() {
        for seed in UInt64(40)...41 {
            var first: [String] = []
            var second: [String] = []
            let outcome = Simulation(seed: seed).run { first.append($0) }
            #expect(Simulation(seed: seed).run { second.append($0) } == outcome)
            #expect(Simulation(seed: seed).run() == outcome)
            #expect(first == second)
        }
    }

    @Test("Other seeds lead to other runs")
    func otherSeedOtherRun() {
        #expect(Set((UInt64(50)...57).map { Simulation(seed: $0, nodes: 2).run().hash }).count == 8)
    }

    @Test("A failure names its promise, and its last line is what broke it")
    func failureIsTold() throws {
        let simulation = Simulation(seed: 1, bug: .acknowledgesUnstored)
        let violation = try #require(simulation.run().violation)
        #expect(violation.promise == .acknowledgedButLost)
        let lines = simulation.lastLines(5)
        #expect(lines.contains { $0.contains("BROKEN acknowledgedButLost at \(violation.who): \(violation.what)") })
        #expect((1...5).contains(lines.count))
    }
}

@Suite("Bugs that are planted")
struct PlantedBugTests {
    /// A world that finds each of them, so that it need not be looked for.
    static let seeds: [PlantedBug: UInt64] = [
        .acknowledgesUnstored: 1, .acknowledgesOneTooMany: 1, .ignoresDelivered: 3, .confirmsOldNumbers: 227,
        .keepsDuplicates: 1, .dropsOutbox: 1, .keepsEpoch: 42, .keepsOldLink: 2, .keepsLatest: 3,
        .keepsLatestNumbers: 1, .keepsFragments: 11, .countsNoStrangers: 7, .believesReplays: 2, .tellsAfterEnd: 13,
        .keepsLinks: 1, .growsOutbox: 37, .refusesReturning: 3, .leavesUnstored: 47,
    ]

    @Test("A planted bug is found", arguments: PlantedBug.allCases)
    func isFound(bug: PlantedBug) {
        let known = Self.seeds[bug].map { [$0] } ?? []
        // Another world finds it where the protocol has changed since.
        let found = (known + Array(1...1_000)).first { Simulation(seed: $0, bug: bug).run().violation != nil }
        #expect(found != nil)
    }

    @Test("The worlds that find them find nothing where nothing is planted")
    func nothingPlanted() {
        // The first ones are run without a bug anyway.
        for seed in Set(Self.seeds.values).sorted() where seed > 24 {
            #expect(Simulation(seed: seed).run().violation == nil)
        }
    }
}
