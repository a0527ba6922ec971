// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import MeshSimulator

@Suite("Worlds with all faults")
struct WorldTests {
    @Test("In a dozen worlds every invariant holds", arguments: [1...6, 7...12] as [ClosedRange<UInt64>])
    func promisesHold(seeds: ClosedRange<UInt64>) {
        for seed in seeds {
            let outcome = Simulation(seed: seed).run()
            #expect(outcome.violation == nil, "mesh-simulator --seeds \(seed) --trace")
        }
    }

    @Test("In a world without faults all nodes are connected, and every wish has its answer")
    func calm() {
        let outcome = Simulation(Scenario(seed: 3, nodes: 4, faults: [])).run()
        #expect(outcome.violation == nil)
        #expect(outcome.figures.faults.isEmpty && outcome.figures.refusedWrites == 0)
        #expect(outcome.figures.connections == 6)
        #expect(outcome.figures.confirmed > 0)
        #expect(outcome.figures.confirmed + outcome.figures.rejected <= outcome.figures.wishes)
    }

    @Test("In a calm world all browsers are admitted and answered, one of them with the key of a guest by radio")
    func calmBrowsers() throws {
        let scenarios = (UInt64(1)...100).map { Scenario(seed: $0, nodes: 3, faults: []) }
        let scenario = try #require(scenarios.first { $0.browsers == 6 && $0.sharedKeys == 1 && $0.burst < 10 })
        let outcome = Simulation(scenario).run()
        #expect(outcome.violation == nil)
        #expect(outcome.figures.visits == 6 && outcome.figures.connections == 4)
        #expect(outcome.figures.confirmed > 0)
    }

    @Test("The smallest car and a full bus: 2 nodes and 16 nodes", arguments: [2, 16])
    func sizes(nodes: Int) {
        let outcome = Simulation(seed: 5, nodes: nodes).run()
        #expect(outcome.scenario.nodes == nodes)
        #expect(outcome.violation == nil)
        #expect(outcome.figures.connections >= 2 * (nodes - 1))
    }

    @Test("A guest that comes back while the host's disk hangs sees every later state")
    func backDuringAWrite() {
        #expect(Simulation(seed: 316).run().violation == nil)
    }

    @Test("A guest that forgets its host's key while that host comes back gets no results that its old messages undo")
    func forgottenDuringAWrite() {
        #expect(Simulation(seed: 12_425).run().violation == nil)
    }

    @Test("A seed gives the same run, step by step, with or without a log")
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

    @Test("Other seeds give other runs")
    func otherSeedOtherRun() {
        #expect(Set((UInt64(50)...57).map { Simulation(seed: $0, nodes: 2).run().hash }).count == 8)
    }

    @Test("A failure names its invariant, and its last line is the violation")
    func failureIsTold() throws {
        var lines: [String] = []
        var world = World(Scenario(seed: 1, nodes: 2), log: { lines.append($0) })
        world.broken(.wrongVote, "Guest 1", "a vote")
        world.broken(.forged, "Guest 1", "what comes later does not count")
        let violation = try #require(world.violations.first)
        #expect(violation.invariant == .wrongVote && violation.who == "Guest 1" && violation.what == "a vote")
        #expect(lines == ["0.000000 BROKEN wrongVote at Guest 1: a vote"])
    }
}
