// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("A guest that returns through another relay")
struct RejoinTests {
    /// A host with two relays, and a guest that was behind the first and is linked to the second.
    private func between(_ guest: String = "Ana") -> Convoy {
        var convoy = Convoy(relays: ["One", "Two"], guests: [guest])
        convoy.dial("One", "Car")
        convoy.dial("Two", "Car")
        convoy.join(guest, through: "One")
        convoy.cut(guest, from: "One")
        convoy.lead("Two", hops: 1)
        convoy.dial(guest, "Two")
        return convoy
    }

    /// Bytes on the link between the second relay and the host, both ways.
    private func bytes(_ convoy: Convoy) -> Int {
        [("Two", "Car"), ("Car", "Two")].reduce(0) { sum, ends in
            let end = convoy.link(ends.0, to: ends.1).map { Convoy.End(node: ends.0, link: $0) }
            return sum + (end.flatMap { convoy.sent[$0] } ?? []).reduce(0) { $0 + $1.count }
        }
    }

    /// The guest's first packet in a circuit that it opens now. It was not sent yet.
    private func firstPacket(_ convoy: inout Convoy) -> [UInt8] {
        convoy.isHeldUp = true
        defer { convoy.isHeldUp = false }
        let id = convoy.openCircuit("Ana", through: "Two")
        return convoy.nodes["Ana"]?.core[link: id]?.machine.packets.first ?? []
    }

    /// Another node at the second relay opens its own circuit to the host, and sends this packet in it.
    private func say(_ packet: [UInt8], at convoy: inout Convoy) {
        guard let uplink = convoy.link("Two", to: "Car") else { return }
        let host = convoy.id("Car")
        convoy.act("Two") { core in
            let number = core[link: uplink]?.circuits.open(host, hopsLeft: 1, receiveMTU: 600, passed: [])
            number.map { core[link: uplink]?.circuits.enqueue(packet, on: $0) }
            return [.wake(uplink)]
        }
        convoy.settle()
    }

    @Test("a returning guest joins with about half of the bytes, no key agreement, and its earlier name")
    func fewerBytes() {
        var (back, anew) = (between(), between())
        anew.nodes["Car"]?.core.change { rejoins, _, _ in rejoins = RejoinTable() }
        anew.nodes["Ana"]?.core.change { rejoins, _, _ in rejoins = RejoinTable() }
        let before = (bytes(back), bytes(anew))
        #expect(firstPacket(&back).first == 7 && firstPacket(&anew).first == 4)
        back.settle()
        anew.settle()
        for convoy in [back, anew] {
            let (ana, car) = (convoy.id("Ana"), convoy.id("Car"))
            let link = convoy.nodes["Car"]?.core.link(to: ana)
            #expect(link.flatMap { convoy.nodes["Car"]?.core.peer(on: $0)?.name } == "Ana")
            #expect(convoy.nodes["Ana"]?.core.host == Peer(id: car, name: "Car"))
            let core = convoy.nodes["Ana"]?.core
            let host = core?.host.flatMap { core?.link(to: $0.id) }.flatMap { core?[link: $0]?.hello }
            #expect(host?.signingKey != nil, "what the host signs can be checked")
        }
        let (short, whole) = (bytes(back) - before.0, bytes(anew) - before.1)
        #expect(short * 100 <= whole * 55, "\(short) bytes instead of \(whole)")
    }

    @Test("no message is lost or counted twice, however often a guest returns")
    func often() {
        var convoy = between()
        for round in 0..<40 {
            convoy.say("\(2 * round)", from: "Ana", to: "Car")
            let first = firstPacket(&convoy)
            #expect(first.first == 7)
            convoy.settle()
            convoy.say("\(2 * round + 1)", from: "Ana", to: "Car")
            if round.isMultiple(of: 2) { convoy.settle() }
            convoy.cut("Ana", from: "Two")
            convoy.now += .seconds(1)
            convoy.dial("Ana", "Two")
        }
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.texts(at: "Car") == (0..<80).map(String.init))
        #expect(convoy.nodes.values.allSatisfy { $0.core.misbehaviours.isEmpty })
    }

    @Test("if the host has forgotten a returning guest, it joins like a stranger, in the same circuit")
    func forgotten() {
        var convoy = between()
        convoy.nodes["Car"]?.core.change { rejoins, _, _ in rejoins = RejoinTable() }
        let ends = convoy.ends(at: "Ana")
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.isConnected("Ana") && convoy.isConnected("Car", to: "Ana"))
        #expect(convoy.ends(at: "Ana") == ends, "no circuit but that of the relay that was left has ended")
        #expect(convoy.nodes.values.allSatisfy { $0.core.misbehaviours.isEmpty })
        #expect(convoy.nodes["Car"]?.core.footprint.rejoins == 1, "something is kept of it again")
    }

    @Test("the derived keys are the document's")
    func vectors() throws {
        let secret = RejoinSecret(.init(data: (0..<32).map { UInt8($0) }))
        #expect(secret.id.value == 0xcf65_ea58_857b_779d)
        var (channel, hash) = secret.keys(ofAttempt: 1, as: .initiator)
        #expect(Hex.text(hash).hasPrefix("936a312d4e98265f563bb774bc8c9e35"))
        var direct = NoiseCipher(
            key: .init(
                data: try #require(Hex.bytes("527bd78d31fd95f0ff4a33840c3e6fcc5829124846d823652b1d22e56b99d119"))))
        #expect(channel.seal([1]) == direct.seal([1]))
        (channel, hash) = secret.keys(ofAttempt: 2, as: .responder)
        #expect(Hex.text(hash).hasPrefix("17e102dfa73ae56df32674c56181f0fb"))
        direct = NoiseCipher(
            key: .init(
                data: try #require(Hex.bytes("c43573a9b45fcae744a9c8fcd8bbe59eeb1d8a8d0b08ec596d1e75eb2711ef9c"))))
        #expect(channel.seal([1]) == direct.seal([1]))
    }

    @Test("after an hour a returning guest agrees on new keys")
    func afterAnHour() {
        var convoy = between()
        convoy.now += Limits.rejoinTime - .seconds(1)
        var early = convoy
        #expect(firstPacket(&early).first == 7)
        convoy.now += .seconds(1)
        #expect(firstPacket(&convoy).first == 4)
    }

    @Test("each attempt has different keys, also two that are pending at the same time")
    func attempts() {
        var convoy = between()
        let (first, second) = (firstPacket(&convoy), firstPacket(&convoy))
        #expect(first.count == second.count && first != second)
        guard case .rejoinHello(_, let id, let attempt, let record) = HandshakePacket(first[...]),
            case .rejoinHello(_, let other, let next, let otherRecord) = HandshakePacket(second[...])
        else {
            Issue.record("it has not come back")
            return
        }
        #expect(id == other && next == attempt + 1)
        #expect(zip(record, otherRecord).count { $0 == $1 } < record.count / 4, "the same bytes look different")
    }

    @Test("each attempt is opened once, and none after a later one: no key seals for two links")
    func once() {
        let secret = RejoinSecret(.init(data: [UInt8](repeating: 3, count: 32)))
        let key = ConversationKey("a", as: .responder, .democracyDJ)
        var table = RejoinTable()
        table.keep(Rejoin(secret: secret, attempt: 0, publicKey: [], name: "Ana"), for: key, now: .zero)
        let opened = [2, 2, 1, 3, 2].map { (attempt: UInt64) in
            var (channel, _) = secret.keys(ofAttempt: attempt, as: .initiator)
            return table.open(secret.id, attempt: attempt, channel.seal([1])[...], now: .zero)?.plaintext == [1]
        }
        #expect(opened == [true, false, false, true, false])
        var (channel, _) = secret.keys(ofAttempt: 4, as: .initiator)
        let record = channel.seal([1])
        #expect(table.open(secret.id, attempt: 5, record[...], now: .zero) == nil, "it is another one's")
        #expect(table.open(secret.id, attempt: 4, record[...], now: Limits.rejoinTime) == nil, "it is over")
        #expect(table.open(secret.id, attempt: 4, record[...], now: .zero) != nil)
        #expect(table.next(key, now: Limits.rejoinTime) == nil && table.count == 0)
    }

    @Test("a relay that repeats or delays a returning guest's packet is not mistaken for the guest")
    func replay() {
        var convoy = between()
        let packet = firstPacket(&convoy)
        convoy.settle()
        let link = convoy.nodes["Car"]?.core.link(to: convoy.id("Ana"))
        #expect(link != nil)
        say(packet, at: &convoy)
        #expect(convoy.nodes["Car"]?.core.link(to: convoy.id("Ana")) == link)
        // The packet was held back until the guest had joined through another relay.
        convoy.cut("Ana", from: "Two")
        convoy.dial("Ana", "Two")
        let late = firstPacket(&convoy)
        convoy.cut("Ana", from: "Two")
        convoy.dial("Ana", "Car")
        let direct = convoy.nodes["Car"]?.core.link(to: convoy.id("Ana"))
        say(late, at: &convoy)
        #expect(
            convoy.nodes["Car"]?.core.link(to: convoy.id("Ana")) == direct,
            "the keys of that packet are no longer known")
        #expect(convoy.isConnected("Ana"))
        convoy.advance(by: .seconds(20))
        #expect(convoy.nodes["Car"]?.core.link(to: convoy.id("Ana")) == direct)
    }

    @Test("a forged or altered packet is not mistaken for a returning guest's")
    func forged() {
        var convoy = between()
        var packet = firstPacket(&convoy)
        convoy.cut("Ana", from: "Two")
        packet[packet.count - 1] ^= 1
        say(packet, at: &convoy)
        for count in [0, 1, 15, 16, 100] {
            let record = [UInt8](repeating: 7, count: count)
            say(
                HandshakePacket.rejoinHello(major: 2, RejoinID(value: 1), attempt: 9, record: record[...]).bytes,
                at: &convoy)
        }
        #expect(!convoy.isConnected("Car", to: "Ana"))
        convoy.dial("Ana", "Two")
        #expect(firstPacket(&convoy).first == 7)
        convoy.settle()
        #expect(convoy.isConnected("Car", to: "Ana"), "who says it has something kept takes no attempt from who has")
    }

    @Test("a banned guest that returns is refused")
    func banned() {
        var convoy = between()
        let ana = convoy.id("Ana")
        convoy.nodes["Car"]?.core.banned = [ana]
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.ends(at: "Ana").last == .refused(.banned))
        #expect(!convoy.isConnected("Car", to: "Ana"))
    }

    @Test("a returning guest must prove the PIN if the host has set one meanwhile")
    func lockedDoor() {
        var convoy = between()
        convoy.nodes["Car"]?.core.admissionPolicy.pin = JoiningSecret(random: 135_790)
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.ends(at: "Ana").last == .refused(.challenge))
        convoy.nodes["Ana"]?.core.secret = JoiningSecret(random: 135_790)
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.isConnected("Ana") && convoy.isConnected("Car", to: "Ana"))
    }

    @Test("a returning guest joins while strangers use all of the host's handshakes")
    func besideStrangers() {
        var convoy = between()
        let now = convoy.now
        for _ in 0..<Limits.circuitHandshakeBurst {
            convoy.nodes["Car"]?.core.change { _, gate, _ in _ = gate.mayAgreeInCircuit(now: now) }
        }
        var stranger = convoy
        stranger.nodes["Ana"]?.core.change { rejoins, _, _ in rejoins = RejoinTable() }
        stranger.openCircuit("Ana", through: "Two")
        #expect(stranger.ends(at: "Ana").last == .busy)
        convoy.openCircuit("Ana", through: "Two")
        #expect(convoy.isConnected("Ana") && convoy.isConnected("Car", to: "Ana"))
    }

    @Test("stored secrets are gone from memory after an hour, also if the guest does not return")
    func leavesNothing() {
        var convoy = between()
        convoy.cut("Ana", from: "Two")
        #expect(["Car", "Ana"].map { convoy.nodes[$0]?.core.footprint.rejoins } == [1, 1])
        convoy.dial("Ana", "Two")
        convoy.advance(by: Limits.rejoinTime + .seconds(5))
        #expect(["Car", "Ana"].map { convoy.nodes[$0]?.core.footprint.rejoins } == [0, 0])
    }

    @Test("a guest that leaves before the answer sends nothing, because others may have its keys")
    func leavesEarly() {
        var convoy = between()
        convoy.nodes["Car"]?.core.change { rejoins, _, _ in rejoins = RejoinTable() }
        convoy.isHeldUp = true
        let id = convoy.openCircuit("Ana", through: "Two")
        convoy.act("Ana") { $0.leave(id) }
        convoy.isHeldUp = false
        convoy.settle()
        #expect(convoy.nodes.values.allSatisfy { $0.core.misbehaviours.isEmpty })
    }

    @Test("the number of stored secrets is limited, and the oldest are forgotten")
    func limit() {
        var table = RejoinTable()
        for number in 0..<Limits.rejoins + 3 {
            let kept = Rejoin(
                secret: RejoinSecret(
                    .init(data: [UInt8](repeating: UInt8(number % 251), count: 30) + [UInt8(number / 251), 1])),
                attempt: 0, publicKey: [], name: "")
            table.keep(kept, for: ConversationKey("\(number)", as: .initiator, .democracyDJ), now: .seconds(number))
        }
        #expect(table.count == Limits.rejoins)
        let kept = [2, 3].map { table.next(ConversationKey("\($0)", as: .initiator, .democracyDJ), now: .zero) != nil }
        #expect(kept == [false, true])
    }
}
