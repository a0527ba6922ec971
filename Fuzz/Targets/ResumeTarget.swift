// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// Conversations across links, restarts, lost and restored disks, as a script says; and forged disks and hellos.
enum ResumeTarget {
    private static let steps = 200

    static func run(_ input: [UInt8]) throws {
        var script = Script(input)
        switch script.number(below: 4) {
        case 0: try stored(&script)
        case 1: try remembered(&script)
        default:
            var road = TwoConversations()
            for _ in 0..<steps where !script.isAtEnd { try road.step(&script) }
            try road.finish()
        }
    }

    // MARK: Disks

    /// From any contents of a disk, a conversation either continues or does not exist. Its announcement can be decoded.
    private static func stored(_ script: inout Script) throws {
        let restored: Conversation? = Conversation(restoring: durable(&script))
        guard var conversation = restored else { return }
        try invariant(Conversation(restoring: conversation.durable) == conversation, "a disk is restored unchanged")
        for _ in 0..<8 where !script.isAtEnd {
            let theirs = Resumption(
                epoch: UInt32(truncatingIfNeeded: script.counter()), first: script.counter(),
                theirEpoch: script.flag() ? conversation.durable.epoch : UInt32(script.byte()),
                delivered: script.counter())
            if let read = try? announced(theirs) {
                conversation.begin(with: read)
                try isCaughtUp(conversation, with: read)
            }
            try isSound(conversation)
            let messageClass: MessageClass = script.flag() ? .latest : .reliable
            _ = conversation.send([UInt8](repeating: 1, count: script.number(below: 200)), as: messageClass)
            let unit = messageClass == .reliable ? conversation.nextReliable() : conversation.nextLatest()
            if let unit { try invariant(MessageUnit(unit.bytes[...]) == unit, "a sent unit can be decoded") }
            _ = conversation.acknowledge(upTo: script.counter())
            let number = min(max(script.counter(), 1), Limits.largestNumber)
            _ = conversation.receive(MessageUnit(messageClass, number: number, body: []))
            _ = conversation.accept(upTo: script.counter(), of: conversation.peerEpoch)
            try isSound(conversation)
        }
    }

    /// Nodes with any memory connect, or end their link with a reason.
    private static func remembered(_ script: inout Script) throws {
        let (guest, host) = (try LinkedNode.identity(2), try LinkedNode.identity(1))
        let guestKnows = MeshCore.Remembered(publicKey: host.publicKey, conversation: durable(&script))
        let hostKnows = MeshCore.Remembered(publicKey: guest.publicKey, conversation: durable(&script))
        var pair = try ConnectedPair(
            guest: [ConversationKey(host.peerID, as: .initiator, .democracyDJ): guestKnows],
            host: [ConversationKey(guest.peerID, as: .responder, .democracyDJ): hostKnows])
        for _ in 0..<8 where !script.isAtEnd { try pair.step(&script) }
        try pair.finish()
    }

    private static func durable(_ script: inout Script) -> Conversation.Durable {
        let outbox = (0..<script.number(below: 6)).map { _ in [UInt8](repeating: 0, count: script.number(below: 256)) }
        let copies = script.number(below: 16) == 0 ? 110 : 1
        return Conversation.Durable(
            epoch: UInt32(truncatingIfNeeded: script.counter()), lastNumber: script.counter(),
            outbox: Array([[[UInt8]]](repeating: outbox, count: copies).joined()),
            theirEpoch: UInt32(truncatingIfNeeded: script.counter()), accepted: script.counter())
    }

    // MARK: Invariants

    static func isSound(_ conversation: Conversation) throws {
        let durable = conversation.durable
        try invariant(durable.outbox.count <= Limits.outboxMessages, "\(durable.outbox.count) messages wait")
        let bytes = durable.outbox.reduce(0) { $0 + $1.count }
        try invariant(bytes <= Limits.outboxBytes, "\(bytes) bytes wait")
        try invariant(durable.lastNumber <= Limits.largestNumber, "\(durable.lastNumber) is too large")
        try invariant(durable.accepted <= Limits.largestNumber, "\(durable.accepted) is too large")
        try invariant((0...durable.outbox.count + 1).contains(conversation.waiting), "the outbox has what waits")
        try invariant(
            (try? announced(conversation.resumption)) == conversation.resumption, "\(conversation.resumption) is read")
    }

    /// When a link begins, what the other side has of this numbering counts as acknowledged.
    static func isCaughtUp(_ conversation: Conversation, with theirs: Resumption) throws {
        let ours = conversation.resumption
        guard theirs.theirEpoch == ours.epoch else { return }
        try invariant(ours.first > theirs.delivered, "\(ours.first) is sent again after \(theirs.delivered)")
    }

    /// A standing as the other side decodes it from a hello.
    static func announced(_ standing: Resumption) throws -> Resumption {
        var writer = WireWriter()
        Frame.appStart(Hello(name: "Ana", resumption: standing)).write(into: &writer)
        var reader = FrameReader(writer.bytes[...])
        guard case .frame(.appStart(let hello)) = reader.next() else {
            throw BrokenPromise(description: "\(standing) cannot be decoded")
        }
        return hello.resumption
    }
}
