// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// Two nodes on a link that is up. A script lets them send, wait and leave, and injects correctly sealed records and
/// forged SDUs that neither would send.
enum RecordTarget {
    private static let steps = 64

    static func run(_ input: [UInt8]) throws {
        var road = try connected.get()
        var script = Script(input)
        for _ in 0..<steps where !script.isAtEnd { try road.step(&script) }
        try road.finish()
    }

    private static let connected = Result { try ConnectedPair() }
}

/// A guest and a host, and the channel between them.
struct ConnectedPair {
    private var guest: LinkedNode
    private var host: LinkedNode

    init(
        guest guestKnows: [ConversationKey: MeshCore.Remembered] = [:],
        host hostKnows: [ConversationKey: MeshCore.Remembered] = [:]
    )
        throws
    {
        guest = try LinkedNode(.initiator, seed: 2, remembered: guestKnows)
        host = try LinkedNode(.responder, seed: 1, remembered: hostKnows)
        try host.open(entropy: 11)
        try guest.open(expecting: host.core.local.id, entropy: 12)
        try settle()
        try invariant(guest.peer != nil && host.peer != nil, "a guest and a host connect")
    }

    // MARK: Steps

    mutating func step(_ script: inout Script) throws {
        let what = script.byte()
        let side: WritableKeyPath<Self, LinkedNode> = what & 0x80 == 0 ? \.host : \.guest
        switch what % 12 {
        case 0: try say(script.chunk(), to: side)
        case 1, 2, 3: try say(frames(for: side, &script), to: side)
        case 4: try sayLong(&script, to: side)
        case 5: try say(flood(&script), to: side)
        case 6: try forge(script.chunk(), to: side)
        case 7: try self[keyPath: side].send(script.chunk(), as: script.flag() ? .latest : .reliable)
        case 8:
            let body = [UInt8](repeating: 9, count: Int(script.byte()) * 256)
            try self[keyPath: side].send(body, as: script.flag() ? .latest : .reliable)
        case 9: try pass(.milliseconds(20 * Int(script.byte())))
        case 10: try self[keyPath: side].accept()
        default:
            if script.number(below: 8) == 0 { try self[keyPath: side].act { $0.leave(LinkedNode.link) } }
            try settle()
        }
    }

    /// All messages arrive, whatever was injected.
    mutating func finish() throws {
        try settle()
        for node in [guest, host] {
            guard let key = node.key, let conversation = node.core.conversation(key) else {
                throw BrokenPromise(description: "a node remembers its peer")
            }
            let durable = conversation.durable
            let bytes = durable.outbox.reduce(0) { $0 + $1.count }
            try invariant(bytes <= Limits.outboxBytes, "\(bytes) bytes wait for one peer")
            try invariant(node.core.remembered.count == 1, "a node has met one peer")
        }
    }

    private mutating func settle() throws {
        for _ in 0..<64 {
            let toHost = try guest.drain()
            let toGuest = try host.drain()
            if toHost.isEmpty && toGuest.isEmpty { return }
            for sdu in toHost { try host.receive(sdu) }
            for sdu in toGuest { try guest.receive(sdu) }
        }
        try invariant(false, "two nodes become quiet")
    }

    private mutating func pass(_ time: Duration) throws {
        try guest.pass(time)
        try host.pass(time)
    }

    // MARK: Injected records

    /// A record arrives that is sealed with the other side's key.
    private mutating func say(_ plaintext: [UInt8], to side: WritableKeyPath<Self, LinkedNode>) throws {
        let other = side == \.host ? \Self.guest : \Self.host
        let plaintext = Array(plaintext.prefix(Limits.sduBytes - NoiseCipher.tagBytes))
        // Records that the other side has already sealed go first.
        for sdu in try self[keyPath: other].drain() { try self[keyPath: side].receive(sdu) }
        let link = LinkedNode.link
        guard let record = self[keyPath: other].core[link: link]?.machine.sealed?.seal(plaintext) else { return }
        let wasOver = self[keyPath: side].end != nil
        try self[keyPath: side].receive(record)
        guard !wasOver else { return }
        let end = self[keyPath: side].end
        if Self.isMalformed(plaintext) { try invariant(end != nil, "a malformed frame ends a link") }
        if let end { try invariant(Self.canEnd(in: end), "a sealed record ends the link as \(end)") }
    }

    /// Whether a sealed record can end a link in this way.
    private static func canEnd(in end: LinkEnd) -> Bool {
        switch end {
        case .goodbye, .refused: true
        case .misbehaved(let how):
            !([.badHandshake, .changedIdentity, .forgedRecord, .smallChannel, .strippedAdvertisement]
                .contains(how))
        default: false
        }
    }

    private static func isMalformed(_ plaintext: [UInt8]) -> Bool {
        var reader = FrameReader(plaintext[...])
        while let next = reader.next() {
            if case .malformed = next { return true }
        }
        return false
    }

    /// A forged SDU arrives.
    private mutating func forge(_ sdu: [UInt8], to side: WritableKeyPath<Self, LinkedNode>) throws {
        let wasOver = self[keyPath: side].end != nil
        try self[keyPath: side].receive(sdu)
        guard !wasOver else { return }
        let end = self[keyPath: side].end
        try invariant(end == .misbehaved(.forgedRecord), "a forged record ends the link as \(String(describing: end))")
    }

    /// A unit of any size, in as many records as it needs.
    private mutating func sayLong(_ script: inout Script, to side: WritableKeyPath<Self, LinkedNode>) throws {
        let body = [UInt8](repeating: 5, count: Int(script.byte()) << 8 + Int(script.byte()))
        let messageClass: MessageClass = script.flag() ? .latest : .reliable
        let lane: MessageClass = script.number(below: 8) == 0 ? .latest : messageClass
        let number = nextNumber(at: side) &+ UInt64(script.number(below: 3))
        var fragmenter = Fragmenter(MessageUnit(messageClass, number: number, body: body[...]).bytes, lane: lane)
        while !fragmenter.isDone, self[keyPath: side].end == nil {
            let room = Limits.sduBytes - NoiseCipher.tagBytes
            guard let frame = fragmenter.next(fitting: room) else { return }
            try say(Self.bytes(frame), to: side)
        }
    }

    /// A record full of copies of one small frame.
    private func flood(_ script: inout Script) -> [UInt8] {
        let frame: [UInt8] =
            switch script.number(below: 4) {
            case 0: [200, 0]
            case 1: Self.bytes(.ping(script.counter()))
            case 2: Self.bytes(.pong(script.counter()))
            default: [10, 3, 1, UInt8(1 + script.number(below: 100)), 0]
            }
        let room = Limits.sduBytes - NoiseCipher.tagBytes
        return Array([[UInt8]](repeating: frame, count: room / frame.count).joined())
    }

    // MARK: Frames

    private func nextNumber(at side: WritableKeyPath<Self, LinkedNode>) -> UInt64 {
        (self[keyPath: side].lastReliable?.number ?? 0) + 1
    }

    private func frames(for side: WritableKeyPath<Self, LinkedNode>, _ script: inout Script) -> [UInt8] {
        var plaintext: [UInt8] = []
        for _ in 0...script.number(below: 4) { plaintext += Self.bytes(frame(for: side, &script)) }
        return plaintext
    }

    private func frame(for side: WritableKeyPath<Self, LinkedNode>, _ script: inout Script) -> Frame {
        switch script.number(below: 21) {
        case 0...4: return .message(unit(for: side, &script).bytes[...])
        case 5...7: return .fragment(fragment(&script))
        case 8, 9: return .acknowledgement(script.counter())
        case 10: return .ping(script.counter())
        case 11: return .pong(script.counter())
        case 12: return .refusal(RefusalReason(rawValue: script.byte()) ?? .unspecified)
        case 13: return .goodbye()
        case 14: return .challenge(kind: 0, round: 1, data: script.chunk())
        case 17: return .circuitData(circuit: script.counter(), sdu: script.chunk())
        case 18: return .circuitCredit(circuit: script.counter(), credits: script.counter())
        case 19: return .circuitClose(circuit: script.counter(), .ended)
        case 20:
            return .circuitOpen(
                CircuitOpen(
                    circuit: script.counter(), host: host.core.local.id, hopsLeft: script.byte(), innerMTU: 512,
                    passed: [Identity.head(of: guest.core.local.id)]))
        case 15: return .proof(kind: 0, round: 1, data: script.chunk())
        default:
            let standing = Resumption(
                epoch: 1, first: script.counter(), theirEpoch: UInt32(script.byte()), delivered: script.counter())
            let hello = Hello(name: "Nobody", resumption: standing)
            return script.flag() ? .appStart(hello) : .selfInfo(hello)
        }
    }

    private func unit(for side: WritableKeyPath<Self, LinkedNode>, _ script: inout Script) -> MessageUnit {
        let number = script.flag() ? nextNumber(at: side) : script.counter()
        return MessageUnit(script.flag() ? .latest : .reliable, number: number, body: script.chunk()[...])
    }

    private func fragment(_ script: inout Script) -> Fragment {
        let number = Int(script.counter() & 0xFFFF_FFFF)
        return Fragment(
            lane: script.flag() ? .latest : .reliable,
            position: script.flag() ? .first(total: number) : .next(offset: number), data: script.chunk()[...])
    }

    private static func bytes(_ frame: Frame) -> [UInt8] {
        var writer = WireWriter()
        frame.write(into: &writer)
        return writer.bytes
    }
}
