// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Many simultaneous votes")
struct CrowdPaceTests {
    @Test("a full car that votes at once sees all votes at once")
    func atOnce() throws {
        var car = try Crowd()
        let guests = try (0..<12).map { try car.join(UInt8($0 + 2), name: "Guest \($0)") }
        for guest in guests {
            car.say(.intent(.vote(songID: "s3")), guest)
            car.settle()
        }
        #expect(car.votes(for: "s3") == guests.count)
    }

    @Test("continuous votes of a crowd are written and reported 20 times a second, and no vote waits longer")
    func gathered() throws {
        var car = try Crowd()
        let guests = try (0..<12).map { try car.join(UInt8($0 + 2), name: "Guest \($0)") }
        var before = (writes: 0, states: 0, ticks: 0)
        for number in 0..<500 {
            // The votes of the first two seconds may be written one by one.
            if number == 300 { before = (car.writes, car.states.count, car.ticks) }
            let isVote = (number / guests.count).isMultiple(of: 2)
            car.say(.intent(isVote ? .vote(songID: "s2") : .takeBackVote(songID: "s2")), guests[number % guests.count])
            car.pass(.milliseconds(10))
        }
        let seconds = 2
        #expect(car.writes - before.writes <= seconds * NodeLimits.writesPerSecond + 1)
        #expect(car.states.count - before.states <= seconds * NodeLimits.writesPerSecond + 1)
        #expect(
            car.ticks - before.ticks < 2 * seconds * NodeLimits.writesPerSecond,
            "and the clock does not tick needlessly")
        car.pass(.seconds(1) / NodeLimits.writesPerSecond)
        let votes = guests.indices.map { place in (0..<500).count { $0 % guests.count == place } }
        #expect(guests.map { car.guests[$0].acknowledged } == votes.map(UInt64.init))
        #expect(guests.allSatisfy { car.guests[$0].refusals.isEmpty })
    }
}
