// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Logging
import MeshProtocol
import NodeCore

/// The tables of conversations and outboxes. Sent and received messages have separate columns, so that writing one kind
/// does not overwrite the other.
enum ConversationTables {
    // MARK: Writing

    static func write(_ batch: StoreBatch, _ db: Database) throws {
        for key in batch.forgotten { try db.run("DELETE FROM conversation WHERE \(isMeant)", columns(key)) }
        for met in batch.met {
            let row = try keep(met.conversation, met.remembered, db)
            // A proof stays valid until the conversation is forgotten.
            guard met.remembered.isProved else { continue }
            try db.run("UPDATE conversation SET isProved = 1 WHERE id = ? AND isProved = 0", [row.id])
        }
        for receipt in batch.receipts { try write(receipt, db) }
        for outgoing in batch.outgoing { try write(outgoing, db) }
        for acknowledged in batch.acknowledged {
            if let row = try row(of: acknowledged.conversation, db) { try trim(row.id, upTo: acknowledged.upTo, db) }
        }
    }

    private static let isMeant = "peer = ? AND role = ? AND service = ?"

    private static func columns(_ key: ConversationKey) -> StatementArguments {
        [key.peer, Int64(key.role.rawValue), key.service.text]
    }

    /// The parts of a conversation's row that a write needs.
    private struct Kept {
        var id: Int64
        var lastNumber: UInt64
        var epoch: UInt32
        var publicKey: Data
    }

    private static func row(of key: ConversationKey, _ db: Database) throws -> Kept? {
        let statement = try db.cachedStatement(
            sql: "SELECT id, lastNumber, epoch, publicKey FROM conversation WHERE \(isMeant)")
        return try Row.fetchOne(statement, arguments: columns(key)).map {
            Kept(id: try $0.value(0), lastNumber: try $0.value(1), epoch: try $0.value(2), publicKey: try $0.value(3))
        }
    }

    /// Creates or updates a conversation's row. A row with another epoch of this node belongs to a forgotten
    /// conversation, and is replaced. Acknowledged messages are removed from the outbox; new ones come as `Outgoing`.
    private static func keep(
        _ key: ConversationKey, _ remembered: MeshCore.Remembered, _ db: Database
    ) throws -> (id: Int64, lastNumber: UInt64) {
        let durable = remembered.conversation
        var row = try row(of: key, db)
        // Usually the conversation's row exists already, and this is skipped.
        if row?.epoch != durable.epoch || row?.publicKey != Data(remembered.publicKey) {
            try make(key, remembered, db)
            row = try self.row(of: key, db)
        }
        guard let kept = row else { throw ForeignValue(description: "a row is missing") }
        let count = min(UInt64(durable.outbox.count), durable.lastNumber)
        try trim(kept.id, upTo: durable.lastNumber - count, db)
        return (kept.id, max(kept.lastNumber, durable.lastNumber - count))
    }

    private static func make(_ key: ConversationKey, _ remembered: MeshCore.Remembered, _ db: Database) throws {
        let durable = remembered.conversation
        try db.run(
            "DELETE FROM conversation WHERE \(isMeant) AND epoch <> ?", columns(key) + [Int64(durable.epoch)])
        try db.run(
            """
            INSERT INTO conversation (peer, role, service, publicKey, epoch, lastNumber, theirEpoch, accepted)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (peer, role, service) DO UPDATE SET publicKey = excluded.publicKey
                WHERE publicKey <> excluded.publicKey
            """,
            columns(key) + [
                Data(remembered.publicKey), Int64(durable.epoch), 0, Int64(durable.theirEpoch),
                Int64(clamping: durable.accepted),
            ])
    }

    private static func write(_ receipt: StoreBatch.Receipt, _ db: Database) throws {
        let row = try keep(receipt.conversation, receipt.remembered, db)
        // Within one epoch of the peer, received numbers never go back.
        try db.run(
            """
            UPDATE conversation SET accepted = iif(theirEpoch = ?2, max(accepted, ?3), ?3), theirEpoch = ?2 WHERE id = ?1
            """,
            [row.id, Int64(receipt.epoch), Int64(clamping: receipt.number)])
    }

    private static func write(_ outgoing: StoreBatch.Outgoing, _ db: Database) throws {
        let row = try keep(outgoing.conversation, outgoing.remembered, db)
        // Skips a message that is stored already, or that was acknowledged before it was written.
        guard outgoing.number > row.lastNumber else { return }
        guard outgoing.number == row.lastNumber + 1 else {
            throw ForeignValue(description: "message \(outgoing.number) follows \(row.lastNumber) in an outbox")
        }
        try db.run(
            "INSERT INTO outbox (conversation, number, body) VALUES (?, ?, ?)",
            [row.id, Int64(clamping: outgoing.number), Data(outgoing.body)])
        try raiseLastNumber(row.id, to: outgoing.number, db)
    }

    /// Removes the messages up to a number, because the peer has them. These numbers are not used again.
    private static func trim(_ id: Int64, upTo number: UInt64, _ db: Database) throws {
        guard number > 0 else { return }
        try db.run("DELETE FROM outbox WHERE conversation = ? AND number <= ?", [id, Int64(clamping: number)])
        try raiseLastNumber(id, to: number, db)
    }

    private static func raiseLastNumber(_ id: Int64, to number: UInt64, _ db: Database) throws {
        try db.run(
            "UPDATE conversation SET lastNumber = ?2 WHERE id = ?1 AND lastNumber < ?2", [id, Int64(clamping: number)])
    }

    // MARK: Reading

    /// Reads the stored conversations. Leaves out invalid ones, and logs them.
    static func read(_ db: Database, _ logger: Logger?) throws -> [ConversationKey: MeshCore.Remembered] {
        var outboxes: [Int64: [(number: UInt64, body: [UInt8])]] = [:]
        let waiting = try Row.fetchCursor(db, sql: "SELECT conversation, number, body FROM outbox ORDER BY 1, 2")
        while let row = try waiting.next() {
            outboxes[try row.value(0), default: []].append((try row.value(1), Array(try row.value(2, as: Data.self))))
        }
        var remembered: [ConversationKey: MeshCore.Remembered] = [:]
        let conversations = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, peer, role, service, publicKey, epoch, lastNumber, theirEpoch, accepted, isProved
                    FROM conversation
                """)
        while let row = try conversations.next() {
            let outbox = outboxes[try row.value(0)] ?? []
            let peer: Peer.ID = try row.value(1)
            let durable = Conversation.Durable(
                epoch: try row.value(5), lastNumber: try row.value(6), outbox: outbox.map(\.body),
                theirEpoch: try row.value(7), accepted: try row.value(8))
            guard let role = LinkRole(rawValue: try row.value(2)), let service = try? ServiceType(row.value(3)),
                isWhole(outbox.map(\.number), upTo: durable.lastNumber), Conversation(restoring: durable) != nil
            else {
                logger?.error(
                    "what is stored of \(Identity.head(of: peer)) is inconsistent: this node starts over with it")
                continue
            }
            remembered[ConversationKey(peer, as: role, service)] = MeshCore.Remembered(
                publicKey: Array(try row.value(4, as: Data.self)), conversation: durable,
                isProved: try row.value(9, as: Int64.self) == 1)
        }
        return remembered
    }

    /// Whether the numbers of an outbox have no gap and end at `last`.
    private static func isWhole(_ numbers: [UInt64], upTo last: UInt64) -> Bool {
        numbers.reversed().enumerated().allSatisfy { last >= UInt64($0) && $1 == last - UInt64($0) }
    }
}
