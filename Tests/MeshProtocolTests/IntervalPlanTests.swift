// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("Connection intervals of a node's links")
struct IntervalPlanTests {
    private func plan(_ handles: Range<UInt16>) -> IntervalPlan {
        var plan = IntervalPlan()
        for handle in handles { plan.opened(handle) }
        return plan
    }

    @Test("no two of up to sixteen guests have the same interval, with or without votes", arguments: 2..<17)
    func different(count: UInt16) {
        let plan = plan(0..<count)
        let all = (0..<count).compactMap { plan.intervals(of: $0) }
        #expect(Set(all.map(\.brisk)).count == Int(count))
        #expect(Set(all.map(\.calm)).count == Int(count))
    }

    @Test("no link loses more than every second event to another, at any offset of their clocks")
    func divisors() {
        for table in [Limits.fewIntervals, Limits.manyIntervals] {
            for (index, one) in table.enumerated() {
                for other in table[..<index] {
                    for (a, b) in [
                        (one.brisk, other.brisk), (one.brisk, other.calm), (one.calm, other.brisk),
                        (one.calm, other.calm),
                    ] {
                        #expect(greatestDivisor(a, b) * 2 <= min(a, b), "\(a) and \(b)")
                    }
                    #expect(one.conflict(with: other) == .none)
                }
            }
        }
    }

    @Test(
        "a relay's guests have different intervals, and none that its host has advised for its own link",
        arguments: [Limits.aloneIntervals] + Limits.fewIntervals + Limits.manyIntervals)
    func relay(advised: LinkIntervals) throws {
        for guests in UInt16(1)...14 {
            var plan = IntervalPlan()
            plan.dialled(100, intervals: nil)
            for handle in 0..<guests { plan.opened(handle) }
            plan.advised(100, advised)
            #expect(plan.intervals(of: 100) == nil)
            let all = try (0..<guests).map { try #require(plan.intervals(of: $0)) }
            #expect(Set(all.map(\.brisk)).count == Int(guests) && Set(all.map(\.calm)).count == Int(guests))
            #expect(all.allSatisfy { $0.conflict(with: advised) < .equal })
            // A relay's guests get short intervals, unless their host has more links than the short ones suffice for.
            if guests < 8 { #expect(all.allSatisfy { Limits.fewIntervals.contains($0) }) }
            // Intervals that merely overlap are used last.
            if guests <= 5 { #expect(all.allSatisfy { $0.conflict(with: advised) == .none }) }
        }
    }

    @Test("a relay's only guest has the intervals of a single guest only after the link to the host has ended")
    func relaysOnlyGuest() throws {
        var plan = plan(0..<1)
        #expect(plan.intervals(of: 0) == Limits.aloneIntervals)
        plan.dialled(100, intervals: Limits.fewIntervals[0])
        #expect(plan.intervals(of: 0) == Limits.fewIntervals[1])
        // The link is dialled again before the old channel has closed.
        plan.dialled(100, intervals: nil)
        plan.hungUp(100)
        #expect(plan.intervals(of: 0) == Limits.fewIntervals[1])
        plan.hungUp(100)
        #expect(plan.intervals(of: 0) == Limits.aloneIntervals)
        plan.hungUp(100)
        plan.advised(100, Limits.aloneIntervals)
        #expect(plan.intervals(of: 0) == Limits.aloneIntervals)
    }

    @Test("a host's advice does not change the intervals of a relay's guests that do not conflict with it")
    func advice() {
        var plan = plan(0..<4)
        plan.dialled(100, intervals: Limits.fewIntervals[6])
        let before = (0..<4).map { plan.intervals(of: UInt16($0)) }
        plan.advised(100, Limits.fewIntervals[7])
        #expect((0..<4).map { plan.intervals(of: UInt16($0)) } == before)
    }

    @Test("with few guests, joins and leaves do not change the others' intervals, and a free slot is used again")
    func places() {
        var plan = plan(0..<8)
        let before = (0..<8).map { plan.intervals(of: UInt16($0)) }
        plan.closed(3)
        plan.closed(5)
        #expect(plan.intervals(of: 3) == nil)
        #expect((0..<8).filter { plan.intervals(of: UInt16($0)) != before[$0] } == [3, 5])
        plan.opened(40)
        #expect(plan.intervals(of: 40) == before[3])
    }

    @Test("a single guest has the shortest intervals, and a ninth guest makes all of them longer until it leaves")
    func counts() {
        var plan = plan(0..<1)
        #expect(plan.intervals(of: 0) == Limits.aloneIntervals)
        for handle in UInt16(1)..<9 { plan.opened(handle) }
        #expect(plan.intervals(of: 0) == Limits.manyIntervals[0])
        plan.closed(8)
        #expect(plan.intervals(of: 0) == Limits.fewIntervals[0])
    }

    @Test("a link that its guest has dialled again keeps its slot when the older channel closes")
    func twoChannels() {
        var plan = plan(0..<3)
        plan.opened(1)
        plan.closed(1)
        #expect(plan.intervals(of: 1) == Limits.fewIntervals[1])
        plan.closed(1)
        #expect(plan.intervals(of: 1) == nil)
        plan.closed(1)
        #expect(plan.intervals(of: 2) == Limits.fewIntervals[2])
    }

    @Test("links above the number of intervals still get one")
    func crowd() {
        #expect(plan(0..<40).intervals(of: 39) != nil)
        #expect((0..<40).allSatisfy { Limits.manyIntervals.contains(IntervalPlan.chance($0)) })
    }

    private func greatestDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestDivisor(other, one % other)
    }
}
