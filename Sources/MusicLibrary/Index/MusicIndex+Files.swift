// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The reads and writes of a scan. Each call is one transaction.
extension MusicIndex {
    /// A scan of a folder begins. If it is another folder than before, all its songs become missing.
    func begin(folder: String) async throws(LibraryProblem) {
        try await write { db in
            let last = try String.fetchOne(db, sql: "SELECT path FROM folder")
            guard last != folder else { return }
            try db.execute(sql: "DELETE FROM songText")
            try db.execute(sql: "UPDATE song SET gone = 1 + (SELECT max(gone) FROM song) WHERE gone = 0")
            // The folder's identity is stored only when a scan has completed.
            try db.execute(
                sql: "INSERT OR REPLACE INTO folder (id, path, device, inode) VALUES (1, ?, 0, 0)", arguments: [folder])
        }
    }

    /// Whether the last scan found songs.
    func hadSongs() async throws(LibraryProblem) -> Bool {
        try await read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM song WHERE gone = 0 AND isMusic = 1)") == true
        }
    }

    /// The paths of some songs, in no particular order.
    func somePaths(except path: String, atMost limit: Int) async throws(LibraryProblem) -> [String] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT path FROM song WHERE gone = 0 AND isMusic = 1 AND path <> ? ORDER BY random() LIMIT ?
                    """, arguments: [path, limit])
        }
    }

    /// All rows, as a scan needs them. With `hasPlayer`, files that TagLib could not read and no player has tried are
    /// read again.
    func known(hasPlayer: Bool) async throws(LibraryProblem) -> [LibraryScan.Known] {
        try await read { db in
            var known: [LibraryScan.Known] = []
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT number, path, CASE WHEN ? AND isMusic = 0 AND measured = 0 THEN -1 ELSE bytes END, modifiedNanoseconds, inode, gone > 0, isNamedByFile FROM song
                    WHERE path IS NOT NULL ORDER BY gone
                    """, arguments: [hasPlayer])
            while let row = try rows.next() {
                let file = LibraryScan.Found(
                    path: row[1], bytes: row[2], modifiedNanoseconds: row[3],
                    inode: UInt64(bitPattern: row[4] as Int64))
                known.append(.init(number: row[0], file: file, isGone: row[5], isNamedByFile: row[6]))
            }
            return known
        }
    }

    /// These files are missing.
    func leave(_ numbers: [Int64]) async throws(LibraryProblem) {
        guard !numbers.isEmpty else { return }
        try await write { db in
            let last = try Int64.fetchOne(db, sql: "SELECT max(gone) FROM song") ?? 0
            let leave = try db.cachedStatement(sql: "UPDATE song SET gone = ? WHERE number = ?")
            var arrangement = Arrangement(db)
            for (count, number) in numbers.enumerated() {
                try leave.execute(arguments: [last + 1 + Int64(count), number])
                try SongWords.remove(number, db)
                try arrangement.note(number)
            }
            _ = try arrangement.write()
        }
    }

    /// These files were moved, are back, or have another date. Returns whether the list of songs has changed.
    func write(_ placed: [LibraryScan.Placed]) async throws(LibraryProblem) -> Bool {
        try await write { db in
            let before = try db.cachedStatement(
                sql: "SELECT gone > 0 AND isMusic, path, disc, track, folder, place FROM song WHERE number = ?")
            let arrange = try db.cachedStatement(sql: "UPDATE song SET folder = ?, place = ? WHERE number = ?")
            var arrangement = Arrangement(db)
            let place = try db.cachedStatement(
                sql: """
                    UPDATE song SET path = ?, bytes = ?, modifiedNanoseconds = ?, inode = ?, gone = 0 WHERE number = ?
                    """)
            var hasChanged = false
            for row in placed {
                guard let known = try Row.fetchOne(before, arguments: [row.number]) else { continue }
                try place.execute(arguments: row.file.arguments + [row.number])
                if known[0] {
                    hasChanged = true
                    try SongWords.restore(row.number, db)
                    try arrangement.note(row.number)
                }
                guard known[1] != row.file.path else { continue }
                try arrangement.note(row.number)
                let place = AlbumPlace(path: row.file.path, disc: known[2], track: known[3])
                try arrange.execute(arguments: [place.folder, place.key, row.number])
                try arrangement.note(row.number)
            }
            return try arrangement.write() || hasChanged
        }
    }

    /// These files were read. A new file with the content of a missing one gets its row. Two existing files with the
    /// same content have two ids. Returns whether the list of songs has changed.
    func write(_ files: [SongFile]) async throws(LibraryProblem) -> Bool {
        try await write { db in
            var hasChanged = false
            var arrangement = Arrangement(db)
            for row in FileRow.rows(files) { if try row.write(db, &arrangement) { hasChanged = true } }
            return try arrangement.write() || hasChanged
        }
    }

    /// The state after a scan.
    struct Result: Hashable, Sendable {
        var hasSongs: Bool
        /// The number of files that could not be read, and the first of them by name.
        var unreadable: Int
        var firstUnreadable: [String]
    }

    /// A scan has ended. The oldest missing songs beyond the limit are deleted.
    func end(folder: String, place: FolderWalk.Place) async throws(LibraryProblem) -> Result {
        try await write { [limits] db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO folder (id, path, device, inode) VALUES (1, ?, ?, ?)",
                arguments: [folder, Int64(bitPattern: place.device), Int64(bitPattern: place.inode)])
            try db.execute(
                sql: """
                    DELETE FROM song WHERE number IN
                    (SELECT number FROM song WHERE gone > 0 ORDER BY gone DESC LIMIT -1 OFFSET ?)
                    """, arguments: [limits.goneSongs])
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM song WHERE gone = 0 AND isMusic = 1), count(*) FROM song
                    WHERE gone = 0 AND isMusic = 0
                    """)
            let first = try String.fetchAll(
                db, sql: "SELECT path FROM song WHERE gone = 0 AND isMusic = 0 ORDER BY path LIMIT ?",
                arguments: [limits.namedFiles])
            return Result(hasSongs: row?[0] ?? false, unreadable: row?[1] ?? 0, firstUnreadable: first)
        }
    }
}

extension LibraryScan.Found {
    /// Path, bytes, time and inode, in the order of the columns.
    var arguments: StatementArguments { [path, bytes, modifiedNanoseconds, Int64(bitPattern: inode)] }
}
