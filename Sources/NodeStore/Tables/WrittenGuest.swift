// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import MeshProtocol
import NodeCore

/// The guest's state on disk, with the places of its rows.
struct WrittenGuest: Sendable {
    /// Nil if nothing is written yet.
    private(set) var record: GuestRecord?
    private var wishes = PlacedList<WishRecord>()

    /// An empty disk.
    init() {}

    /// Reads the disk; nil if it has no guest.
    init?(_ db: Database) throws {
        guard let row = try Row.fetchOne(db, sql: "SELECT host, hostEpoch, snapshot FROM guestState") else {
            return nil
        }
        wishes = try db.list("SELECT place, songID, kind, handedTo, meantFor FROM wish ORDER BY place") { row in
            WishRecord(
                songID: try row.value(1), kind: try row.value(2), handedTo: try row.optional(3),
                meantFor: try row.optional(4))
        }
        record = GuestRecord(
            host: try row.optional(0), hostEpoch: try row.optional(1), wishes: wishes.elements,
            snapshot: try row.optional(2, as: Data.self).map { Array($0) })
    }

    /// Writes the differences.
    mutating func become(_ new: GuestRecord, _ db: Database) throws {
        if record == nil || record?.host != new.host || record?.hostEpoch != new.hostEpoch
            || record?.snapshot != new.snapshot
        {
            try db.run(
                "INSERT OR REPLACE INTO guestState (id, host, hostEpoch, snapshot) VALUES (1, ?, ?, ?)",
                [new.host, new.hostEpoch, new.snapshot.map { Data($0) }])
        }
        let changes = wishes.become(new.wishes)
        for row in changes.removed { try db.run("DELETE FROM wish WHERE place = ?", [row.place]) }
        for row in changes.inserted {
            try db.run(
                "INSERT INTO wish (place, songID, kind, handedTo, meantFor) VALUES (?, ?, ?, ?, ?)",
                [
                    row.place, row.element.songID, row.element.kind, row.element.handedTo, row.element.meantFor,
                ])
        }
        record = new
    }
}
