// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport

@Suite("Which intervals the links of a node are to have")
struct IntervalPlanTests {
    private func plan(_ handles: Range<UInt16>) -> IntervalPlan {
        var plan = IntervalPlan()
        for handle in handles { plan.opened(handle) }
        return plan
    }

    @Test("of up to sixteen guests no two have an interval in common, votes or no votes", arguments: 2..<17)
    func different(count: UInt16) {
        let plan = plan(0..<count)
        let all = (0..<count).compactMap { plan.intervals(of: $0) }
        #expect(Set(all.map(\.brisk)).count == Int(count))
        #expect(Set(all.map(\.calm)).count == Int(count))
    }

    @Test("no link loses more than one event in two to another, for as long as their clocks stand so")
    func divisors() {
        for table in [RadioLimits.fewIntervals, RadioLimits.manyIntervals] {
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
        "a relay's guests have intervals of their own, and none of those that its host has advised for its own link",
        arguments: [RadioLimits.aloneIntervals] + RadioLimits.fewIntervals + RadioLimits.manyIntervals)
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
            // Short ones for as many as a relay takes, unless their host has more links than that.
            if guests < 8 { #expect(all.allSatisfy { RadioLimits.fewIntervals.contains($0) }) }
            // Those that only overlap are for who comes last.
            if guests <= 5 { #expect(all.allSatisfy { $0.conflict(with: advised) == .none }) }
        }
    }

    @Test("a relay's only guest does not have the intervals of who is alone, and has when the link to the host is gone")
    func relaysOnlyGuest() throws {
        var plan = plan(0..<1)
        #expect(plan.intervals(of: 0) == RadioLimits.aloneIntervals)
        plan.dialled(100, intervals: RadioLimits.fewIntervals[0])
        #expect(plan.intervals(of: 0) == RadioLimits.fewIntervals[1])
        // The link is dialled anew before the old channel has closed.
        plan.dialled(100, intervals: nil)
        plan.hungUp(100)
        #expect(plan.intervals(of: 0) == RadioLimits.fewIntervals[1])
        plan.hungUp(100)
        #expect(plan.intervals(of: 0) == RadioLimits.aloneIntervals)
        plan.hungUp(100)
        plan.advised(100, RadioLimits.aloneIntervals)
        #expect(plan.intervals(of: 0) == RadioLimits.aloneIntervals)
    }

    @Test("what a host advises changes nobody's intervals of a relay's guests who are not in its way")
    func advice() {
        var plan = plan(0..<4)
        plan.dialled(100, intervals: RadioLimits.fewIntervals[6])
        let before = (0..<4).map { plan.intervals(of: UInt16($0)) }
        plan.advised(100, RadioLimits.fewIntervals[7])
        #expect((0..<4).map { plan.intervals(of: UInt16($0)) } == before)
    }

    @Test("who comes or goes among few changes nobody else's intervals, and a place that is free is given away again")
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

    @Test("a guest that is alone has the shortest, and a ninth one makes all of them longer until it leaves")
    func counts() {
        var plan = plan(0..<1)
        #expect(plan.intervals(of: 0) == RadioLimits.aloneIntervals)
        for handle in UInt16(1)..<9 { plan.opened(handle) }
        #expect(plan.intervals(of: 0) == RadioLimits.manyIntervals[0])
        plan.closed(8)
        #expect(plan.intervals(of: 0) == RadioLimits.fewIntervals[0])
    }

    @Test("a link whose guest has dialled anew keeps its place when the older channel closes")
    func twoChannels() {
        var plan = plan(0..<3)
        plan.opened(1)
        plan.closed(1)
        #expect(plan.intervals(of: 1) == RadioLimits.fewIntervals[1])
        plan.closed(1)
        #expect(plan.intervals(of: 1) == nil)
        plan.closed(1)
        #expect(plan.intervals(of: 2) == RadioLimits.fewIntervals[2])
    }

    @Test("more links than there are intervals get one all the same")
    func crowd() {
        #expect(plan(0..<40).intervals(of: 39) != nil)
        #expect((0..<40).allSatisfy { RadioLimits.manyIntervals.contains(IntervalPlan.chance($0)) })
    }

    private func greatestDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestDivisor(other, one % other)
    }
}
