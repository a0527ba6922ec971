// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("A guest behind relays")
struct CircuitTests {
    /// A host, relays in a line, and a guest at its end.
    private func line(_ relays: [String], guests: [String] = ["Ana"]) -> Convoy {
        var convoy = Convoy(relays: relays, guests: guests)
        for (hops, relay) in relays.enumerated() {
            if hops == 0 {
                convoy.dial(relay, "Car")
            } else {
                convoy.join(relay, through: relays[hops - 1], hops: UInt8(hops))
            }
        }
        for guest in guests { convoy.join(guest, through: relays[relays.count - 1], hops: UInt8(relays.count)) }
        return convoy
    }

    @Test("a guest joins a host out of its range, and the messages of both arrive once", arguments: [1, 2, 6])
    func joins(relays: Int) {
        var convoy = line((0..<relays).map { "Relay \($0)" })
        #expect(convoy.isConnected("Ana"))
        #expect(convoy.isConnected("Car", to: "Ana"))
        convoy.say("a vote", from: "Ana", to: "Car")
        convoy.say("an answer", from: "Car", to: "Ana")
        convoy.settle()
        #expect(convoy.texts(at: "Car") == ["a vote"])
        #expect(convoy.texts(at: "Ana") == ["an answer"])
        #expect(convoy.nodes["Ana"]?.core.conversation(convoy.key("Ana", with: "Car")!)?.unacknowledged == 0)
        let place = convoy.nodes["Car"]?.core.link(to: convoy.id("Ana")).flatMap {
            convoy.nodes["Car"]?.core.place(of: $0)
        }
        #expect(
            place?.passed.map(\.self) == (0..<relays).reversed().map { Identity.head(of: convoy.id("Relay \($0)")) })
    }

    @Test("a guest joins a known host in one round trip through all relays")
    func knownHost() {
        var convoy = line(["One", "Two"])
        convoy.cut("Ana", from: "Two")
        convoy.dial("Ana", "Two")
        let before = convoy.sent
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.isConnected("Car", to: "Ana"))
        let end = Convoy.End(node: "Two", link: convoy.link("Two", to: "One")!)
        // The circuit and the first packet are in one record, then comes the first record. Credits are sent along.
        #expect((convoy.sent[end]?.count ?? 0) - (before[end]?.count ?? 0) <= 3)
    }

    @Test("neither side of a circuit pings right after the join, but only after half the time of a circuit's silence")
    func firstPing() {
        var convoy = Convoy(relays: ["One"], guests: ["Ana"])
        convoy.dial("One", "Car")
        convoy.now += .milliseconds(300)
        convoy.join("Ana", through: "One")
        let (ana, car) = (convoy.id("Ana"), convoy.id("Car"))
        for (name, peer) in [("Ana", car), ("Car", ana)] {
            let core = convoy.nodes[name]?.core
            let asks = core.flatMap { core in core.link(to: peer).flatMap { core.deadline(of: $0) } }
            #expect(asks.map { $0 > convoy.now + Limits.circuitSilence / 2 - .milliseconds(500) } == true, "\(name)")
        }
    }

    @Test("a guest joins over slow links, which take a second for each hop and packet")
    func slowLinks() {
        var convoy = line(["One", "Two", "Three"], guests: ["Ana"])
        let id = convoy.link("Ana", to: "Three")
        convoy.act("Ana") { core in core.host.flatMap { core.link(to: $0.id) }.map { core.leave($0) } ?? [] }
        convoy.settle()
        #expect(id != nil && !convoy.isConnected("Ana"))
        convoy.isHeldUp = true
        convoy.openCircuit("Ana", through: "Three", hops: 3)
        for _ in 0..<8 {
            convoy.move()
            convoy.advance(by: .milliseconds(900))
        }
        #expect(convoy.isConnected("Ana") && convoy.isConnected("Car", to: "Ana"))
    }

    @Test("no message is lost or counted twice when a guest's relay goes and it joins through another, or directly")
    func moves() {
        var convoy = Convoy(relays: ["One", "Two"], guests: ["Ana"])
        convoy.dial("One", "Car")
        convoy.dial("Two", "Car")
        convoy.join("Ana", through: "One")
        convoy.say("1", from: "Ana", to: "Car")
        convoy.settle()
        convoy.say("2", from: "Ana", to: "Car")
        convoy.cut("Ana", from: "One")
        convoy.say("3", from: "Ana", to: "Car")
        #expect(!convoy.isConnected("Car", to: "Ana"))
        convoy.join("Ana", through: "Two")
        convoy.say("4", from: "Ana", to: "Car")
        convoy.settle()
        convoy.dial("Ana", "Car")
        convoy.say("5", from: "Ana", to: "Car")
        convoy.settle()
        #expect(convoy.texts(at: "Car") == ["1", "2", "3", "4", "5"])
        let link = convoy.nodes["Ana"]?.core.link(to: convoy.id("Car"))
        #expect(link == convoy.link("Ana", to: "Car"), "the way without a relay took the place of the other")
        #expect(convoy.nodes["Two"]?.core.relayedCircuits == 0)
    }

    @Test("a guest learns that a relay further up has lost its route, and so do nodes behind it")
    func lostFurtherUp() {
        var convoy = line(["One", "Two"])
        convoy.cut("One", from: "Car")
        #expect(!convoy.isConnected("Ana"))
        #expect(!convoy.isConnected("Two"))
        #expect(convoy.ends(at: "Ana") == [.circuit(.ended)])
        #expect(convoy.nodes["One"]?.core.relayedCircuits == 0)
        #expect(convoy.nodes["Two"]?.core.relayedCircuits == 0)
        #expect(convoy.nodes["Car"]?.core.footprint.circuits == 0)
    }

    @Test("a goodbye passes all relays, in both directions")
    func goodbyes() {
        var convoy = line(["One", "Two"], guests: ["Ana", "Ben"])
        convoy.act("Ana") { core in core.host.flatMap { core.link(to: $0.id) }.map { core.leave($0) } ?? [] }
        convoy.settle()
        #expect(convoy.ends(at: "Car") == [.goodbye(.unspecified)])
        let ben = convoy.id("Ben")
        convoy.act("Car") { core in core.link(to: ben).map { core.leave($0, saying: .ended) } ?? [] }
        convoy.settle()
        #expect(convoy.ends(at: "Ben") == [.goodbye(.ended)])
        #expect(convoy.nodes["Two"]?.core.relayedCircuits == 0)
        #expect(convoy.isConnected("Two"), "the relay itself stays")
    }

    @Test("a circuit is refused by a node that does not relay, has no route to this host, or was passed before")
    func refused() {
        var convoy = Convoy(relays: ["One", "Two"], guests: ["Ana"])
        convoy.dial("Ana", "Car")
        convoy.lead("One", hops: 1)
        convoy.dial("Two", "One")
        convoy.openCircuit("Two", through: "One")
        #expect(convoy.ends(at: "Two") == [.circuit(.noHost)], "One has no way itself")
        convoy.dial("One", "Car")
        convoy.openCircuit("Two", to: "Ana", through: "One")
        #expect(convoy.ends(at: "Two").last == .circuit(.noHost), "One's host is another")
        let carrier = convoy.link("Two", to: "One")!
        let passed = [Identity.head(of: convoy.id("One"))]
        let host = convoy.id("Car")
        for (hops, passed, end) in [(UInt8(3), passed, CircuitEnd.loop), (0, [], .tooFar)] {
            var number: UInt64?
            convoy.act("Two") { core in
                number = core[link: carrier]?.circuits.open(host, hopsLeft: hops, receiveMTU: 600, passed: passed)
                return [.wake(carrier)]
            }
            var closed: CircuitEnd?
            convoy.onTheWay = { _, sdu in [sdu] }
            convoy.settle()
            closed = convoy.nodes["Two"]?.core[link: carrier]?.circuits.numbers.contains(number!) == true ? nil : end
            #expect(closed == end)
        }
        #expect(convoy.isConnected("Ana"), "nobody else notices")
    }

    @Test("a guest that stops reading does not block other guests behind the same relay")
    func creditsOfTheirOwn() {
        var convoy = line(["One"], guests: ["Ana", "Ben"])
        let ana = convoy.nodes["Car"]!.core.link(to: convoy.id("Ana"))!
        convoy.act("Car") { $0.holdCircuit(of: ana, true) }
        for number in 0..<40 {
            convoy.say("ana \(number)", from: "Ana", to: "Car")
            convoy.settle()
            convoy.say("ben \(number)", from: "Ben", to: "Car")
            convoy.settle()
        }
        #expect(convoy.texts(at: "Car").filter { $0.hasPrefix("ben") }.count == 40)
        #expect(convoy.texts(at: "Car").filter { $0.hasPrefix("ana") }.count < 40)
        #expect((convoy.nodes["One"]?.core.footprint.circuitBytes ?? .max) <= 5 * Limits.innerSDUBytes)
        convoy.act("Car") { $0.holdCircuit(of: ana, false) }
        convoy.settle()
        #expect(convoy.texts(at: "Car").filter { $0.hasPrefix("ana") } == (0..<40).map { "ana \($0)" })
    }

    @Test(
        "a channel on the path with too little room for a handshake's packets ends the join with a reason",
        arguments: [true, false])
    func smallChannel(isUp: Bool) {
        var convoy = Convoy(relays: ["One"], guests: ["Ana"])
        convoy.sendMTU = isUp ? Limits.leastSDUBytes : Limits.sduBytes
        convoy.dial("One", "Car")
        convoy.sendMTU = isUp ? Limits.sduBytes : Limits.leastSDUBytes
        convoy.join("Ana", through: "One")
        #expect(!convoy.isConnected("Ana"))
        #expect(convoy.ends(at: "Ana").last == .circuit(.noRoom))
        #expect(convoy.nodes["One"]?.core.relayedCircuits == 0)
    }

    @Test("a guest joins however full the records on its path are")
    func narrowRecords() {
        for room in 70...110 {
            var convoy = Convoy(relays: ["One"], guests: ["Ana"])
            convoy.dial("One", "Car")
            convoy.lead("One", hops: 1)
            convoy.dial("Ana", "One")
            convoy.isHeldUp = true
            convoy.openCircuit("Ana", through: "One")
            for _ in 0..<12 {
                // Fills the host's next record to the relay except for this many bytes.
                convoy.say(String(repeating: "x", count: Limits.sduBytes - 16 - 6 - room), from: "Car", to: "One")
                convoy.move()
            }
            #expect(convoy.isConnected("Ana"), "\(room) bytes")
        }
    }

    @Test("a slow reader receives all queued messages and then the host's goodbye")
    func lastWordOfASlowCircuit() {
        var convoy = line(["One"])
        let (ana, inner) = (convoy.id("Ana"), convoy.nodes["Ana"]!.core.link(to: convoy.id("Car"))!)
        convoy.act("Ana") { $0.holdCircuit(of: inner, true) }
        for number in 0..<8 {
            convoy.say("\(number)", from: "Car", to: "Ana")
            convoy.settle()
        }
        convoy.act("Car") { core in core.link(to: ana).map { core.leave($0, saying: .ended) } ?? [] }
        convoy.settle()
        #expect(!convoy.isConnected("Car", to: "Ana"))
        convoy.act("Ana") { $0.holdCircuit(of: inner, false) }
        convoy.settle()
        #expect(convoy.ends(at: "Ana") == [.goodbye(.ended)])
        // Four messages that were read without returning credits, and those that were queued at the relay.
        let heard = convoy.texts(at: "Ana")
        #expect(heard.count > 4 && heard == heard.indices.map { "\($0)" })
        for name in ["Car", "One", "Ana"] { #expect(convoy.nodes[name]?.core.footprint.circuitBytes == 0) }
        #expect(convoy.nodes["One"]?.core.relayedCircuits == 0)
    }

    @Test("a guest with an unanswered message is not timed out while the host chooses not to read")
    func notReadAndWaitedFor() {
        var convoy = line(["One"])
        let inner = convoy.nodes["Car"]!.core.link(to: convoy.id("Ana"))!
        convoy.onTheWay = { node, sdu in node == "Ana" ? [] : [sdu] }
        convoy.say("an answer", from: "Car", to: "Ana")
        convoy.settle()
        let later = convoy.now + .seconds(5)
        convoy.act("Car") { core in
            core.heardNothingByChoice(on: inner, now: later)
            return []
        }
        // Otherwise the same deadline would be due again and again.
        #expect(convoy.nodes["Car"]!.core.deadline(of: inner)! > later)
    }

    @Test("seven guests join behind a relay, even if that relay is behind another")
    func sevenBehindARelayBehindARelay() {
        let guests = (1...Limits.relayChildren).map { "Guest \($0)" }
        let convoy = line(["One", "Two"], guests: guests)
        for guest in guests { #expect(convoy.isConnected(guest)) }
    }

    @Test("a circuit that ends before the host has answered leaves no state there")
    func overBeforeItBegan() {
        var convoy = Convoy(relays: ["One"], guests: ["Ana"])
        convoy.dial("One", "Car")
        let carrier = convoy.link("Car", to: "One")!
        for number in [UInt64(0), 2] {
            let open = CircuitOpen(
                circuit: number, host: convoy.id("Car"), hopsLeft: 3, innerMTU: 600,
                passed: [Identity.head(of: convoy.id("One"))])
            var actions: [MeshCore.Action] = []
            convoy.act("Car") { core in
                _ = core.change(carrier) { _ in [.circuit(.circuitOpen(open))] }
                _ =
                    number == 0
                    ? core.change(carrier) { _ in [.circuit(.circuitClose(circuit: 0, .ended))] }
                    : core.channelClosed(carrier)
                actions = core.opened(
                    99, as: .responder, sendMTU: 600, in: CircuitPlace(offered: open, on: carrier),
                    entropy: MeshCore.Entropy([UInt8](repeating: 9, count: MeshCore.Entropy.byteCount)), now: .zero)
                return []
            }
            #expect(actions.contains(.circuitEnded(99)))
            #expect(convoy.nodes["Car"]?.core.allLinks.contains(99) == false)
            #expect(convoy.nodes["Car"]?.core.footprint.innerLinks == 0)
        }
    }

    @Test("a guest leaves a relay that drops its data within seconds, if a message is unanswered")
    func droppingRelay() {
        var convoy = line(["One"])
        convoy.advance(by: .seconds(15))
        #expect(convoy.isConnected("Ana"))
        // All long SDUs are dropped; the carrier's pings are not.
        convoy.onTheWay = { node, sdu in node == "One" && sdu.count > 24 ? [] : [sdu] }
        convoy.say("a vote that somebody does not like", from: "Ana", to: "Car")
        convoy.settle()
        let began = convoy.now
        while convoy.isConnected("Ana"), convoy.now < began + .seconds(30) { convoy.advance(by: .milliseconds(500)) }
        #expect(convoy.now - began <= .seconds(7))
    }

    @Test("a leaving relay first forwards the data that it has accepted, within its limit")
    func leavingRelay() throws {
        let guests = (1...Limits.relayChildren).map { "Guest \($0)" }
        var convoy = line(["One"], guests: guests)
        convoy.isHeldUp = true
        for guest in guests {
            for _ in 0..<4 { convoy.say(String(repeating: "x", count: 2_000), from: guest, to: "Car") }
            let end = Convoy.End(node: guest, link: try #require(convoy.link(guest, to: "One")))
            for sdu in convoy.pull(end) { convoy.give(sdu, from: end) }
        }
        let uplink = try #require(convoy.link("One", to: "Car"))
        var footprint = Footprint()
        convoy.act("One") { core in
            defer { footprint = core.footprint }
            return core.leave(uplink)
        }
        let most = Limits.circuitRefusals + 5
        #expect(footprint.ownFrames <= most)
        #expect(footprint.lastFrames > most)
        #expect(footprint.lastFrames <= Limits.lastRecords + most)
        convoy.isHeldUp = false
        convoy.settle()
        #expect(convoy.texts(at: "Car").count >= guests.count)
    }

    @Test("a guest leaves a relay that has stopped within six seconds, and looks for another")
    func stoppedRelay() {
        var convoy = line(["One"])
        convoy.advance(by: .seconds(3))
        #expect(convoy.isConnected("Ana"))
        convoy.onTheWay = { node, sdu in node == "One" ? [] : [sdu] }
        let began = convoy.now
        while convoy.isConnected("Ana"), convoy.now < began + .seconds(30) { convoy.advance(by: .milliseconds(100)) }
        #expect(convoy.now - began <= Limits.carrierSilence * 3 / 2 + .milliseconds(600))
    }

    @Test("guests behind one link share the room for unfinished messages, and the one that uses most is dropped")
    func unfinished() throws {
        let names = (1...6).map { "Guest \($0)" }
        var convoy = line(["One"], guests: names)
        for (number, name) in names.enumerated() {
            // None of these messages is ever finished. The first guest sends the most.
            for part in 0..<(number == 0 ? 62 : 50) {
                let data = [UInt8](repeating: 1, count: 1_000)
                let position: Fragment.Position =
                    part == 0 ? .first(total: Limits.unitBytes) : .next(offset: part * 1_000)
                convoy.say(Fragment(lane: .reliable, position: position, data: data[...]), as: name)
            }
        }
        // The sixth guest exceeds the limit, and the first uses the most.
        #expect(convoy.ends(at: "Car") == [.misbehaved(.badFragment)])
        #expect(!convoy.isConnected("Car", to: names[0]) && convoy.isConnected("Car", to: names[5]))
        #expect(convoy.nodes["Car"]?.core.footprint.unfinishedBytes ?? .max <= Limits.unfinishedBytes)
    }

    @Test("a guest has a minute to finish a message")
    func unfinishedForLong() throws {
        var convoy = line(["One"])
        convoy.say(Fragment(lane: .reliable, position: .first(total: 60_000), data: [1, 2, 3]), as: "Ana")
        convoy.advance(by: .seconds(60))
        #expect(convoy.isConnected("Car", to: "Ana"))
        convoy.advance(by: .seconds(60))
        #expect(convoy.ends(at: "Car") == [.misbehaved(.badFragment)])
    }

    @Test("an idle guest costs its links only an occasional ping")
    func quiet() {
        var convoy = line(["One"])
        convoy.advance(by: .seconds(3))
        let end = Convoy.End(node: "One", link: convoy.link("One", to: "Car")!)
        let ends = [("One", "Ana"), ("Ana", "One")].map { Convoy.End(node: $0, link: convoy.link($0, to: $1)!) }
        let (before, beforeOnCarrier) = (convoy.sent[end]?.count ?? 0, ends.map { convoy.sent[$0]?.count ?? 0 })
        convoy.advance(by: .seconds(60))
        // The link's own pings and pongs take at most two records a second.
        #expect((convoy.sent[end]?.count ?? 0) - before <= 60 * 2 + 20)
        // On a link between a relay and a node behind it, they take one record in each direction every two seconds, and
        // an occasional further one.
        for (end, before) in zip(ends, beforeOnCarrier) { #expect((convoy.sent[end]?.count ?? 0) - before <= 30 + 20) }
        #expect(convoy.isConnected("Ana"))
    }
}

extension Convoy {
    /// A guest with valid keys sends the host a fragment that our guests never send.
    fileprivate mutating func say(_ fragment: Fragment, as name: String) {
        guard let id = nodes[name]?.core.link(to: id("Car")), let far = nodes["Car"]?.core.link(to: self.id(name)),
            let record = nodes[name]?.core[link: id]?.machine.sealed?.seal(Road.bytes(.fragment(fragment)))
        else { return }
        act("Car") { [now] in $0.received(record, on: far, now: now) }
    }
}
