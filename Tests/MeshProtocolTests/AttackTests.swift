// SPDX-License-Identifier: Apache-2.0

import MeshSimulator
import Testing

@testable import MeshProtocol

/// Attacks by people with a radio, or with a seat in the car (`docs/threat-model.md`).
@Suite("Attacks")
struct AttackTests {
    // MARK: Records

    @Test("A frame in the clear ends a sealed link, and is not processed")
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

    @Test("A record that is replayed, missing, out of order or changed in any bit ends the link")
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

    // MARK: Identity

    @Test("A message cannot state its sender: its sender is the peer that has proved the link's key")
    func noOrigin() {
        var road = Road(guests: ["Ana", "Bob"])
        let id = road.joined()
        // The flags that earlier announced an origin and a destination have no meaning.
        road.say([.message(([0b110, 1] + Array("hi".utf8))[...])], as: "Ana", on: id)
        #expect(road.messages(at: "Car").map(\.peer) == [road.id("Ana")])
        #expect(road.texts(at: "Car") == ["hi"])
    }

    @Test("A fragment of a unit beyond the limit, or beyond its own total, closes the link")
    func oversizeFragments() {
        let attempts: [[Fragment]] = [
            [Fragment(lane: .reliable, position: .first(total: 1 << 40), data: [1])],
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

    @Test("A fragment that overlaps, leaves a gap or starts again closes the link")
    func overlappingFragments() {
        let first = Fragment(lane: .reliable, position: .first(total: 10), data: [1, 2, 3])
        for second in [
            Fragment(lane: .reliable, position: .next(offset: 2), data: [3]),
            Fragment(lane: .reliable, position: .next(offset: 4), data: [5]),
            first,
        ] { expectEnd(.badFragment, saying: [.fragment(first), .fragment(second)]) }
        expectEnd(.badFragment, saying: [.fragment(Fragment(lane: .latest, position: .next(offset: 0), data: [1]))])
    }

    @Test("A message in fragments of another class closes the link")
    func wrongLane() {
        let update = MessageUnit(.latest, number: 1, body: [1, 2, 3]).bytes
        expectEnd(
            .badFragment,
            saying: [.fragment(Fragment(lane: .reliable, position: .first(total: update.count), data: update[...]))])
    }

    @Test("A message of more than 65,535 bytes closes the link, and one of exactly that size arrives")
    func largestMessage() {
        for size in [Limits.messageBytes, Limits.messageBytes + 1] {
            let unit = MessageUnit(.reliable, number: 1, body: [UInt8](repeating: 7, count: size)[...]).bytes
            var road = Road()
            let id = road.joined()
            var sent = 0
            while sent < unit.count {
                let end = min(sent + 2_000, unit.count)
                let position: Fragment.Position = sent == 0 ? .first(total: unit.count) : .next(offset: sent)
                road.say(
                    [.fragment(Fragment(lane: .reliable, position: position, data: unit[sent..<end]))], as: "Ana",
                    on: id)
                sent = end
            }
            if size == Limits.messageBytes {
                #expect(road.texts(at: "Car").map(\.utf8.count) == [size])
            } else {
                #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.malformedFrame))
            }
        }
    }

    @Test("An acknowledgement of a message that was never sent closes the link, and the outbox stays")
    func impossibleAcknowledgement() {
        var road = Road()
        let id = road.joined()
        road.send("kept", from: "Car", to: "Ana")
        road.say([.acknowledgement(1)], as: "Ana", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.impossibleAcknowledgement))
        #expect(road.conversation("Car", with: "Ana")?.unacknowledged == 1)
    }

    @Test("A message that skips a number closes the link, and is not delivered")
    func missingMessage() {
        let unit = MessageUnit(.reliable, number: 2, body: [1])
        expectEnd(.missingMessage, saying: [.message(unit.bytes[...])])
    }

    @Test("Frames after the misbehaviour in a record are not processed, and a link ends once")
    func endsOnce() {
        var road = Road()
        let id = road.joined()
        let unit = MessageUnit(.reliable, number: 1, body: [1])
        let late = MessageUnit(.reliable, number: 5, body: [1])
        road.say(
            [.message(late.bytes[...]), .message(unit.bytes[...]), .acknowledgement(9), .goodbye()], as: "Ana", on: id)
        #expect(road.texts(at: "Car").isEmpty)
        let ends = road.nodes["Car"]?.events.filter { if case .ended = $0 { true } else { false } }
        #expect(ends?.count == 1)
    }

    @Test("A link on a bearer that states more frames a second is read on", arguments: [(500, true), (20_000, false)])
    func fastBearer(framesPerSecond: Int, isHeld: Bool) {
        var road = Road()
        let id = road.dial(framesPerSecond: framesPerSecond)
        road.settle()
        for _ in 0..<15 { road.say([Frame](repeating: .pong(0), count: 100), as: "Ana", on: id) }
        #expect((road.nodes["Car"]?.held[id] != nil) == isHeld)
    }

    @Test("A link that exceeds its share is not read for some time, and the other links are")
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
        writer.hello(Hello(name: String(repeating: "a", count: 249), resumption: resumption))
        var reader = WireReader(writer.bytes[...])
        #expect(reader.hello() == nil)
        writer = WireWriter()
        writer.hello(Hello(name: String(repeating: "a\n", count: 124), resumption: resumption))
        reader = WireReader(writer.bytes[...])
        let hello = reader.hello()
        #expect(hello?.name == String(repeating: "a", count: Limits.nameCharacters))
    }

    @Test("Additions of a newer minor version are skipped, and the link stays")
    func newerMinor() {
        var road = Road()
        let id = road.joined()
        let unit = MessageUnit(.reliable, number: 1, body: [0x41])
        // A frame of an unknown type, and a ping with an additional field.
        let record = [200, 3, 1, 2, 3, 7, 2, 5, 99] + Road.bytes(.message(unit.bytes[...]))
        road.say(record, as: "Ana", on: id)
        #expect(road.texts(at: "Car") == ["A"])
        #expect(road.isConnected("Car", to: "Ana"))
    }

    @Test("Random bytes at any time end a link with a reason")
    func randomBytes() {
        var chances = SeededGenerator(seed: 11)
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

    @Test("A hundred thousand hostile frames leave no state")
    func manyFrames() {
        var road = Road()
        let id = road.joined()
        let before = road.nodes["Car"]?.core.footprint
        // 500 frames in each record: unknown ones, pings, pongs and updates, repeatedly.
        let unknown: [UInt8] = [200, 2, 1, 2]
        let update = Road.bytes(
            .message(
                MessageUnit(.latest, number: 1, body: [1])
                    .bytes[...]))
        let records = [unknown, Road.bytes(.ping(7)), Road.bytes(.pong(7)), update].map { frame in
            Array([[UInt8]](repeating: frame, count: 500).joined())
        }
        for number in 0..<200 {
            road.say(records[number % records.count], as: "Ana", on: id)
            #expect(road.nodes["Car"]?.core.footprint.ownFrames ?? 0 <= 3)
        }
        road.settle()
        #expect(road.nodes["Car"]?.core.footprint == before)
        #expect(road.isConnected("Car", to: "Ana"))
    }

    private func expectEnd(_ how: Misbehaviour, saying frames: [Frame], _ location: SourceLocation = #_sourceLocation) {
        var road = Road()
        let id = road.joined()
        road.say(frames, as: "Ana", on: id)
        #expect(road.nodes["Car"]?.ends[id] == .misbehaved(how), sourceLocation: location)
        #expect(road.texts(at: "Car").isEmpty, sourceLocation: location)
    }
}
