// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("State updates behind relays")
struct SharedStateTests {
    private func tree() -> Convoy {
        var convoy = Convoy(relays: ["One", "Two"], guests: ["Ana", "Ben", "Cem", "Dan"])
        convoy.dial("One", "Car")
        convoy.join("Two", through: "One")
        convoy.join("Ana", through: "One")
        convoy.join("Ben", through: "Two", hops: 2)
        return convoy
    }

    @Test("an update crosses each link once, however many nodes are behind it, and reaches all of them unchanged")
    func once() {
        var convoy = tree()
        convoy.share("everything", with: "One", as: .whole)
        convoy.settle()
        let ends = [("Car", "One"), ("One", "Two"), ("One", "Ana"), ("Two", "Ben")].map { from, to in
            Convoy.End(node: from, link: convoy.link(from, to: to)!)
        }
        let before = convoy.sent
        convoy.share("a change", with: "One", as: .change)
        convoy.settle()
        for name in ["One", "Two", "Ana", "Ben"] { #expect(convoy.texts(at: name) == ["everything", "a change"]) }
        for end in ends { #expect((convoy.sent[end]?.count ?? 0) - (before[end]?.count ?? 0) == 1) }
    }

    @Test("an update reaches a relay whose circuits always have more data to send")
    func busyCircuits() throws {
        let guests = ["Ana", "Ben", "Cem", "Dan"]
        var convoy = Convoy(relays: ["One"], guests: guests)
        convoy.dial("One", "Car")
        for guest in guests { convoy.join(guest, through: "One") }
        convoy.isHeldUp = true
        for guest in guests {
            for _ in 0..<4 { convoy.say(String(repeating: "x", count: 2_000), from: "Car", to: guest) }
        }
        convoy.share("everything", with: "One", as: .whole)
        let end = Convoy.End(node: "Car", link: try #require(convoy.link("Car", to: "One")))
        for _ in 0..<3 {
            let next = convoy.nodes["Car"]?.core.nextSDU(for: end.link, limit: Limits.sduBytes)
            convoy.give(try #require(next).sdu, from: end)
        }
        #expect(convoy.texts(at: "One") == ["everything"])
    }

    @Test("a later guest gets the state without the host, and nodes with the current state ignore a checkpoint")
    func newcomer() {
        var convoy = tree()
        convoy.share("everything", with: "One", as: .whole)
        convoy.settle()
        convoy.share("change 1", with: "One", as: .change)
        convoy.settle()
        convoy.share("change 2", with: "One", as: .change)
        convoy.settle()
        let toOne = Convoy.End(node: "Car", link: convoy.link("Car", to: "One")!)
        let bytes = convoy.sent[toOne]?.joined().count ?? 0
        convoy.join("Cem", through: "Two", hops: 2)
        #expect(convoy.texts(at: "Cem").last == "change 2")
        #expect((convoy.sent[toOne]?.joined().count ?? 0) - bytes < 400, "the answer alone")
        convoy.share("everything again", with: "One", as: .checkpoint, leadingTo: "change 2")
        convoy.settle()
        #expect(convoy.texts(at: "Ben").last == "change 2")
        #expect(convoy.texts(at: "Two").last == "everything again", "it keeps it for others")
        convoy.join("Dan", through: "Two", hops: 2)
        #expect(convoy.texts(at: "Dan") == ["everything again"])
        #expect(convoy.texts(at: "Ben").count == 3)
    }

    @Test("a returning guest gets only the later updates if its new relay knows its state")
    func comesBack() {
        var convoy = tree()
        convoy.share("everything", with: "One", as: .whole)
        convoy.settle()
        convoy.share("change 1", with: "One", as: .change)
        convoy.settle()
        convoy.cut("Ben", from: "Two")
        convoy.share("change 2", with: "One", as: .change)
        convoy.settle()
        convoy.share("everything again", with: "One", as: .checkpoint, leadingTo: "change 2")
        convoy.settle()
        // Through another relay than before.
        convoy.join("Ben", through: "One")
        #expect(convoy.texts(at: "Ben") == ["everything", "change 1", "change 2"])
        convoy.share("change 3", with: "One", as: .change)
        convoy.settle()
        #expect(convoy.texts(at: "Ben").last == "change 3")
    }

    @Test("a returning relay keeps its updates if its new parent knows its state, and gets only the later ones")
    func relayComesBack() {
        var convoy = Convoy(relays: ["One", "Two", "Three"], guests: ["Ana", "Ben"])
        convoy.dial("One", "Car")
        for relay in ["Two", "Three"] { convoy.join(relay, through: "One") }
        convoy.join("Ana", through: "Three", hops: 2)
        convoy.share("everything", with: "One", as: .whole)
        convoy.settle()
        convoy.cut("Three", from: "One")
        convoy.act("Three") { $0.lead(nil) }
        convoy.settle()
        convoy.share("change 1", with: "One", as: .change)
        convoy.settle()
        convoy.join("Three", through: "Two", hops: 2)
        #expect(convoy.texts(at: "Three") == ["everything", "change 1"])
        convoy.lead("Three", hops: 3)
        convoy.openCircuit("Ana", through: "Three")
        #expect(convoy.texts(at: "Ana") == ["everything", "change 1"])
        convoy.join("Ben", through: "Three", hops: 3)
        #expect(convoy.texts(at: "Ben") == ["everything", "change 1"], "for newcomers all of it is there")
    }

    @Test("if the new relay does not know a node's state, the node gets the full state")
    func beginsAnew() {
        var convoy = Convoy(relays: ["One", "Two", "Three"], guests: ["Ana"])
        for relay in ["One", "Three"] { convoy.dial(relay, "Car") }
        convoy.join("Two", through: "One")
        convoy.join("Ana", through: "Two", hops: 2)
        convoy.share("everything", with: "One", as: .whole)
        convoy.share("everything later", with: "Three", as: .whole)
        convoy.settle()
        convoy.cut("Two", from: "One")
        convoy.act("Two") { $0.lead(nil) }
        convoy.settle()
        convoy.join("Two", through: "Three")
        convoy.lead("Two", hops: 2)
        #expect(convoy.texts(at: "Two") == ["everything", "everything later"])
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.texts(at: "Ana") == ["everything", "everything later"])
    }

    @Test("state that a relay has altered or forged is refused, and its link ends")
    func forged() {
        var convoy = tree()
        convoy.share("everything", with: "One", as: .whole)
        convoy.settle()
        var entry = convoy.nodes["One"]!.core.log.next(after: nil)!.entry
        entry.signed[entry.signed.count - 1] ^= 1
        entry.sharing = .change
        let forged = entry
        convoy.act("One") { core in
            core.change { _, _, log in log.append(forged) }
            return []
        }
        convoy.settle()
        #expect(convoy.texts(at: "Ana") == ["everything"])
        #expect(convoy.ends(at: "Ana").contains(.misbehaved(.forgedState)))
        #expect(!convoy.isConnected("Ana"))
    }

    @Test(
        "a relay that returns to the host keeps its updates, reports its state, and gets the later updates"
    )
    func relayReturnsToHost() throws {
        var convoy = Convoy(relays: ["One"], guests: ["Ana", "Ben"])
        convoy.dial("One", "Car")
        convoy.join("Ana", through: "One")
        convoy.share("everything", with: "One", as: .whole)
        convoy.settle()
        convoy.share("change 1", with: "One", as: .change)
        convoy.settle()
        convoy.cut("One", from: "Car")
        convoy.dial("One", "Car")
        let link = try #require(convoy.link("Car", to: "One"))
        #expect(convoy.nodes["Car"]?.core.shownState(on: link) == Convoy.name(of: "change 1"))
        convoy.openCircuit("Ana", through: "One")
        #expect(convoy.texts(at: "Ana") == ["everything", "change 1"])
        convoy.share("change 2", with: "One", as: .change)
        convoy.settle()
        #expect(convoy.texts(at: "Ana") == ["everything", "change 1", "change 2"])
        convoy.join("Ben", through: "One")
        #expect(convoy.texts(at: "Ben") == ["everything", "change 1", "change 2"], "for newcomers all of it is there")
        // A host does this if it no longer has the later updates.
        convoy.share("everything new", with: "One", as: .whole)
        convoy.settle()
        #expect(convoy.texts(at: "Ana").last == "everything new" && convoy.texts(at: "Ben").last == "everything new")
    }

    @Test("updates continue from the last state that a child and its new relay both had, even if each had later ones")
    func goesOnFromWhatBothHad() {
        var convoy = Convoy(relays: ["One", "Two", "Three"], guests: ["Ana"])
        for relay in ["One", "Two"] { convoy.dial(relay, "Car") }
        convoy.join("Three", through: "One")
        convoy.join("Ana", through: "Three", hops: 2)
        // A newer link has the full state where an older one had changes.
        convoy.share("everything at 1", with: "One", as: .whole, leadingTo: "1")
        convoy.share("everything at 0", with: "Two", as: .whole, leadingTo: "0")
        convoy.settle()
        convoy.share("0 to 1", with: "Two", as: .change, leadingTo: "1")
        for change in ["1 to 2", "2 to 4"] {
            convoy.share(change, with: "One", as: .change, leadingTo: String(change.suffix(1)))
            convoy.settle()
        }
        convoy.share("1 to 3", with: "Two", as: .change, leadingTo: "3")
        convoy.settle()
        convoy.cut("Three", from: "One")
        convoy.act("Three") { $0.lead(nil) }
        convoy.settle()
        convoy.join("Three", through: "Two")
        let seen = ["everything at 1", "1 to 2", "2 to 4", "1 to 3"]
        #expect(convoy.texts(at: "Three") == seen)
        convoy.lead("Three", hops: 2)
        convoy.openCircuit("Ana", through: "Three")
        #expect(convoy.texts(at: "Ana") == seen)
        convoy.share("3 to 5", with: "Two", as: .change, leadingTo: "5")
        convoy.settle()
        #expect(convoy.texts(at: "Ana") == seen + ["3 to 5"])
    }

    @Test("a guest in the host's range gets no signature, so its updates have no additional byte")
    func plainGuest() {
        var convoy = Convoy(guests: ["Ana"])
        convoy.dial("Ana", "Car")
        let end = Convoy.End(node: "Car", link: convoy.link("Car", to: "Ana")!)
        let before = convoy.sent[end]?.joined().count ?? 0
        convoy.share("everything", with: "Ana", as: .whole)
        convoy.settle()
        #expect((convoy.sent[end]?.joined().count ?? 0) - before == 10 + 2 + 2 + 16)
        #expect(convoy.texts(at: "Ana") == ["everything"])
    }

    @Test("a relay's log has a limit, and the next full state fills it again")
    func bound() {
        var log = SharedLog()
        log.append(
            SharedLog.Entry(sharing: .whole, name: Convoy.name(of: "w"), signed: [UInt8](repeating: 0, count: 60_000)))
        for _ in 0..<10_000 {
            log.append(
                SharedLog.Entry(sharing: .change, name: Convoy.name(of: "c"), signed: [UInt8](repeating: 0, count: 100))
            )
        }
        #expect(log.byteCount <= Limits.sharedLogBytes)
        #expect(log.next(after: nil) == nil)
        log.append(SharedLog.Entry(sharing: .change, name: Convoy.name(of: "c"), signed: [1]))
        #expect(log.next(after: nil) == nil, "a change builds on something")
        log.append(SharedLog.Entry(sharing: .whole, name: Convoy.name(of: "w"), signed: [2]))
        #expect(log.next(after: nil)?.entry.signed == [2])
        #expect(log.next(after: 5)?.entry.signed == [2], "who is far behind begins again")
    }
}
