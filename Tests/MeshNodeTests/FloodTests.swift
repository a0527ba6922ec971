// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshNode

@Suite("A guest that wants too much")
struct FloodTests {
    @Test("a vote is counted in the next step, however much others have said before it")
    func inTurn() throws {
        var car = try Crowd()
        let floods = [try car.join(2), try car.join(3)]
        let ana = try car.join(4, name: "Ana")
        car.disk = .hangs
        car.say(.intent(.vote(songID: "s3")), floods[0])
        car.settle()
        for _ in 0..<20 {
            for guest in floods {
                car.say(.intent(.vote(songID: "s2")), guest)
                car.say(.intent(.takeBackVote(songID: "s2")), guest)
            }
        }
        car.settle()
        car.say(.intent(.vote(songID: "s5")), ana)
        car.settle()
        let before = car.writes
        car.disk = .takes
        car.goOn()
        let states = car.states
        let counted = try #require(states.firstIndex { $0.item("s5")?.votes == 1 })
        let first = try #require(states.firstIndex { $0.item("s3")?.votes == 1 })
        #expect(counted == first + 1, "of what waits for a step each guest has its part")
        #expect(car.writes > before + 2, "and the rest came after it")
    }

    @Test("of all that a step changes everybody is told once")
    func oneUpdate() throws {
        var car = try Crowd()
        for seed in UInt8(2)...9 { try car.join(seed) }
        car.disk = .hangs
        car.say(.intent(.vote(songID: "s2")), 0)
        car.settle()
        for guest in car.guests.indices.dropFirst() { car.say(.intent(.vote(songID: "s3")), guest) }
        car.settle()
        let (before, heard) = (car.states.count, car.guests.map(\.heard.count))
        car.goOn()
        #expect(car.states.count - before == 2, "one for the vote that the disk was at, and one for the others")
        #expect(car.votes(for: "s3") == 7)
        #expect(zip(car.guests, heard).allSatisfy { $0.heard.count - $1 == 2 })
    }

    @Test("beyond what a person taps a wish is answered with a reason, and costs the others nothing")
    func tooFast() throws {
        var car = try Crowd()
        let eve = try car.join(2)
        for _ in 0..<100 {
            car.say(.intent(.vote(songID: "s2")), eve)
            car.say(.intent(.takeBackVote(songID: "s2")), eve)
        }
        let states = car.states.count
        car.pass(.seconds(1))
        let followed = car.states.count - states
        #expect((20...DJLimits.wishBurst + DJLimits.wishesPerSecond).contains(followed))
        car.pass(.seconds(20))
        let refusals = car.guests[eve].refusals
        #expect(!refusals.isEmpty && refusals.allSatisfy { $0 == .tooFast })
        #expect(car.guests[eve].acknowledged == 200, "each has its answer")
        car.say(.intent(.vote(songID: "s3")), eve)
        car.pass(.seconds(2))
        #expect(car.votes(for: "s3") == 1, "slowed down, not cut off")
    }

    @Test("what a guest sends while the disk hangs waits in a bounded place, and the others are read")
    func bounded() throws {
        var car = try Crowd()
        let (eve, ana) = (try car.join(2), try car.join(3, name: "Ana"))
        car.disk = .hangs
        for _ in 0..<NodeLimits.waitingInputs { car.say(.intent(.vote(songID: "s2")), eve) }
        car.say(.intent(.vote(songID: "s3")), eve)
        car.say(.intent(.vote(songID: "s4")), eve)
        car.settle()
        #expect(car.guests[eve].outgoing.count == 1)
        car.say(.intent(.vote(songID: "s5")), ana)
        car.settle()
        #expect(car.guests[ana].outgoing.isEmpty && car.host.hasRoom)
        car.goOn()
        car.pass(.seconds(5))
        #expect(car.guests[eve].outgoing.isEmpty)
    }

    @Test("what a guest says that no host can read takes no room, however long it is")
    func unreadable() throws {
        var car = try Crowd()
        let eve = try car.join(2)
        car.disk = .hangs
        car.say(.intent(.vote(songID: "s2")), eve)
        for _ in 0..<15 { car.say([UInt8](repeating: 0xff, count: Limits.messageBytes), eve) }
        car.pass(.seconds(3))
        #expect(car.guests[eve].outgoing.isEmpty, "it is read")
        car.goOn()
        #expect(car.guests[eve].acknowledged == 16, "and acknowledged in its turn")
    }
}
