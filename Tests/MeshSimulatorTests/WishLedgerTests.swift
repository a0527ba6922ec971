// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import MeshSimulator

@Suite("Wishes without a confirmation")
struct WishLedgerTests {
    @Test("a confirmed wish is not listed; a rejected, a replaced and a waiting one are, with the reason")
    func reasons() {
        var ledger = WishLedger()
        for (song, second) in [("s1", 1), ("s2", 2), ("s3", 3), ("s4", 4)] {
            ledger.wished(1, song, .vote, at: .seconds(second))
        }
        ledger.answered(1, "s1", .vote, .queued)
        ledger.answered(1, "s1", .vote, .confirmed)
        ledger.answered(1, "s2", .vote, .rejected(.alreadyPlayed))
        ledger.wished(1, "s3", .takeBack, at: .seconds(5))
        ledger.answered(1, "s3", .takeBack, .confirmed)
        #expect(
            ledger.unconfirmed == [
                UnconfirmedWish(at: .seconds(2), kind: .vote, reason: .rejected(.alreadyPlayed)),
                UnconfirmedWish(at: .seconds(3), kind: .vote, reason: .replaced(by: .takeBack, after: .seconds(2))),
                UnconfirmedWish(at: .seconds(4), kind: .vote, reason: .waiting),
            ])
    }

    @Test("a late answer to the earlier of two wishes counts, and wishes of other guests are separate")
    func late() {
        var ledger = WishLedger()
        ledger.wished(1, "s1", .vote, at: .seconds(1))
        ledger.wished(2, "s1", .vote, at: .seconds(2))
        ledger.wished(1, "s1", .takeBack, at: .seconds(3))
        ledger.answered(1, "s1", .vote, .confirmed)
        ledger.answered(1, "s1", .takeBack, .confirmed)
        #expect(ledger.unconfirmed.map(\.at) == [.seconds(2)])
    }
}
