// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("A guest with too many wishes")
struct FloodTests {
    private let mia = Peer(id: String(repeating: "c3", count: 16), name: "Mia")

    @Test("a vote is counted in the next step, however many wishes other guests have sent before it")
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

    @Test(
        "a flood from a page does not delay a vote over the radio, and the reverse",
        arguments: [true, false])
    func pageAndRadio(isPageFlooding: Bool) throws {
        let page = 100
        var car = try Crowd()
        let ana = try car.join(2, name: "Ana")
        car.feed(.joined(page, mia))
        func say(_ intent: GuestIntent, byPage: Bool) {
            if byPage { car.say(.intent(intent), on: page) } else { car.say(.intent(intent), ana) }
            car.settle()
        }
        car.disk = .hangs
        say(.vote(songID: "s3"), byPage: isPageFlooding)
        for _ in 0..<20 {
            say(.vote(songID: "s2"), byPage: isPageFlooding)
            say(.takeBackVote(songID: "s2"), byPage: isPageFlooding)
        }
        say(.vote(songID: "s5"), byPage: !isPageFlooding)
        car.goOn()
        let states = car.states
        let counted = try #require(states.firstIndex { $0.item("s5")?.votes == 1 })
        let first = try #require(states.firstIndex { $0.item("s3")?.votes == 1 })
        #expect(counted == first + 1, "of what waits for a step a page and a phone have their part")
        #expect(car.acknowledged(on: page).count == (isPageFlooding ? 41 : 1))
    }

    @Test("a page that sends more wishes than a person taps gets that answer, and no other page does")
    func tooFastPage() throws {
        let (page, other) = (100, 101)
        var car = try Crowd()
        car.feed(.joined(page, mia))
        car.feed(.joined(other, Peer(id: String(repeating: "d4", count: 16), name: "Leo")))
        let wishes = 2 * DJLimits.wishBurst
        for number in 0..<wishes {
            car.say(.intent(number.isMultiple(of: 2) ? .vote(songID: "s2") : .takeBackVote(songID: "s2")), on: page)
        }
        car.say(.intent(.vote(songID: "s3")), on: other)
        car.pass(.milliseconds(100))
        #expect(car.votes(for: "s3") == 1)
        car.pass(.seconds(20))
        #expect(!car.refusals(on: page).isEmpty && car.refusals(on: page).allSatisfy { $0 == .tooFast })
        #expect(car.acknowledged(on: page) == Array(1...UInt64(wishes)), "each has its answer")
        #expect(car.refusals(on: other) == [])
        car.pass(.seconds(1))
        car.say(.intent(.vote(songID: "s3")), on: page)
        #expect(car.votes(for: "s3") == 2, "slowed down, not cut off")
    }

    @Test("all changes of a step are sent to each guest in one update")
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

    @Test("wishes beyond a person's taps are refused with a reason, and cost other guests nothing")
    func tooFast() throws {
        var car = try Crowd()
        let eve = try car.join(2)
        let wishes = Limits.outboxMessages
        for number in 0..<wishes {
            car.say(.intent(number.isMultiple(of: 2) ? .vote(songID: "s2") : .takeBackVote(songID: "s2")), eve)
        }
        let seconds = 40
        car.pass(.seconds(seconds))
        let refusals = car.guests[eve].refusals
        #expect(!refusals.isEmpty && refusals.allSatisfy { $0 == .tooFast })
        #expect(car.guests[eve].acknowledged == UInt64(wishes), "each has its answer")
        car.say(.intent(.vote(songID: "s3")), eve)
        car.pass(.seconds(2))
        #expect(car.votes(for: "s3") == 1, "slowed down, not cut off")
    }

    @Test(
        "all votes from a gap count, up to the maximum of a guest's pending votes", arguments: [70, 256])
    func castDuringGap(votes: Int) throws {
        var car = try Crowd()
        let ana = try car.join(2, name: "Ana")
        for number in 0..<40 { vote(number, ana, &car) }
        car.pass(.seconds(1))
        car.leave(ana)
        for number in 0..<votes { vote(number, ana, &car) }
        car.say(.intent(.vote(songID: "s5")), ana)
        car.link(ana)
        car.pass(.seconds(10))
        #expect(car.guests[ana].refusals.count == 0)
        #expect(car.guests[ana].acknowledged == UInt64(40 + votes + 1))
        #expect(car.votes(for: "s5") == 1)
    }

    @Test("a guest that reconnects often has no more wishes accepted than one that stays")
    func comesAndGoes() throws {
        var car = try Crowd()
        let eve = try car.join(2)
        let (gaps, each) = (10, DJLimits.pendingVotes)
        for _ in 0..<gaps {
            car.leave(eve)
            for number in 0..<each { vote(number, eve, &car) }
            car.link(eve)
            car.pass(.seconds(10))
        }
        let followed = gaps * each - car.guests[eve].refusals.count
        #expect(car.guests[eve].acknowledged == UInt64(gaps * each))
        #expect(followed <= DJLimits.wishBurst + 10 * gaps * DJLimits.wishesPerSecond)
    }

    /// One of a guest's many wishes.
    private func vote(_ number: Int, _ guest: Int, _ car: inout Crowd) {
        car.say(.intent(number.isMultiple(of: 2) ? .vote(songID: "s2") : .takeBackVote(songID: "s2")), guest)
    }

    @Test("a guest with too many wishes is not read for a second, and the others are")
    func pause() throws {
        var car = try Crowd()
        let (eve, ana) = (try car.join(2), try car.join(3, name: "Ana"))
        // As fast as the host writes, so that the first refused wish is the only thing that waits.
        while car.guests[eve].refusals.isEmpty {
            car.say(.intent(.vote(songID: "s2")), eve)
            car.pass(.seconds(1) / NodeLimits.writesPerSecond)
        }
        for guest in [eve, ana] { car.say(.intent(.vote(songID: "s3")), guest) }
        car.settle()
        #expect(!car.guests[eve].outgoing.isEmpty && car.guests[ana].outgoing.isEmpty)
        car.pass(NodeLimits.hastePause)
        #expect(car.guests.map(\.outgoing.count) == [0, 0])
    }

    @Test("a guest's messages during a disk failure use bounded memory, and other guests are read")
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

    @Test("unreadable messages of a guest use no memory, whatever their length")
    func unreadable() throws {
        var car = try Crowd()
        let eve = try car.join(2)
        car.disk = .hangs
        car.say(.intent(.vote(songID: "s2")), eve)
        for _ in 0..<15 { car.say([UInt8](repeating: 0xff, count: Limits.messageBytes), eve) }
        car.pass(.seconds(3))
        #expect(car.guests[eve].outgoing.isEmpty, "it is read")
        car.goOn()
        #expect(car.guests[eve].acknowledged == 16, "and acknowledged in order")
    }
}
