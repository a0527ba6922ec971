// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Messages during a disk failure")
struct HeldMessagesTests {
    /// The longest possible wish of a guest.
    static let longest = MeshMessage.intent(.vote(songID: String(repeating: "x", count: DJLimits.songIDBytes)))

    @Test("a guest's share is bounded; messages beyond it are not acknowledged, and come again when the disk works")
    func share() throws {
        var car = try Crowd()
        let eve = try car.join(2)
        car.disk = .refuses
        for _ in 0..<Limits.outboxMessages { car.say(Self.longest, eve) }
        car.pass(.seconds(5))
        #expect(car.guests[eve].outgoing.isEmpty && car.guests[eve].acknowledged == 0)
        #expect(car.host.inside.steps.heldBytes <= NodeLimits.heldBytes)
        car.disk = .takes
        car.pass(.seconds(120))
        #expect(car.guests[eve].ends == [.linkLost], "it must reconnect, since it has more to send")
        #expect(car.guests[eve].acknowledged < UInt64(Limits.outboxMessages))
        car.link(eve)
        car.pass(.seconds(120))
        #expect(car.guests[eve].acknowledged == UInt64(Limits.outboxMessages))
    }

    @Test(
        "identities that come one after another have no more room than all guests, and cost no guest a vote"
    )
    func all() throws {
        var car = try Crowd()
        let ana = try car.join(2, name: "Ana")
        car.disk = .refuses
        for seed in UInt8(10)..<28 {
            let eve = try car.join(seed)
            for _ in 0..<Limits.outboxMessages { car.say(Self.longest, eve) }
            car.pass(.seconds(1))
            car.leave(eve)
        }
        car.say(.intent(.vote(songID: "s3")), ana)
        car.pass(.seconds(5))
        #expect(car.host.inside.steps.heldBytes <= NodeLimits.allHeldBytes)
        car.disk = .takes
        car.pass(.seconds(60))
        #expect(car.votes(for: "s3") == 1 && car.guests[ana].acknowledged == 1)
    }
}
