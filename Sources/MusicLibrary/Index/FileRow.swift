// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The row of a file that was read.
struct FileRow {
    private let file: SongFile
    private let sortKey: String

    init(_ file: SongFile) {
        self.file = file
        sortKey =
            SortKey(
                artist: file.text.artist, album: file.text.album, track: file.track, title: file.text.title
            ).text
    }

    /// Writes it. Returns whether the list of songs is another now.
    func write(_ db: Database) throws -> Bool {
        guard let number = try file.number ?? numberOfGone(db) else {
            try insert(db)
            return file.isMusic
        }
        let before = try shown(number, db)
        try update(number, db)
        return try before != shown(number, db)
    }

    /// The row of a file that is gone and had this content, the last of them.
    private func numberOfGone(_ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            try db.cachedStatement(
                sql: "SELECT number FROM song WHERE content = ? AND gone > 0 ORDER BY gone DESC LIMIT 1"),
            arguments: [file.content])
    }

    private var words: SongWords {
        SongWords(title: file.text.title, artist: file.text.artist, album: file.text.album)
    }

    /// What of a row is in the list; nil where it is not.
    private func shown(_ number: Int64, _ db: Database) throws -> Row? {
        try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT title, artist, album, milliseconds, sortKey FROM song
                    WHERE number = ? AND gone = 0 AND isMusic = 1
                    """), arguments: [number])
    }

    private func update(_ number: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE song SET path = ?, bytes = ?, modifiedNanoseconds = ?, inode = ?, content = ?, isMusic = ?,
                title = ?, artist = ?, album = ?, milliseconds = ?, hasCover = ?, isNamedByFile = ?, sortKey = ?, gone = 0
                WHERE number = ?
                """
        ).execute(arguments: columns + [number])
        try words.write(number, db)
    }

    private func insert(_ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO song (path, bytes, modifiedNanoseconds, inode, content, isMusic, title, artist, album,
                milliseconds, hasCover, isNamedByFile, sortKey, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: columns + [try freeID(db)])
        try words.write(db.lastInsertedRowID, db)
    }

    private var columns: StatementArguments {
        file.file.arguments + [
            file.content, file.isMusic, file.text.title, file.text.artist, file.text.album, file.milliseconds,
            file.hasCover, file.text.isFromName, sortKey,
        ]
    }

    /// The content's id, or where another song has it, that with the next number.
    private func freeID(_ db: Database) throws -> Song.ID {
        // A full stop comes after a hyphen.
        let copies = try Int.fetchOne(
            try db.cachedStatement(
                sql: "SELECT count(*) FROM song WHERE id = ?1 OR (id > ?1 || '-' AND id < ?1 || '.')"),
            arguments: [file.content])
        guard var copies, copies > 0 else { return file.content }
        let taken = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM song WHERE id = ?)")
        // One of the copies before may be forgotten.
        while try Bool.fetchOne(taken, arguments: ["\(file.content)-\(copies + 1)"]) == true { copies += 1 }
        return "\(file.content)-\(copies + 1)"
    }
}
