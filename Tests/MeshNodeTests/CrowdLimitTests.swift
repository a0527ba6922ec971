// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import MeshProtocol
@testable import NodeCore

@Suite("Many identities behind one link")
struct CrowdLimitTests {
    private static func vote(_ guest: Int, _ number: UInt64 = 1) -> PendingEvent {
        let key = ConversationKey(format(guest), as: .responder, .democracyDJ)
        return .link(
            guest,
            .received(ReceivedMessage(conversation: key, messageClass: .reliable, number: number, epoch: 1, body: [1])))
    }

    private static func format(_ guest: Int) -> String {
        let digits = String(guest, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    private static func number(_ happening: PendingEvent) -> UInt64? { happening.message?.number }

    @Test("a host decides on a limited number of their messages per second; no other guest has to wait")
    func messages() {
        var inbox = Inbox()
        for guest in 0..<300 { inbox.append(Self.vote(guest), over: 7, now: .zero) }
        inbox.append(Self.vote(1_000), over: 8, now: .zero)
        inbox.append(Self.vote(1_001), over: nil, now: .zero)
        let first = inbox.takeTurn(NodeLimits.turn)
        #expect(first.count == NodeLimits.crowdBurst + 2)
        #expect(inbox.isEmpty && inbox.crowdDeadline == .seconds(1) / NodeLimits.crowdMessagesPerSecond)
        inbox.releaseCrowds(now: .seconds(1))
        let second = inbox.takeTurn(NodeLimits.turn)
        #expect(second.compactMap(\.link) == Array(100..<150))
        // Votes of one guest stay in order, even over a direct link.
        inbox.append(Self.vote(299, 2), over: nil, now: .seconds(1))
        #expect(inbox.isEmpty)
        inbox.releaseCrowds(now: .seconds(60))
        var last: [UInt64] = []
        while !inbox.isEmpty || inbox.crowdDeadline != nil {
            inbox.releaseCrowds(now: .seconds(120))
            last += inbox.takeTurn(NodeLimits.turn).filter { $0.link == 299 }.compactMap(Self.number)
        }
        #expect(last == [1, 2])
        inbox.append(Self.vote(299, 3), over: nil, now: .seconds(120))
        #expect(!inbox.isEmpty)
    }

    @Test(
        "each link leaves slots to the others, even if many take all they can, and a crowd behind one relay fits")
    func slots() {
        func fill(_ links: Int, others: Int = 0) -> [Int] {
            var guests = [Int](repeating: 0, count: links)
            var hasGrown = true
            while hasGrown {
                hasGrown = false
                for link in guests.indices
                where Admission.hasShare(carrierWith: guests[link], ofAll: guests.reduce(others, +)) {
                    guests[link] += 1
                    hasGrown = true
                }
            }
            return guests
        }
        #expect(fill(1) == [992])
        for hogs in 1...6 {
            let taken = fill(hogs).reduce(0, +)
            #expect(taken >= 960 && taken < Limits.circuitGuests)
            // A link that comes later, with a car full of guests behind it.
            var own = 0
            while Admission.hasShare(carrierWith: own, ofAll: taken + own) { own += 1 }
            #expect(own >= 5, "\(hogs) links have taken \(taken)")
        }
    }
}
