// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// Both sides of a conversation, and a model of the correct result: each message has a serial number, and the delivered
/// messages are compared with the sent ones.
struct TwoConversations {
    /// One side: what it has sent and received.
    private struct Side {
        var conversation: Conversation
        /// Serial numbers of accepted messages that may still arrive, in order.
        var said: [UInt64] = []
        /// Serial numbers of delivered messages, in order, and how many of them are stored.
        var heard: [UInt64] = []
        var safe = 0
        /// The acknowledgement that the present link has yet to send.
        var acknowledgement: UInt64?
        /// Its announcement for the next link.
        var announced: Resumption?
        /// A copy of its disk.
        var copy: (durable: Conversation.Durable, heard: [UInt64])?
        var lastLatest: UInt64 = 0
    }

    private var sides: [Side]
    private var isLinked = false
    private var lastSerial: UInt64 = 0
    private var lastEpoch: UInt32 = 100
    /// Whether no disk was put back, so that no message is lost.
    private var isComplete = true
    /// Whether no disk was put back across a new epoch, so that no message is delivered twice.
    private var isOrdered = true

    init() {
        sides = [Side(conversation: Conversation(epoch: 1)), Side(conversation: Conversation(epoch: 2))]
    }

    // MARK: Steps

    mutating func step(_ script: inout Script) throws {
        let what = script.byte()
        let side = Int(what >> 7)
        switch what % 16 {
        case 0, 1: try send(script.number(below: 256), on: side)
        case 2: try send(script.number(below: 256) * 256, on: side)
        case 3: _ = sides[side].conversation.send([what], as: .latest)
        case 4: try announce()
        case 5: try connect()
        case 6, 7: try carry(from: side)
        case 8: try carryLatest(from: side)
        case 9: accept(on: side, leaving: script.number(below: 4))
        case 10: try acknowledge(from: side)
        case 11: lose(from: side, count: script.number(below: 4))
        case 12: try restart(side)
        case 13: if script.flag() { forget(side) } else { cut() }
        case 14: copy(side)
        default: putBack(side)
        }
        for side in sides { try ResumeTarget.isSound(side.conversation) }
    }

    /// On a link that lasts, every message arrives and is acknowledged.
    mutating func finish() throws {
        cut()
        try announce()
        try connect()
        for side in 0...1 {
            while isLinked, sides[side].conversation.waiting > 0 { try carry(from: side) }
            accept(on: 1 - side, leaving: 0)
            try acknowledge(from: 1 - side)
        }
        guard isComplete else { return }
        for side in 0...1 {
            let outbox = sides[side].conversation.unacknowledged
            try invariant(outbox == 0, "\(outbox) messages are never acknowledged")
            try invariant(sides[side].said.last ?? 0 <= sides[1 - side].heard.last ?? 0, "a message never arrives")
        }
    }

    // MARK: Messages

    private mutating func send(_ bytes: Int, on side: Int) throws {
        let serial = lastSerial + 1
        let body = (0..<8).map { UInt8(truncatingIfNeeded: serial >> (8 * $0)) } + [UInt8](repeating: 0, count: bytes)
        guard case .queued = sides[side].conversation.send(body, as: .reliable) else {
            let durable = sides[side].conversation.durable
            let waiting = durable.outbox.reduce(0) { $0 + $1.count }
            let isFull = durable.outbox.count == Limits.outboxMessages || waiting + body.count > Limits.outboxBytes
            try invariant(isFull || body.count > Limits.messageBytes, "an outbox with room accepts a message")
            return
        }
        lastSerial = serial
        sides[side].said.append(serial)
    }

    private mutating func carry(from side: Int) throws {
        guard isLinked, let sent = sides[side].conversation.nextReliable() else { return try carryLatest(from: side) }
        guard let unit = MessageUnit(sent.bytes[...]) else { throw BrokenPromise(description: "\(sent) is decoded") }
        switch sides[1 - side].conversation.receive(unit) {
        case .new: try heard(unit, on: 1 - side)
        case .duplicate: break
        case .gap: try invariant(false, "a message before \(unit.number) is missing")
        }
    }

    private mutating func heard(_ unit: MessageUnit, on side: Int) throws {
        let serial = Self.serial(unit.body)
        let last = sides[side].heard.last ?? 0
        if isOrdered { try invariant(serial > last, "message \(serial) arrives again, or after \(last)") }
        if isComplete {
            let next = sides[1 - side].said.first { $0 > last }
            try invariant(serial == next, "message \(serial) arrives instead of \(String(describing: next))")
        }
        sides[side].heard.append(serial)
    }

    private mutating func carryLatest(from side: Int) throws {
        guard isLinked, let unit = sides[side].conversation.nextLatest() else { return }
        try invariant(unit.number > sides[side].lastLatest, "a state update has a number of its own")
        sides[side].lastLatest = unit.number
        try invariant(sides[1 - side].conversation.receive(unit) == .new, "a state update is new")
    }

    private mutating func accept(on side: Int, leaving count: Int) {
        let heard = sides[side].heard.count
        let safe = max(sides[side].safe, heard - count)
        guard safe > sides[side].safe else { return }
        // The application reports the number of the last stored message. Those that are not stored yet come after it.
        let number = sides[side].conversation.durable.accepted + UInt64(safe - sides[side].safe)
        let epoch = sides[side].conversation.peerEpoch
        guard let accepted = sides[side].conversation.accept(upTo: number, of: epoch) else { return }
        sides[side].safe = safe
        if isLinked { sides[side].acknowledgement = accepted }
    }

    private mutating func acknowledge(from side: Int) throws {
        guard isLinked, let number = sides[side].acknowledgement else { return }
        sides[side].acknowledgement = nil
        guard sides[1 - side].conversation.acknowledge(upTo: number) == .impossible else { return }
        // A disk that was put back may lack what it has sent. The link ends, and the next one repairs this.
        try invariant(!isComplete, "\(number) is acknowledged and was never sent")
        cut()
    }

    // MARK: Links

    private mutating func announce() throws {
        guard !isLinked else { return }
        for side in 0...1 { sides[side].announced = try ResumeTarget.announced(sides[side].conversation.resumption) }
    }

    private mutating func connect() throws {
        guard !isLinked, let first = sides[0].announced, let second = sides[1].announced else { return }
        isLinked = true
        for (side, theirs) in [second, first].enumerated() {
            let before = sides[side].conversation.durable
            sides[side].lastLatest = 0
            sides[side].announced = nil
            sides[side].conversation.begin(with: theirs)
            try ResumeTarget.isCaughtUp(sides[side].conversation, with: theirs)
            let after = sides[side].conversation.durable
            // A side that continues in another numbering has stored everything of the old one.
            if (before.theirEpoch, before.accepted) != (after.theirEpoch, after.accepted) {
                sides[side].safe = sides[side].heard.count
            }
            // Messages that were stored after the announcement.
            let told = (side == 0 ? first : second).delivered
            sides[side].acknowledgement = after.accepted > told ? after.accepted : nil
        }
    }

    private mutating func cut() {
        guard isLinked else { return }
        isLinked = false
        for side in 0...1 {
            sides[side].conversation.pause()
            sides[side].acknowledgement = nil
        }
    }

    /// Some messages are sent, and the link breaks before they arrive.
    private mutating func lose(from side: Int, count: Int) {
        guard isLinked else { return }
        for _ in 0..<count { _ = sides[side].conversation.nextReliable() }
        cut()
    }

    // MARK: Programs and disks

    /// Delivered messages that are not stored are sent again.
    private mutating func restart(_ side: Int) throws {
        cut()
        for side in 0...1 { sides[side].announced = nil }
        let restored: Conversation? = Conversation(restoring: sides[side].conversation.durable)
        try invariant(restored != nil, "a stored conversation is restored")
        sides[side].conversation = restored ?? sides[side].conversation
        sides[side].heard = Array(sides[side].heard.prefix(sides[side].safe))
    }

    /// A disk is lost, with everything that only this side had.
    private mutating func forget(_ side: Int) {
        cut()
        lastEpoch += 1
        sides[side] = Side(conversation: Conversation(epoch: lastEpoch), copy: sides[side].copy)
        sides[1 - side].announced = nil
        sides[1 - side].said = sides[1 - side].conversation.durable.outbox.map { Self.serial($0[...]) }
    }

    private mutating func copy(_ side: Int) {
        let heard = sides[side].heard.prefix(sides[side].safe)
        sides[side].copy = (sides[side].conversation.durable, Array(heard))
    }

    /// A disk is put back to an earlier state: this side forgets everything since, and the other side does not.
    private mutating func putBack(_ side: Int) {
        let restored: Conversation? = sides[side].copy.flatMap { Conversation(restoring: $0.durable) }
        guard let copy = sides[side].copy, let conversation = restored else { return }
        cut()
        isComplete = false
        let now = sides[side].conversation.durable
        if (now.epoch, now.theirEpoch) != (copy.durable.epoch, copy.durable.theirEpoch) { isOrdered = false }
        for side in 0...1 { sides[side].announced = nil }
        sides[side].conversation = conversation
        sides[side].heard = copy.heard
        sides[side].safe = copy.heard.count
    }

    private static func serial(_ body: ArraySlice<UInt8>) -> UInt64 {
        body.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
