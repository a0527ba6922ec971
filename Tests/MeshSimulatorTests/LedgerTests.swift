// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshSimulator

@Suite("What is promised about messages")
struct LedgerTests {
    static let host = 0
    static let ana = 1
    static let ben = 2

    /// A ledger with so many messages from Ana to the host, all of them on Ana's disk.
    private func ledger(_ count: Int) -> Ledger {
        var ledger = Ledger()
        for _ in 0..<count {
            let message = ledger.cast(from: Self.ana, to: Self.host)
            ledger.taken(message)
        }
        return ledger
    }

    @Test("A message that is given, made safe and acknowledged keeps every promise")
    func kept() {
        var ledger = ledger(1)
        #expect(ledger.missing == [0])
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.safe(0) == nil)
        #expect(ledger.acknowledged(0) == nil)
        #expect(ledger.missing.isEmpty)
    }

    @Test("An acknowledgement of what is not on the receiver's disk is noticed")
    func acknowledgedButLost() {
        var ledger = ledger(1)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.acknowledged(0) == .acknowledgedButLost)
    }

    @Test("A message that comes twice is noticed, while the application lives and after a restart")
    func twice() {
        var ledger = ledger(2)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.heard(0, by: Self.host) == .deliveredTwice)
        #expect(ledger.safe(0) == nil)
        ledger.restarted(Self.host)
        #expect(ledger.heard(0, by: Self.host) == .deliveredTwice)
        #expect(ledger.safe(0) == .deliveredTwice)
    }

    @Test("What was given and not made safe is given again after a restart")
    func againAfterRestart() {
        var ledger = ledger(1)
        #expect(ledger.heard(0, by: Self.host) == nil)
        ledger.restarted(Self.host)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.safe(0) == nil)
    }

    @Test("A message that comes after a later one of the same sender is noticed")
    func order() {
        var ledger = ledger(2)
        #expect(ledger.heard(1, by: Self.host) == nil)
        #expect(ledger.heard(0, by: Self.host) == .deliveredTwice)
    }

    @Test("A message that is left out is noticed when the next is safe")
    func leftOut() {
        var ledger = ledger(2)
        #expect(ledger.heard(1, by: Self.host) == nil)
        #expect(ledger.safe(1) == .leftOut)
    }

    @Test("Two senders do not wait for one another")
    func twoSenders() {
        var ledger = ledger(1)
        let bens = ledger.cast(from: Self.ben, to: Self.host)
        ledger.taken(bens)
        #expect(ledger.heard(bens, by: Self.host) == nil)
        #expect(ledger.safe(bens) == nil)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.safe(0) == nil)
    }

    @Test("What nobody has cast, or not to this receiver, is noticed")
    func forged() {
        var ledger = ledger(1)
        #expect(ledger.heard(7, by: Self.host) == .forged)
        #expect(ledger.heard(0, by: Self.ben) == .forged)
    }

    @Test("Nothing is promised about a message that was not taken")
    func refused() {
        var ledger = Ledger()
        let refused = ledger.cast(from: Self.ana, to: Self.host)
        ledger.refused(refused)
        ledger.taken(refused)
        let next = ledger.cast(from: Self.ana, to: Self.host)
        ledger.taken(next)
        #expect(ledger.missing == [next])
        #expect(ledger.heard(next, by: Self.host) == nil)
        #expect(ledger.safe(next) == nil)
    }

    @Test("What goes with a sender's disk is not missed, and what it casts afterwards is")
    func sendersDisk() {
        var ledger = ledger(2)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.safe(0) == nil)
        ledger.lostStore(Self.ana)
        #expect(ledger.missing.isEmpty)
        let next = ledger.cast(from: Self.ana, to: Self.host)
        ledger.taken(next)
        #expect(ledger.missing == [next])
        #expect(ledger.acknowledged(next) == .acknowledgedButLost)
    }

    @Test("A receiver that has lost its disk may be given again what it had")
    func receiversDisk() {
        var ledger = ledger(1)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.safe(0) == nil)
        ledger.lostStore(Self.host)
        ledger.restarted(Self.host)
        #expect(ledger.heard(0, by: Self.host) == nil)
        #expect(ledger.safe(0) == nil)
        // Its acknowledgement may have been on its way when the disk went.
        #expect(ledger.acknowledged(0) == nil)
    }

    @Test("What was cast is counted as arrived, lost with a disk or not taken")
    func counts() {
        var ledger = ledger(2)
        _ = ledger.heard(0, by: Self.host)
        _ = ledger.safe(0)
        ledger.lostStore(Self.ana)
        let refused = ledger.cast(from: Self.ana, to: Self.host)
        ledger.refused(refused)
        var figures = Figures()
        ledger.count(into: &figures)
        #expect(figures.cast == 3)
        #expect([figures.safe, figures.lost, figures.refused] == [1, 1, 1])
    }
}
