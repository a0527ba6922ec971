// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import MeshProtocol

/// What people with a radio, or with a place in the car, can try (`docs/threat-model.md`).
@Suite("Attacks")
struct AttackTests {
    // MARK: Records

    @Test("A frame in the clear ends a sealed link, and nothing in it is looked at")
    func plaintext() {
        var road = Road()
        let id = road.joined()
        let vote = MessageUnit(.reliable, number: 1, body: [1])
        road.give(Road.bytes(.message(vote.bytes[...])), to: "Car", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.forgedRecord))
        #expect(road.texts(at: "Car").isEmpty)
        #expect(road.nodes["Car"]?.core.misbehaviours == [.forgedRecord: 1])
    }

    @Test("Neither names nor identifiers nor messages are on the air in the clear")
    func confidential() {
        var road = Road(guests: ["Anastasia"], host: "Dad's Car")
        let id = road.dial("Anastasia", "Dad's Car")
        road.send("a secret vote", from: "Anastasia", to: "Dad's Car")
        var air: [[UInt8]] = []
        for _ in 0..<6 {
            road.pull("Anastasia", id)
            road.pull("Dad's Car", id)
            air += (road.wires[id]?.toHost ?? []) + (road.wires[id]?.toGuest ?? [])
            road.step(id)
            if air.count == 4 { road.send("a secret vote", from: "Anastasia", to: "Dad's Car") }
        }
        #expect(road.texts(at: "Dad's Car") == ["a secret vote"])
        let spoken = air.flatMap(\.self)
        for secret in ["Anastasia", "Dad's Car", "secret"] {
            #expect(!spoken.contains(Array(secret.utf8)))
        }
        for name in ["Anastasia", "Dad's Car"] {
            #expect(!spoken.contains(Hex.bytes(road.id(name)) ?? []))
        }
    }

    @Test("A record that is replayed, left out, out of order or flipped in any bit ends the link")
    func records() {
        for change in ["replay", "omission", "order"] {
            var road = Road()
            let id = road.joined()
            let records = ["one", "two"].map { text in
                road.send(text, from: "Ana", to: "Car")
                road.pull("Ana", id)
                return road.wires[id]?.toHost.removeLast() ?? []
            }
            let sequence =
                switch change {
                case "replay": [records[0], records[0]]
                case "omission": [records[1]]
                default: [records[1], records[0]]
                }
            for record in sequence { road.give(record, to: "Car", on: id) }
            #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.forgedRecord), "\(change)")
        }
        var road = Road()
        let id = road.joined()
        road.send("one", from: "Ana", to: "Car")
        road.pull("Ana", id)
        let record = road.wires[id]?.toHost.first ?? []
        for bit in 0..<record.count * 8 {
            var attempt = road
            var flipped = record
            flipped[bit / 8] ^= 1 << (bit % 8)
            attempt.give(flipped, to: "Car", on: id)
            #expect(attempt.nodes["Car"]?.ends[id] == .misbehaved(.forgedRecord))
        }
    }

    // MARK: Handshakes

    @Test("A replayed hello to a known host connects nobody, closes no link and moves no number")
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
        // Whoever replays it cannot make the record that would follow.
        road.give([UInt8](repeating: 0, count: 19), to: "Car", on: replay)
        #expect(road.nodes["Car"]?.ends[replay] == .misbehaved(.forgedRecord))
        #expect(road.isConnected("Car", to: "Ana"))
    }

    @Test("A replayed handshake of a stranger gets nowhere")
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
        "A host with another key than the wanted one is left before the guest has introduced itself",
        arguments: [true, false])
    func changedIdentity(isKnown: Bool) {
        var road = Road()
        if isKnown { road.cut(road.joined()) }
        let wanted = road.id("Car")
        road.add("Car", seed: 77)
        let id = road.dial(expecting: wanted)
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.changedIdentity))
        #expect(road.nodes["Car"]?.events.isEmpty == true)
    }

    @Test("A host whose key does not begin as it advertised is left before the guest has introduced itself")
    func changedHead() {
        var road = Road()
        let id = road.dial(expecting: "000000")
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.changedIdentity))
        #expect(road.nodes["Car"]?.events.isEmpty == true)
    }

    @Test("A point of low order in any packet of a handshake connects nobody", arguments: [UInt8(0), 1])
    func lowOrder(first: UInt8) {
        let point = [first] + [UInt8](repeating: 0, count: 31)
        var road = Road()
        let id = road.strangerLink()
        road.give(HandshakePacket.strangerHello(major: 1, noise: point[...]).bytes, to: "Car", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.badHandshake))
        let other = road.strangerLink()
        let noise = point + [UInt8](repeating: 0, count: 80)
        road.give(HandshakePacket.knownHello(major: 1, noise: noise[...]).bytes, to: "Car", on: other)
        road.give(HandshakePacket.knownHello(major: 1, noise: noise[...]).bytes, to: "Car", on: other)
        #expect(road.nodes["Car"]?.ends[other] == .misbehaved(.badHandshake))
        #expect(road.nodes["Car"]?.core.connectedPeers.isEmpty == true)
    }

    @Test("Eight handshakes are half open at most, five seconds each, and the next guest is told that the host is busy")
    func halfOpen() {
        var road = Road()
        let strangers = (0..<Limits.strangers).map { _ in road.strangerLink() }
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

    @Test("A guest of another major version is refused by name, in the clear, and costs no key agreement")
    func otherMajor() {
        var road = Road()
        let id = road.strangerLink()
        road.give(HandshakePacket.strangerHello(major: 2, noise: []).bytes, to: "Car", on: id)
        road.pull("Car", id)
        #expect(road.wires[id]?.toGuest == [HandshakePacket.clearRefusal(major: 1, .version).bytes])
        #expect(road.nodes["Car"]?.ends[id] == .refused(.version))
    }

    // MARK: Who is in

    @Test("A message that names another guest as its origin is dropped, and the link goes on")
    func otherOrigin() {
        var road = Road(guests: ["Ana", "Bob"])
        let id = road.joined()
        var unit = MessageUnit(.reliable, number: 1, body: [1])
        unit.origin = road.id("Bob")
        road.say([.message(unit.bytes[...])], as: "Ana", on: id)
        #expect(road.texts(at: "Car").isEmpty)
        #expect(road.nodes["Car"]?.core.misaddressed == 1)
        #expect(road.isConnected("Car", to: "Ana"))
    }

    @Test("A fragment of a unit beyond the limit, or beyond its own total, closes the link")
    func oversizeFragments() {
        let attempts: [[Fragment]] = [
            [Fragment(lane: .reliable, position: .first(total: Limits.unitBytes + 1), data: [1])],
            [Fragment(lane: .latest, position: .first(total: 0), data: [])],
            [Fragment(lane: .latest, position: .first(total: 2), data: [1, 2, 3])],
            [
                Fragment(lane: .latest, position: .first(total: 3), data: [1, 2]),
                Fragment(lane: .latest, position: .next(offset: 2), data: [3, 4]),
            ],
        ]
        for fragments in attempts { expectEnd(.badFragment, saying: fragments.map { .fragment($0) }) }
    }

    @Test("A fragment that overlaps, leaves a gap or begins anew closes the link")
    func overlappingFragments() {
        let first = Fragment(lane: .reliable, position: .first(total: 10), data: [1, 2, 3])
        for second in [
            Fragment(lane: .reliable, position: .next(offset: 2), data: [3]),
            Fragment(lane: .reliable, position: .next(offset: 4), data: [5]),
            first,
        ] { expectEnd(.badFragment, saying: [.fragment(first), .fragment(second)]) }
        expectEnd(.badFragment, saying: [.fragment(Fragment(lane: .latest, position: .next(offset: 0), data: [1]))])
    }

    @Test("An acknowledgement of what was never sent closes the link, and the outbox stays")
    func impossibleAcknowledgement() {
        var road = Road()
        let id = road.joined()
        road.send("kept", from: "Car", to: "Ana")
        road.say([.acknowledgement(1)], as: "Ana", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.impossibleAcknowledgement))
        #expect(road.nodes["Car"]?.core.conversation(with: road.id("Ana"))?.unacknowledged == 1)
    }

    @Test("A message that comes before a missing one closes the link, and is not delivered")
    func missingMessage() {
        let unit = MessageUnit(.reliable, number: 2, body: [1])
        expectEnd(.missingMessage, saying: [.message(unit.bytes[...])])
    }

    @Test("What stands behind the misbehaviour in a record is not looked at, and a link ends once")
    func endsOnce() {
        var road = Road()
        let id = road.joined()
        let unit = MessageUnit(.reliable, number: 1, body: [1])
        let late = MessageUnit(.reliable, number: 5, body: [1])
        road.say(
            [.message(late.bytes[...]), .message(unit.bytes[...]), .acknowledgement(9), .goodbye], as: "Ana", on: id)
        #expect(road.texts(at: "Car").isEmpty)
        let ends = road.nodes["Car"]?.events.filter { if case .ended = $0 { true } else { false } }
        #expect(ends?.count == 1)
    }

    @Test("A link that brings more than its share is not read for a while, and the others are")
    func flood() throws {
        var road = Road(guests: ["Ana", "Bob"])
        let ana = road.joined()
        let bob = road.dial("Bob")
        road.settle()
        for _ in 0..<20 { road.say([Frame](repeating: .pong(0), count: 100), as: "Ana", on: ana) }
        let until = try #require(road.nodes["Car"]?.held[ana])
        #expect(until > .seconds(1) && until < .seconds(4))
        road.send("vote", from: "Bob", to: "Car")
        road.settle()
        #expect(road.texts(at: "Car") == ["vote"])
        #expect(road.nodes["Car"]?.held[bob] == nil)
    }

    @Test("A name of more than 248 bytes closes the link, and one of 248 becomes a line that can be shown")
    func longNames() {
        let resumption = Resumption(epoch: 1, first: 1, theirEpoch: 0, delivered: 0)
        var writer = WireWriter()
        writer.introduction(Introduction(name: String(repeating: "a", count: 249), resumption: resumption))
        var reader = WireReader(writer.bytes[...])
        #expect(reader.introduction() == nil)
        writer = WireWriter()
        writer.introduction(Introduction(name: String(repeating: "a\n", count: 124), resumption: resumption))
        reader = WireReader(writer.bytes[...])
        let introduction = reader.introduction()
        #expect(introduction?.name == String(repeating: "a", count: Limits.nameCharacters))
    }

    @Test("What a newer minor version adds is skipped, and the link goes on")
    func newerMinor() {
        var road = Road()
        let id = road.joined()
        let unit = MessageUnit(.reliable, number: 1, body: [0x41])
        // A frame of an unknown type, and a ping with a field more.
        let record = [200, 3, 1, 2, 3, 7, 2, 5, 99] + Road.bytes(.message(unit.bytes[...]))
        road.say(record, as: "Ana", on: id)
        #expect(road.texts(at: "Car") == ["A"])
        #expect(road.isConnected("Car", to: "Ana"))
    }

    @Test("Random bytes at any time end a link with a reason")
    func randomBytes() {
        var chances = SplitMix(state: 11)
        for round in 0..<400 {
            var road = Road()
            let id = round.isMultiple(of: 2) ? road.joined() : road.strangerLink()
            let bytes = (0..<Int.random(in: 1...80, using: &chances)).map { _ in
                UInt8.random(in: 0...255, using: &chances)
            }
            if round.isMultiple(of: 2), round % 4 == 0 {
                road.say(bytes, as: "Ana", on: id)
            } else {
                road.give(bytes, to: "Car", on: id)
                if round.isMultiple(of: 2) { #expect(road.nodes["Car"]?.ends[id] != nil) }
            }
        }
    }

    @Test("A million hostile frames keep a host under 16 MiB")
    func millionFrames() throws {
        var road = Road()
        let id = road.joined()
        // 550 frames in each record: unknown ones, pings, pongs and updates, again and again.
        let unknown: [UInt8] = [200, 2, 1, 2]
        let ping = Road.bytes(.ping(7))
        let records = [unknown, ping, Road.bytes(.pong(7))].map { frame in
            Array([[UInt8]](repeating: frame, count: 550).joined())
        }
        let before = try residentBytes()
        for number in 0..<1_000_000 / 550 + 1 { road.say(records[number % 3], as: "Ana", on: id) }
        #expect(try residentBytes() - before < 16 << 20)
        #expect(road.isConnected("Car", to: "Ana"))
    }

    private func residentBytes() throws -> Int {
        let file = try #require(fopen("/proc/self/statm", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        #expect(fgets(&line, Int32(line.count), file) != nil)
        let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return try #require(fields.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4_096
    }

    private func expectEnd(_ how: Misbehaviour, saying frames: [Frame], _ location: SourceLocation = #_sourceLocation) {
        var road = Road()
        let id = road.joined()
        road.say(frames, as: "Ana", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(how), sourceLocation: location)
        #expect(road.texts(at: "Car").isEmpty, sourceLocation: location)
    }
}

/// A small generator that gives the same numbers each time.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension Road {
    mutating func joined() -> MeshCore.LinkID {
        let id = dial()
        settle()
        return id
    }

    /// A channel to the host whose other end is nobody of ours.
    mutating func strangerLink() -> MeshCore.LinkID {
        let id = newLink("nobody", "Car")
        let entropy = entropy()
        act("Car", on: id) { [now, sendMTU] in
            $0.opened(id, as: .host, sendMTU: sendMTU, entropy: entropy, now: now)
        }
        return id
    }

    /// A guest with the right keys says to the host what no guest of ours would say.
    mutating func say(_ frames: [Frame], as name: String, on id: MeshCore.LinkID) {
        say(frames.flatMap { Self.bytes($0) }, as: name, on: id)
    }

    mutating func say(_ plaintext: [UInt8], as name: String, on id: MeshCore.LinkID) {
        guard let record = nodes[name]?.core.links[id]?.machine.sealed?.seal(plaintext) else { return }
        give(record, to: "Car", on: id)
    }

    static func bytes(_ frame: Frame) -> [UInt8] {
        var writer = WireWriter()
        frame.write(into: &writer)
        return writer.bytes
    }
}
