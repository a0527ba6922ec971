// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import NodeCore
@testable import MeshProtocol

@Suite("Many guesses of a host's PIN")
struct GuessFloodTests {
    private static let guessers = 100
    private static let rounds = 100
    private static let pause: Duration = .seconds(10)
    /// Time that an SD card takes for a step.
    private static let writeTime: Duration = .milliseconds(20)

    /// The result of a drive with or without guessers.
    fileprivate struct Drive {
        var car: Crowd
        /// Virtual time from each of the joined guest's votes until the host had it on its disk.
        var votes: [Duration] = []
        /// When the host's people were notified of a wrong guess.
        var guesses: [MeshInstant] = []
        var mostLinks = 0
    }

    /// A guest that knows the PIN has joined, and votes in each round, while all guessers have open handshakes.
    private static func drive(guessers: Int) throws -> Drive {
        let pin = try #require(JoiningSecret(pin: "314159"))
        var drive = Drive(car: try Crowd(pin: pin))
        let ana = try drive.car.join(2, name: "Ana", secret: pin)
        drive.car.writeTime = Self.writeTime
        for number in 0..<guessers { try drive.car.add(UInt8(number + 3), name: "Eve \(number)") }
        for round in 0..<rounds {
            for eve in drive.car.guests.indices where eve != ana {
                let digits = String(100_000 + round * guessers + eve)
                drive.car.guests[eve].core.secret = JoiningSecret(pin: digits)
                drive.car.link(eve, isRead: false)
            }
            drive.mostLinks = max(drive.mostLinks, drive.car.host.footprint.links)
            // One SDU of each guest in turn, including the vote.
            drive.car.readOnce()
            let (began, said) = (drive.car.now, drive.car.guests[ana].acknowledged)
            drive.car.say(.intent(round.isMultiple(of: 2) ? .vote(songID: "s2") : .takeBackVote(songID: "s2")), ana)
            while drive.car.readOnce() { drive.note() }
            while drive.car.guests[ana].acknowledged == said, drive.car.now - began < .seconds(2) {
                drive.car.pass(.milliseconds(1))
            }
            drive.votes.append(drive.car.now - began)
            drive.note()
            drive.car.pass(pause - (drive.car.now - began))
            for eve in drive.car.guests.indices where eve != ana { drive.car.leave(eve) }
        }
        return drive
    }

    @Test(
        "of 10,000 guesses by 100 identities, five count, then one every 200 s, and a joined guest is not affected"
    )
    func flood() throws {
        let quiet = try Self.drive(guessers: 0)
        let flood = try Self.drive(guessers: Self.guessers)
        let (car, ana) = (flood.car, flood.car.guests[0])
        let ends = car.guests.dropFirst().flatMap(\.ends)
        let reasons = Dictionary(grouping: ends) { "\($0)" }.mapValues(\.count)

        let last = Self.pause * Self.rounds
        let expected = Limits.guesses + Int(Self.pause * (Self.rounds - 1) / Limits.guessInterval)
        #expect(flood.guesses.count == expected)
        #expect(car.notices.allSatisfy { $0 == "pinGuessed" })
        #expect(reasons["\(LinkEnd.refused(.wrongProof))"] == expected)

        // No guesser has joined, and no data of them stay.
        #expect(car.states.allSatisfy { $0.connectedPeers.allSatisfy { $0.name == "Ana" } })
        #expect(car.host.footprint.conversations == 1)
        #expect(car.host.footprint.links == 1)
        #expect(flood.mostLinks <= Limits.halfOpenLinks + Limits.halfOpenLinksOfKnown + 1)

        // The joined guest's votes are as fast as usual, its link stays, and it gets no notices.
        // The disk may have been busy, for example with the heartbeat's step.
        #expect(flood.votes == quiet.votes && flood.votes.allSatisfy { $0 <= Self.writeTime * 2 })
        #expect(ana.acknowledged == UInt64(Self.rounds) && ana.refusals.isEmpty && ana.ends.isEmpty)
        #expect(ana.heard.count == quiet.car.guests[0].heard.count)
        #expect(car.states.count == quiet.car.states.count)
        print(
            """
            \(Self.guessers * Self.rounds) guesses of \(Self.guessers) identities in \(last): \(expected) counted, none right, \
            \(ends.count - expected) refused, for the others there was no link; votes \(flood.votes.count), the slowest \
            \(flood.votes.max() ?? .zero), without guesses \(quiet.votes.max() ?? .zero); at most \(flood.mostLinks) links, \
            \(car.host.footprint.conversations) key known; \(car.writes) writes, without guesses \(quiet.car.writes)
            """)
    }
}

extension GuessFloodTests.Drive {
    fileprivate mutating func note() {
        let told = car.shown.count { if case .pinGuessed = $0 { true } else { false } }
        while guesses.count < told { guesses.append(car.now) }
    }
}
