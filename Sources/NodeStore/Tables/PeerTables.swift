// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Logging
import MeshProtocol

/// The tables of peers and outboxes: what was said and what was heard are different columns, and neither takes back what
/// the other has written.
enum PeerTables {
    // MARK: Writing

    static func write(_ batch: StoreBatch, _ db: Database) throws {
        for peer in batch.forgotten { try db.run("DELETE FROM peer WHERE id = ?", [peer]) }
        for met in batch.met { try keep(met.peer, met.remembered, db) }
        for receipt in batch.receipts { try write(receipt, db) }
        for outgoing in batch.outgoing { try write(outgoing, db) }
        for acknowledged in batch.acknowledged { try trim(acknowledged.peer, upTo: acknowledged.upTo, db) }
    }

    /// Sees to a peer's row. One with another epoch of ours is of a conversation that the core has forgotten: it counts for
    /// nothing. Of what is to be said only that counts which is on its way no more; the rest comes as `Outgoing`.
    private static func keep(_ peer: Peer.ID, _ remembered: MeshCore.Remembered, _ db: Database) throws {
        let durable = remembered.conversation
        try db.run("DELETE FROM peer WHERE id = ? AND epoch <> ?", [peer, Int64(durable.epoch)])
        try db.run(
            """
            INSERT INTO peer (id, publicKey, epoch, lastNumber, theirEpoch, accepted, role) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET publicKey = excluded.publicKey, role = min(role, excluded.role)
                WHERE publicKey <> excluded.publicKey OR role > excluded.role
            """,
            [
                peer, Data(remembered.publicKey), Int64(durable.epoch), 0, Int64(durable.theirEpoch),
                Int64(clamping: durable.accepted), Int64(remembered.role.rawValue),
            ])
        let count = min(UInt64(durable.outbox.count), durable.lastNumber)
        try trim(peer, upTo: durable.lastNumber - count, db)
    }

    private static func write(_ receipt: StoreBatch.Receipt, _ db: Database) throws {
        try keep(receipt.peer, receipt.remembered, db)
        // Within one epoch of the peer's what is safe stays safe.
        try db.run(
            """
            UPDATE peer SET accepted = iif(theirEpoch = ?2, max(accepted, ?3), ?3), theirEpoch = ?2 WHERE id = ?1
            """,
            [receipt.peer, Int64(receipt.epoch), Int64(clamping: receipt.number)])
    }

    private static func write(_ outgoing: StoreBatch.Outgoing, _ db: Database) throws {
        try keep(outgoing.peer, outgoing.remembered, db)
        let last = try Row.fetchOne(db, sql: "SELECT lastNumber FROM peer WHERE id = ?", arguments: [outgoing.peer])
        guard let last: UInt64 = try last?.value(0), outgoing.number > last else {
            // It is here already, or was acknowledged before it was written.
            return
        }
        guard outgoing.number == last + 1 else {
            throw ForeignValue(description: "message \(outgoing.number) follows \(last) in an outbox")
        }
        try db.run(
            "INSERT INTO outbox (peer, number, body) VALUES (?, ?, ?)",
            [outgoing.peer, Int64(clamping: outgoing.number), Data(outgoing.body)])
        try raiseLastNumber(outgoing.peer, to: outgoing.number, db)
    }

    /// The peer has everything up to a number, and no message gets one of these again.
    private static func trim(_ peer: Peer.ID, upTo number: UInt64, _ db: Database) throws {
        guard number > 0 else { return }
        try db.run("DELETE FROM outbox WHERE peer = ? AND number <= ?", [peer, Int64(clamping: number)])
        try raiseLastNumber(peer, to: number, db)
    }

    private static func raiseLastNumber(_ peer: Peer.ID, to number: UInt64, _ db: Database) throws {
        try db.run(
            "UPDATE peer SET lastNumber = ?2 WHERE id = ?1 AND lastNumber < ?2", [peer, Int64(clamping: number)])
    }

    // MARK: Reading

    /// What is stored of each peer. What no conversation can have been like is left out, and the logger is told.
    static func read(_ db: Database, _ logger: Logger?) throws -> [Peer.ID: MeshCore.Remembered] {
        var outboxes: [Peer.ID: [(number: UInt64, body: [UInt8])]] = [:]
        let waiting = try Row.fetchCursor(db, sql: "SELECT peer, number, body FROM outbox ORDER BY peer, number")
        while let row = try waiting.next() {
            outboxes[try row.value(0), default: []].append((try row.value(1), Array(try row.value(2, as: Data.self))))
        }
        var remembered: [Peer.ID: MeshCore.Remembered] = [:]
        let peers = try Row.fetchCursor(
            db, sql: "SELECT id, publicKey, epoch, lastNumber, theirEpoch, accepted, role FROM peer")
        while let row = try peers.next() {
            let peer: Peer.ID = try row.value(0)
            let outbox = outboxes[peer] ?? []
            let durable = Conversation.Durable(
                epoch: try row.value(2), lastNumber: try row.value(3), outbox: outbox.map(\.body),
                theirEpoch: try row.value(4), accepted: try row.value(5))
            guard isWhole(outbox.map(\.number), upTo: durable.lastNumber), Conversation(restoring: durable) != nil
            else {
                logger?.error(
                    "what is stored of \(Identity.head(of: peer)) cannot have been: this node begins anew with it")
                continue
            }
            remembered[peer] = MeshCore.Remembered(
                publicKey: Array(try row.value(1, as: Data.self)), conversation: durable,
                role: LinkRole(rawValue: try row.value(6)) ?? .responder)
        }
        return remembered
    }

    /// Whether the numbers of an outbox are the last ones, without a gap.
    private static func isWhole(_ numbers: [UInt64], upTo last: UInt64) -> Bool {
        numbers.reversed().enumerated().allSatisfy { last >= UInt64($0) && $1 == last - UInt64($0) }
    }
}
