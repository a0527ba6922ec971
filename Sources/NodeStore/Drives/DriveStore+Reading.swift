// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import NodeCore

/// A stored drive.
public struct StoredDrive: Hashable, Sendable {
    /// The number of the drive, from 1.
    public var number: Int64
    /// The header, which is written at the start of the drive.
    public var header: String
    /// Whether the drive was ended. If not, it is being recorded, or a power cut has interrupted it.
    public var isEnded: Bool
    /// The number of lines.
    public var lines: Int
    /// The last line, if the drive has lines.
    public var lastLine: String?
    /// The state of the drive's collection.
    public var sharing = DriveSharing.none
}

/// The state of a drive's collection at a broker.
public enum DriveSharing: Int, Hashable, Sendable {
    /// The drive is not shared, or not any more.
    case none
    /// The drive was recorded here and is shared. No collector has all of it yet.
    case shared
    /// The drive was recorded here, and a collector has all of it.
    case collected
    /// Another node has recorded the drive, and a part has not arrived yet.
    case arriving
}

extension DriveStore {
    /// All drives, the oldest first.
    public func drives() throws(NodeStoreError) -> [StoredDrive] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT d.number, header, isEnded, (SELECT count(*) FROM line WHERE drive = d.number),
                        (SELECT body FROM line WHERE drive = d.number ORDER BY line.number DESC LIMIT 1),
                        sharing
                    FROM drive AS d ORDER BY d.number
                    """
            ).map { row in
                StoredDrive(
                    number: try row.value(0), header: try row.value(1), isEnded: try row.value(2, as: Int.self) != 0,
                    lines: try row.value(3), lastLine: try row.optional(4), sharing: try sharing(row.value(5)))
            }
        }
    }

    private func sharing(_ number: Int) throws -> DriveSharing {
        guard let sharing = DriveSharing(rawValue: number) else { throw ForeignValue(description: "sharing \(number)") }
        return sharing
    }

    /// Returns at most `count` lines of a drive, starting at line `first`, counted from 0.
    public func lines(of drive: Int64, from first: Int, atMost count: Int) throws(NodeStoreError) -> [String] {
        try read { db in
            try String.fetchAll(
                db, sql: "SELECT body FROM line WHERE drive = ? ORDER BY number LIMIT ? OFFSET ?",
                arguments: [drive, count, first])
        }
    }

    /// The size of the database, in bytes.
    public var bytes: Int {
        get throws(NodeStoreError) {
            try read { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                return pages * (try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
            }
        }
    }

    /// Returns the lines of a drive, in order.
    public func lines(of drive: Int64) throws(NodeStoreError) -> [String] {
        try read { db in
            try String.fetchAll(db, sql: "SELECT body FROM line WHERE drive = ? ORDER BY number", arguments: [drive])
        }
    }

    /// Deletes a drive. Returns whether it existed.
    public func remove(_ drive: Int64) throws(NodeStoreError) -> Bool {
        try NodeStoreError.wrapping(folder) {
            let wasThere = try database.write { db in
                try db.execute(sql: "DELETE FROM drive WHERE number = ?", arguments: [drive])
                return db.changesCount > 0
            }
            // A drive is usually deleted to make room. If the disk is full or a recorder is running, the file does not
            // shrink, and later drives use the space.
            try? database.vacuum()
            try? database.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
            return wasThere
        }
    }

    /// Whether a process is recording in this folder now.
    public var isRecording: Bool { FileLock.isHeld(Self.lockFile(folder)) }

    private func read<Value>(_ body: (Database) throws -> Value) throws(NodeStoreError) -> Value {
        try NodeStoreError.wrapping(folder) { try database.read(body) }
    }
}

/// The tables of recorded drives, and the migrations of older ones.
enum DriveSchema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: drives and their lines") { db in
            try db.execute(
                sql: """
                    CREATE TABLE drive (
                        number INTEGER PRIMARY KEY AUTOINCREMENT,
                        header TEXT NOT NULL,
                        isEnded INTEGER NOT NULL CHECK (isEnded IN (0, 1))
                    ) STRICT;
                    CREATE TABLE line (
                        number INTEGER PRIMARY KEY,
                        drive INTEGER NOT NULL REFERENCES drive (number) ON DELETE CASCADE,
                        body TEXT NOT NULL
                    ) STRICT;
                    CREATE INDEX lineOfDrive ON line (drive, number);
                    """)
        }
        migrator.registerMigration("2: drives that are shared, and those of others") { db in
            try db.execute(
                sql: "ALTER TABLE drive ADD COLUMN sharing INTEGER NOT NULL DEFAULT 0 CHECK (sharing BETWEEN 0 AND 3)")
        }
        return migrator
    }()
}
