// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import MeshSimulator

@Suite("The scenario of a seed")
struct ScenarioTests {
    @Test("Worlds have 2 to 16 nodes, and every kind of fault is in about every other world")
    func range() {
        let scenarios = (UInt64(1)...1_000).map { Scenario(seed: $0) }
        #expect(Set(scenarios.map(\.nodes)) == Set(2...16))
        for fault in Scenario.Fault.allCases where fault != .page {
            #expect((400...600).contains(scenarios.count { $0.faults.contains(fault) }))
        }
        let withBrowsers = scenarios.filter { $0.browsers > 0 }
        #expect((300...500).contains(withBrowsers.count))
        #expect((100...300).contains(scenarios.count { $0.faults.contains(.page) }))
        #expect(scenarios.allSatisfy { $0.browsers > 0 || !$0.faults.contains(.page) })
        #expect((100...250).contains(withBrowsers.count { $0.sharedKeys > 0 }))
        #expect(withBrowsers.allSatisfy { $0.sharedKeys <= $0.browsers && $0.sharedKeys < $0.nodes })
        #expect(scenarios.allSatisfy { $0.sduLimits.allSatisfy { $0 >= Limits.leastSDUBytes } })
        #expect(scenarios.allSatisfy { $0.credits >= 1 && $0.songs >= $0.favourites && $0.songs >= $0.opens })
    }

    @Test("The number of nodes can be set, and must be possible")
    func nodes() {
        #expect(Scenario(seed: 1, nodes: 7).nodes == 7)
        #expect(Scenario(seed: 1, nodes: 1).nodes == 2)
        #expect(Scenario(seed: 1, nodes: 99).nodes == 16)
    }

    @Test("The command that repeats a seed with its own number of nodes runs the same world")
    func sameWithNodes() {
        for seed in UInt64(1)...200 {
            let scenario = Scenario(seed: seed)
            #expect(Scenario(seed: seed, nodes: scenario.nodes) == scenario)
        }
    }

    @Test("Random numbers are those of SplitMix64, with every compiler")
    func generator() {
        var random = SeededGenerator(seed: 0)
        #expect(random.next() == 0xE220_A839_7B1D_CDAF)
        #expect(random.next() == 0x6E78_9E6A_A1B9_65F4)
        #expect((0..<1_000).allSatisfy { _ in (3...9).contains(random.pick(3...9)) })
        #expect(random.pick([Int]()) == nil)
        #expect(random.bytes(13).count == 13)
        #expect((0..<100).allSatisfy { _ in !random.chance(0) && random.chance(100) })
    }

    @Test("A trace's hash is FNV-1a with 64 bits")
    func hash() {
        var hash = TraceHash()
        #expect(hash.value == 0xCBF2_9CE4_8422_2325)
        hash.add("a")
        #expect(hash.value == 0xAF63_DC4C_8601_EC8C)
    }

    @Test("The seed draws the order of events at the same time")
    func order() {
        let orders = ([1, 1, 2] as [UInt64]).map { seed -> [Int] in
            var timeline = Timeline<Int>(seed: seed, drawsOrder: true)
            for event in 0..<50 { timeline.schedule(event, at: 7) }
            var order: [Int] = []
            while let entry = timeline.next() { order.append(entry.event) }
            return order
        }
        #expect(orders[0] == orders[1] && orders[0] != orders[2])
        #expect(orders.allSatisfy { $0.sorted() == Array(0..<50) })
    }
}
