// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// Frames that independent implementations have sent, and that were not handled as `docs/protocol.md` says.
@Suite("Frames at their limits")
struct WireEdgeTests {
    private static let host = String(repeating: "0", count: 32)

    private func open(_ number: UInt64 = 0, to host: Peer.ID = host, hops: UInt8 = 64, passed: Int = 0) -> CircuitOpen {
        let heads = (0..<passed).map { Hex.text([1, 2, UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
        return CircuitOpen(circuit: number, host: host, hopsLeft: hops, innerMTU: 2_000, passed: heads)
    }

    private func next(_ circuits: inout CircuitMux) -> Frame? {
        circuits.next(fitting: 1_200) { _, _ in .nothing }?.frame
    }

    private func data(_ circuits: inout CircuitMux) -> [[UInt8]] {
        var data: [[UInt8]] = []
        while let frame = next(&circuits) { if case .circuitData(_, let sdu) = frame { data.append(sdu) } }
        return data
    }

    // MARK: Credits

    @Test("The inner MTU in credits of the opener is ignored, and the circuit opens", arguments: [0, 512, 600, 4_000])
    func creditsOfTheOpener(sendMTU: Int) {
        var circuits = CircuitMux(.responder)
        _ = circuits.received(.circuitOpen(open()))
        _ = circuits.received(.circuitCredit(circuit: 0, credits: 4, sendMTU: sendMTU))
        let isAccepted = circuits.accept(0, receiveMTU: 600)
        #expect(isAccepted)
        #expect(circuits.sendMTU(of: 0) == 2_000)
        let first = next(&circuits)
        #expect(first == .circuitCredit(circuit: 0, credits: 4, sendMTU: 600))
    }

    @Test("Only the first credits of the side that was asked open a circuit, with or without an inner MTU")
    func firstCredits() throws {
        for (first, mtu) in [(nil, 512), (511, 512), (900, 900)] {
            var circuits = CircuitMux(.initiator)
            let opened = circuits.open(Self.host, hopsLeft: 64, receiveMTU: 600, passed: [])
            let number = try #require(opened)
            _ = circuits.received(.circuitCredit(circuit: number, credits: 4, sendMTU: first))
            _ = circuits.received(.circuitCredit(circuit: number, credits: 4, sendMTU: 2_000))
            #expect(circuits.sendMTU(of: number) == mtu)
        }
    }

    @Test("Credits with an inner MTU that is cut off, or of 2^32 or more, are malformed")
    func malformedCredits() {
        func read(_ body: [UInt8]) -> FrameReader.Next? {
            var reader = FrameReader(([14, UInt8(body.count)] + body)[...])
            return reader.next()
        }
        for mtu: [UInt8] in [
            [0x80], [0x93, 0x80], [0x80, 0x80, 0x80, 0x80, 0x10], [UInt8](repeating: 0xFF, count: 10),
        ] {
            #expect(read([2, 4] + mtu) == .malformed(type: 14), "\(mtu)")
        }
        #expect(read([2, 4]) == .frame(.circuitCredit(circuit: 2, credits: 4)))
        #expect(read([2, 4, 0x93, 0x11]) == .frame(.circuitCredit(circuit: 2, credits: 4, sendMTU: 2_195)))
    }

    @Test("One SDU answers an opener that has given no credits yet, and counts as one of its first")
    func answersWithoutCredits() {
        var circuits = CircuitMux(.responder)
        _ = circuits.received(.circuitOpen(open()))
        _ = circuits.received(.circuitData(circuit: 0, sdu: [9]))
        circuits.accept(0, receiveMTU: 600)
        for sdu: [UInt8] in [[1], [2], [3]] { circuits.enqueue(sdu, on: 0) }
        var sent = data(&circuits)
        #expect(sent == [[1]])
        _ = circuits.received(.circuitCredit(circuit: 0, credits: 2))
        sent = data(&circuits)
        #expect(sent == [[2]])
        _ = circuits.received(.circuitCredit(circuit: 0, credits: 1))
        sent = data(&circuits)
        #expect(sent == [[3]])
    }

    @Test("An opener that gives its first credits at once gets no SDU beyond them", arguments: [0, 1, 2, 4])
    func firstCreditsAtOnce(credits: Int) {
        var circuits = CircuitMux(.responder)
        _ = circuits.received(.circuitOpen(open()))
        _ = circuits.received(.circuitCredit(circuit: 0, credits: UInt64(credits)))
        circuits.accept(0, receiveMTU: 600)
        for sdu in UInt8(0)..<6 { circuits.enqueue([sdu], on: 0) }
        let sent = data(&circuits)
        #expect(sent.count == credits)
    }

    @Test("A guest whose opener gives no credits is answered through relays")
    func answeredThroughRelays() {
        var convoy = Convoy(relays: ["One"], guests: ["Ana"])
        convoy.dial("One", "Car")
        convoy.lead("One", hops: 1)
        convoy.dial("Ana", "One")
        let hello = [UInt8(1), ProtocolVersion.major] + Road.identity(77).publicKey
        convoy.say([.circuitOpen(open(2, to: convoy.id("Car"))), .circuitData(circuit: 2, sdu: hello)], "Ana", "One")
        let link = convoy.link("One", to: "Ana")
        #expect(convoy.nodes["One"]?.core[link: link ?? 0]?.circuits.queuedBytes == 0, "XX-2 has left")
    }

    // MARK: Relays that a circuit has passed

    @Test("A circuit that has passed 64 relays is not passed on", arguments: [62, 63, 64, 65, 255])
    func passedOn(passed: Int) {
        var convoy = Convoy(relays: ["One"], guests: ["Ana"])
        convoy.dial("One", "Car")
        convoy.lead("One", hops: 1)
        convoy.dial("Ana", "One")
        convoy.isHeldUp = true
        convoy.say([.circuitOpen(open(2, to: convoy.id("Car"), passed: passed))], "Ana", "One")
        let (down, up) = (convoy.link("One", to: "Ana") ?? 0, convoy.link("One", to: "Car") ?? 0)
        let onward: CircuitOpen? =
            if case .circuitOpen(let onward) = convoy.frame("One", up) { onward } else { nil }
        #expect(onward?.passed.count == (passed < 64 ? passed + 1 : nil))
        let answer = convoy.frame("One", down)
        #expect(answer == (passed < 64 ? nil : .circuitClose(circuit: 2, .tooFar)))
    }

    @Test("A host accepts no circuit that has passed more than 64 relays", arguments: [64, 65, 66, 255])
    func accepted(passed: Int) {
        var convoy = Convoy(relays: ["One"])
        convoy.dial("One", "Car")
        convoy.isHeldUp = true
        convoy.say([.circuitOpen(open(2, to: convoy.id("Car"), hops: 0, passed: passed))], "One", "Car")
        let link = convoy.link("Car", to: "One") ?? 0
        let isRefused = convoy.frame("Car", link) == .circuitClose(circuit: 2, .tooFar)
        #expect(isRefused == (passed > 64))
    }

    @Test("The count of heads is that of the heads that follow", arguments: [0, 255, 256, 300])
    func heads(count: Int) {
        let written = Road.bytes(.circuitOpen(open(passed: count)))
        var reader = FrameReader((written + Road.bytes(.ping(7)))[...])
        guard case .frame(.circuitOpen(let read)) = reader.next() else {
            Issue.record("it is malformed")
            return
        }
        #expect(read == open(passed: min(count, 255)))
        #expect(Road.bytes(.circuitOpen(read)) == written, "nothing follows the last head")
    }

    @Test("A host has no room for a circuit on a link of less than 538 bytes", arguments: [512, 537, 538])
    func smallLink(bytes: Int) {
        var convoy = Convoy(relays: ["One"])
        convoy.sendMTU = bytes
        convoy.dial("One", "Car")
        convoy.isHeldUp = true
        convoy.say([.circuitOpen(open(2, to: convoy.id("Car")))], "One", "Car")
        let link = convoy.link("Car", to: "One") ?? 0
        let isRefused = convoy.frame("Car", link) == .circuitClose(circuit: 2, .noRoom)
        #expect(isRefused == (bytes < 538))
    }

    // MARK: Other frames

    @Test(
        "An acknowledgement on a carrier is impossible, from either side", arguments: [("Ana", "One"), ("One", "Ana")])
    func acknowledgement(from name: String, to other: String) {
        var convoy = Convoy(relays: ["One"], guests: ["Ana"])
        convoy.dial("One", "Car")
        convoy.lead("One", hops: 1)
        convoy.dial("Ana", "One")
        convoy.say([.acknowledgement(0)], name, other)
        #expect(convoy.ends(at: other) == [], "nothing is acknowledged up to 0 on every link")
        convoy.say([.acknowledgement(1)], name, other)
        #expect(convoy.ends(at: other) == [.misbehaved(.impossibleAcknowledgement)])
    }

    @Test("Frames in front of the answer count before the answer is read", arguments: [0, 15, 16, 40])
    func beforeTheAnswer(unknown: Int) {
        var road = Road()
        let id = road.dial()
        var isAnswering: Bool {
            if case .answering = road.nodes["Ana"]?.core[link: id]?.machine.phase { true } else { false }
        }
        var moves = true
        while !isAnswering, moves { moves = road.step(id) }
        let hello = Hello(name: "Car", resumption: Resumption(epoch: 1, first: 1, theirEpoch: 0, delivered: 0))
        let frames = (0..<unknown).flatMap { _ in [UInt8(99), 0] } + Road.bytes(.selfInfo(hello))
        road.act("Ana", on: id) { core in core.change(id) { $0.receivedFrames(frames[...], now: .zero) } }
        #expect(road.isConnected("Ana", to: "Car") == (unknown < 16))
        #expect(road.nodes["Ana"]?.ends[id] == (unknown < 16 ? nil : .misbehaved(.unexpectedFrame)))
    }
}

extension Convoy {
    /// A node sends frames to another in one record, and everything moves.
    fileprivate mutating func say(_ frames: [Frame], _ name: String, _ other: String) {
        guard let link = link(name, to: other),
            let record = nodes[name]?.core[link: link]?.machine.sealed?.seal(frames.flatMap { Road.bytes($0) })
        else {
            Issue.record("\(name) has no link to \(other)")
            return
        }
        give(record, from: End(node: name, link: link))
        settle()
    }

    /// The next frame about a circuit that a node has for a link.
    fileprivate mutating func frame(_ name: String, _ link: MeshCore.LinkID) -> Frame? {
        nodes[name]?.core[link: link]?.circuits.next(fitting: 1_500) { _, _ in .nothing }?.frame
    }
}
