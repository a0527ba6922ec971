// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import MeshProtocol

/// Attacks before a link is sealed (`docs/threat-model.md`).
@Suite("Attacks on the handshake")
struct HandshakeAttackTests {
    @Test("A replayed hello to a known host connects no peer, closes no link and changes no number")
    func replayedKnownHello() {
        var road = Road()
        road.cut(road.joined())
        let id = road.dial()
        road.pull("Ana", id)
        let hello = road.wires[id]?.toHost.first ?? []
        road.settle()
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        let before = road.nodes["Car"]?.core.remembered
        let replay = road.strangerLink()
        road.give(hello, to: "Car", on: replay)
        #expect(road.nodes["Car"]?.core.link(to: road.id("Ana")) == id)
        #expect(road.nodes["Car"]?.core.remembered == before)
        // The attacker cannot make the record that must follow.
        road.give([UInt8](repeating: 0, count: 19), to: "Car", on: replay)
        #expect(road.nodes["Car"]?.ends[replay] == .misbehaved(.forgedRecord))
        #expect(road.isConnected("Car", to: "Ana"))
    }

    @Test("A replayed handshake of a stranger fails")
    func replayedStranger() {
        var road = Road()
        let id = road.dial()
        road.pull("Ana", id)
        let hello = road.wires[id]?.toHost.first ?? []
        road.step(id)
        road.step(id)
        road.pull("Ana", id)
        let finish = road.wires[id]?.toHost.first ?? []
        road.settle()
        let replay = road.strangerLink()
        road.give(hello, to: "Car", on: replay)
        road.give(finish, to: "Car", on: replay)
        #expect(road.nodes["Car"]?.ends[replay] == .misbehaved(.badHandshake))
        #expect(road.nodes["Car"]?.core.link(to: road.id("Ana")) == id)
    }

    @Test(
        "A host with another key than the wanted one is left before the guest sends its hello",
        arguments: [true, false])
    func changedIdentity(isKnown: Bool) {
        var road = Road()
        if isKnown { road.cut(road.joined()) }
        let wanted = road.id("Car")
        road.add("Car", seed: 77)
        let id = road.dial(expecting: wanted)
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.changedIdentity))
        #expect(road.nodes["Car"]?.core.connectedPeers.isEmpty == true)
    }

    @Test("A node that was only a guest here is not a known host, and its key blocks none, also after a restart")
    func hostedIsNotJoined() throws {
        var road = Road(guests: ["Ana", "Van"])
        // The van joins Ana as a guest.
        road.cut(road.dial("Van", "Ana"))
        let first = road.dial("Van", "Ana")
        road.settle()
        road.cut(first)
        let remembered = try #require(road.nodes["Ana"]?.core.remembered)
        #expect(remembered.keys.map(\.role) == [.responder])
        road.add("Ana", seed: 2, remembered: remembered)
        // Ana looks for a host with the van's head. Any key with that head matches, so she treats it as a stranger.
        let id = road.dial("Ana", "Van")
        road.pull("Ana", id)
        #expect(road.wires[id]?.toHost.first?.first == 1)
        road.settle()
        #expect(road.isConnected("Ana", to: "Van"))
        #expect(Set(road.nodes["Ana"]?.core.remembered.keys.map(\.role) ?? []) == [.initiator, .responder])
        road.cut(id)
        // Now Ana has joined the van, and knows it.
        let again = road.dial("Ana", "Van")
        road.pull("Ana", again)
        #expect(road.wires[again]?.toHost.first?.first == 4)
    }

    @Test("A host with a key that does not match its advertisement is left before the guest sends its hello")
    func changedHead() {
        var road = Road()
        let id = road.dial(expecting: "00000000")
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.changedIdentity))
        #expect(road.nodes["Car"]?.events.isEmpty == true)
    }

    @Test("A point of low order in any packet of a handshake connects no peer", arguments: [UInt8(0), 1])
    func lowOrder(first: UInt8) {
        let point = [first] + [UInt8](repeating: 0, count: 31)
        var road = Road()
        let id = road.strangerLink()
        road.give(
            HandshakePacket.unknownHello(major: ProtocolVersion.major, noise: point[...]).bytes, to: "Car", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.badHandshake))
        let other = road.strangerLink()
        let noise = point + [UInt8](repeating: 0, count: 80)
        road.give(
            HandshakePacket.knownHello(major: ProtocolVersion.major, noise: noise[...]).bytes, to: "Car", on: other)
        road.give(
            HandshakePacket.knownHello(major: ProtocolVersion.major, noise: noise[...]).bytes, to: "Car", on: other)
        #expect(road.nodes["Car"]?.ends[other] == .misbehaved(.badHandshake))
        #expect(road.nodes["Car"]?.core.connectedPeers.isEmpty == true)
    }

    @Test("At most eight handshakes are half open, five seconds each, and the next guest learns that the host is busy")
    func halfOpen() {
        var road = Road()
        let strangers = (0..<Limits.halfOpenLinks).map { _ in road.strangerLink() }
        let id = road.dial()
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .busy)
        #expect(road.nodes["Car"]?.ends[id] == .busy)
        road.advance(by: .seconds(5))
        for stranger in strangers { #expect(road.nodes["Car"]?.ends[stranger] == .handshakeTimeout) }
        road.dial()
        road.settle()
        #expect(road.isConnected("Ana", to: "Car"))
    }

    @Test("Hundreds of callers cost a host twenty handshakes a second, and a full bus is admitted at once")
    func handshakeRate() {
        var road = Road()
        var taken = 0
        for _ in 0..<300 {
            let id = road.strangerLink()
            if road.nodes["Car"]?.core[link: id]?.machine.takesKnownOnly == false { taken += 1 }
            road.cut(id)
        }
        #expect(taken == Limits.handshakeBurst)
        road.advance(by: .seconds(1))
        for _ in 0..<300 {
            let id = road.strangerLink()
            if road.nodes["Car"]?.core[link: id]?.machine.takesKnownOnly == false { taken += 1 }
            road.cut(id)
        }
        #expect(taken == Limits.handshakeBurst + Limits.handshakesPerSecond)
    }

    @Test(
        "Endless calls at a broker or on the network do not use up the handshakes of the air",
        arguments: [BearerKind.broker, .lan])
    func callsElsewhere(bearer: BearerKind) {
        let guests = (1...Limits.guests).map { "Guest \($0)" }
        var road = Road(guests: guests)
        for (number, name) in guests.enumerated() {
            // Four calls a second that send nothing, and at one point forty at once.
            for _ in 0..<(number == 8 ? 40 : 4) {
                road.strangerLink(over: bearer)
                road.advance(by: .milliseconds(250))
            }
            let id = road.dial(name)
            while road.step(id) {}
            #expect(road.isConnected(name, to: "Car"), "\(name)")
        }
    }

    @Test("Strangers who use up all handshakes do not keep known guests out, and replays have a rate limit")
    func known() throws {
        var road = Road(guests: ["Ana", "Eve"])
        road.cut(road.joined())
        for _ in 0..<Limits.halfOpenLinks { road.strangerLink() }
        let new = road.dial("Eve")
        while road.step(new) {}
        #expect(road.nodes["Eve"]?.ends[new] == .busy)
        // Silent callers lose the slots of known guests after a second.
        for _ in 0..<Limits.halfOpenLinksOfKnown { road.strangerLink() }
        let full = road.dial()
        while road.step(full) {}
        #expect(road.nodes["Ana"]?.ends[full] == .busy)
        road.advance(by: .seconds(1))
        let id = road.dial()
        road.pull("Ana", id)
        let hello = try #require(road.wires[id]?.toHost.first)
        while road.step(id) {}
        #expect(road.isConnected("Ana", to: "Car"))
        var answers = 0
        for _ in 0..<200 {
            let replay = road.strangerLink()
            road.give(hello, to: "Car", on: replay)
            if road.nodes["Car"]?.core[link: replay]?.machine.hasEnded == false { answers += 1 }
            road.cut(replay)
        }
        #expect(answers < Limits.guests)
        #expect(road.isConnected("Ana", to: "Car"))
    }

    @Test("An unknown key gets no slot of known guests, even if it knows the host's key")
    func unknownKey() {
        var road = Road(guests: ["Ana", "Eve"])
        let eve = road.dial("Eve")
        road.settle()
        road.cut(eve)
        // The host has lost its knowledge of her.
        road.add("Car", seed: 1)
        for _ in 0..<Limits.halfOpenLinks { road.strangerLink() }
        let id = road.dial("Eve")
        while road.step(id) {}
        #expect(road.nodes["Eve"]?.ends[id] == .busy)
    }

    @Test("An unsealed claim that a known host has a new key ends the link, and connects no peer")
    func forgedUnknownKey() {
        var road = Road()
        road.cut(road.joined())
        let id = road.newLink("Ana", "Car")
        let (entropy, head) = (road.entropy(), Identity.head(of: road.id("Car")))
        road.act("Ana", on: id) { [now = road.now, mtu = road.sendMTU] in
            $0.opened(id, as: .initiator, sendMTU: mtu, expected: head, entropy: entropy, now: now)
        }
        road.give(HandshakePacket.clearRefusal(major: ProtocolVersion.major, .unknownKey).bytes, to: "Ana", on: id)
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.changedIdentity))
        #expect(!road.isConnected("Ana", to: "Car"))
    }

    @Test("A host that sends frames before its answer may send sixteen, for less than three seconds")
    func talkBeforeTheAnswer() {
        for frames in [Limits.framesBeforeAnswer - 1, Limits.framesBeforeAnswer] {
            var road = Road()
            let id = road.dial()
            for _ in 0..<3 { road.step(id) }
            #expect(road.nodes["Ana"]?.core[link: id]?.machine.isHalfOpen == true)
            // The record counts as one more frame.
            let plaintext = [UInt8]((0..<frames).flatMap { _ in [200, 0] as [UInt8] })
            let record = road.nodes["Car"]?.core[link: id]?.machine.sealed?.seal(plaintext) ?? []
            road.give(record, to: "Ana", on: id)
            road.settle()
            let isTooMuch = frames == Limits.framesBeforeAnswer
            #expect(road.nodes["Ana"]?.ends[id] == (isTooMuch ? .misbehaved(.unexpectedFrame) : nil))
            #expect(road.isConnected("Ana", to: "Car") == !isTooMuch)
        }
    }

    @Test("A node that has joined two hosts with the same head accepts no third host for either")
    func twoOfOneHead() {
        var road = Road(guests: ["Ana"])
        let cars = (3...UInt8.max).filter { Road.identity($0).peerID.hasPrefix(road.id("Car").prefix(1)) }
        for (name, seed) in zip(["Bus", "Thief"], cars) { road.add(name, seed: seed) }
        let head = String(road.id("Car").prefix(1))
        for name in ["Car", "Bus"] {
            let id = road.dial("Ana", name)
            road.settle()
            road.cut(id)
        }
        let id = road.dial("Ana", "Thief", expecting: head)
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.changedIdentity))
        road.cut(id)
        road.dial("Ana", "Bus", expecting: head)
        road.settle()
        #expect(road.isConnected("Ana", to: "Bus"))
    }

    @Test(
        "Two nodes with one identity do not replace each other forever: both are notified, then only one is admitted")
    func twins() {
        var road = Road()
        road.add("Copy", seed: 2)
        #expect(road.id("Copy") == road.id("Ana"))
        var previous: MeshCore.LinkID?
        var dials = 0
        while dials < 50, road.nodes["Ana"]?.ends.values.contains(.refused(.twin)) != true {
            let id = road.dial(dials % 2 == 0 ? "Ana" : "Copy")
            dials += 1
            road.settle()
            if let previous { road.cut(previous) }
            previous = id
            road.advance(by: .milliseconds(80))
        }
        #expect(dials == Limits.replacements + 1)
        #expect(road.nodes["Copy"]?.ends.values.contains(.refused(.twin)) == true)
        let id = road.dial("Copy")
        road.settle()
        #expect(road.nodes["Copy"]?.ends[id] == .refused(.twin), "a program that reconnects is notified too")
        road.advance(by: Limits.replacementTime)
        road.dial("Copy")
        road.settle()
        #expect(road.isConnected("Copy", to: "Car"))
    }

    @Test("A guest with five broken links in ten seconds is not a twin")
    func flickering() {
        var road = Road()
        for _ in 0..<8 {
            let id = road.dial()
            road.settle()
            #expect(road.isConnected("Ana", to: "Car"))
            road.advance(by: .seconds(1))
            road.cut(id)
        }
    }

    @Test("A node with the host's own identity learns that it is a copy")
    func hostsTwin() {
        var road = Road()
        road.add("Copy", seed: 1)
        let id = road.dial("Copy")
        road.settle()
        #expect(road.nodes["Copy"]?.ends[id] == .refused(.twin))
    }

    @Test("A channel that closes right after it opened is not misbehaviour")
    func closedAtOnce() {
        var road = Road()
        road.sendMTU = 0
        let id = road.dial()
        #expect(road.nodes["Car"]?.ends[id] == .linkLost && road.nodes["Car"]?.core.misbehaviours.isEmpty == true)
        road.sendMTU = Limits.leastSDUBytes - 1
        let small = road.dial()
        #expect(road.nodes["Car"]?.ends[small] == .misbehaved(.smallChannel))
    }

    @Test("An unproved refusal is assigned to no peer")
    func unprovedRefusal() {
        var road = Road()
        let id = road.newLink("Ana", "Car")
        let entropy = road.entropy()
        road.act("Ana", on: id) { [now = road.now, mtu = road.sendMTU] in
            $0.opened(id, as: .initiator, sendMTU: mtu, expected: nil, entropy: entropy, now: now)
        }
        road.give(HandshakePacket.clearRefusal(major: 3, .version).bytes, to: "Ana", on: id)
        #expect(road.nodes["Ana"]?.events == [.failed(expected: nil, proved: nil, .refused(.version))])
    }

    @Test("A guest of another major version is refused in the clear with the version, without a key agreement")
    func otherMajor() {
        var road = Road()
        let id = road.strangerLink()
        road.give(HandshakePacket.unknownHello(major: 1, noise: []).bytes, to: "Car", on: id)
        road.pull("Car", id)
        #expect(road.wires[id]?.toGuest == [HandshakePacket.clearRefusal(major: ProtocolVersion.major, .version).bytes])
        #expect(road.nodes["Car"]?.ends[id] == .refused(.version))
    }

    @Test("A thief of the host's key is not accepted as one of its guests")
    func stolenHostKey() throws {
        var road = Road()
        let thief = StolenKey(host: Road.identity(1), victim: Road.identity(2))
        let hello = Hello(
            name: "Ana", resumption: Resumption(epoch: 1, first: 1, theirEpoch: 0, delivered: 0))
        let link = road.strangerLink()
        road.give(try thief.knownHello(hello), to: "Car", on: link)
        road.pull("Car", link)
        // The host has answered: it takes this for Ana's hello, and waits for a record that only she can make.
        let answer = try #require(road.wires[link]?.toGuest.first)
        #expect(answer.first == 5)
        #expect(!road.isConnected("Car", to: "Ana"))
        road.give([UInt8](repeating: 7, count: 40), to: "Car", on: link)
        #expect(road.nodes["Car"]?.ends[link] == .misbehaved(.forgedRecord))
        #expect(road.nodes["Car"]?.events.contains { if case .connected = $0 { true } else { false } } == false)
    }
}

/// Makes a guest's first packet with the host's private key instead of the guest's. The only agreement in it that needs
/// the guest's key (`ss`) can be computed by either side.
private struct StolenKey {
    let host: Identity
    let victim: Identity

    func knownHello(_ hello: Hello) throws -> [UInt8] {
        let hostKey = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: host.stored)
        let victimPublic = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: victim.publicKey)
        let ephemeral = Curve25519.KeyAgreement.PrivateKey()
        var state = NoiseSymmetricState(protocolName: "Noise_IK_25519_ChaChaPoly_SHA256")
        state.mixHash(HandshakePacket.prologue(of: .democracyDJ)[...])
        state.mixHash(Array(hostKey.publicKey.rawRepresentation)[...])
        var packet: [UInt8] = [4, ProtocolVersion.major] + ephemeral.publicKey.rawRepresentation
        state.mixHash(Array(ephemeral.publicKey.rawRepresentation)[...])
        try ephemeral.sharedSecretFromKeyAgreement(with: hostKey.publicKey).withUnsafeBytes { state.mixKey($0) }
        packet += state.encryptAndHash(victim.publicKey)
        try hostKey.sharedSecretFromKeyAgreement(with: victimPublic).withUnsafeBytes { state.mixKey($0) }
        return packet + state.encryptAndHash(Road.bytes(.appStart(hello)))
    }
}
