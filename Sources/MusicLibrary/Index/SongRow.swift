// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The rows of the index.
enum SongRow {
    /// The columns of a song.
    static let columns = "id, song.title, song.artist, milliseconds, artURL"

    /// The songs of a query for `columns`.
    static func songs(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> [Song] {
        var songs: [Song] = []
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() {
            var song = song(row)
            // Neighbours often have the same artist, and can share one text.
            if let last = songs.last, last.artist == song.artist { song.artist = last.artist }
            songs.append(song)
        }
        return songs
    }

    /// The song in a row of `columns`.
    static func song(_ row: Row) -> Song {
        Song(
            id: row[0], title: row[1], artist: row[2], duration: Double(row[3] as Int64) / 1_000, albumArtURL: row[4])
    }

    /// Appends a song of a list.
    static func insert(listed song: Song, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO song
                (id, bytes, modifiedNanoseconds, inode, content, isMusic, title, artist, album, milliseconds, hasCover,
                isNamedByFile, artURL, sortKey) VALUES (?, 0, 0, 0, '', 1, ?, ?, '', ?, 0, 0, ?, '')
                """
        ).execute(arguments: [
            song.id, song.title, song.artist, Int64((song.duration * 1_000).rounded()), song.albumArtURL,
        ])
        guard db.changesCount > 0 else { return }
        let number = db.lastInsertedRowID
        try SongWords(title: song.title, artist: song.artist, album: "").write(number, db)
        try SongArtist.write([song.artist], of: number, isNew: true, db)
    }
}

/// The artists of a song.
enum SongArtist {
    /// Writes the artists, in their order.
    static func write(_ names: [String], of number: Int64, isNew: Bool, _ db: Database) throws {
        if !isNew {
            let known = try String.fetchAll(
                try db.cachedStatement(sql: "SELECT name FROM songArtist WHERE song = ? ORDER BY position"),
                arguments: [number])
            guard known != names else { return }
            try db.cachedStatement(sql: "DELETE FROM songArtist WHERE song = ?").execute(arguments: [number])
        }
        let insert = try db.cachedStatement(
            sql: "INSERT INTO songArtist (song, position, name, key, sort) VALUES (?, ?, ?, ?, ?)")
        for (position, name) in names.enumerated() {
            try insert.execute(arguments: [number, position, name, Letters.caseless(name), NaturalOrder.key(name)])
        }
    }
}

/// The words of a song, as they are indexed.
struct SongWords {
    private let title: String
    private let artist: String
    private let album: String
    private let letters: String

    init(title: String, artist: String, album: String) {
        let words = [title, artist, album].map { Words($0) }
        (self.title, self.artist, self.album) = (words[0].indexed, words[1].indexed, words[2].indexed)
        letters = words.map { $0.words.joined() }.joined(separator: Words.mark)
    }

    /// Writes the words of a returned song, from its row.
    static func restore(_ number: Int64, _ db: Database) throws {
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT title, artist, album FROM song WHERE number = ?"), arguments: [number])
        guard let row else { return }
        try SongWords(title: row[0], artist: row[1], album: row[2]).write(number, db)
    }

    /// Removes the words of a missing song, so that a search does not have to check for it.
    static func remove(_ number: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM songText WHERE number = ?").execute(arguments: [number])
    }

    /// Writes the words of a song, unless they are there.
    func write(_ number: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO songText (number, title, artist, album, letters) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (number) DO UPDATE SET title = excluded.title, artist = excluded.artist,
                album = excluded.album, letters = excluded.letters
                WHERE (title, artist, album) <> (excluded.title, excluded.artist, excluded.album)
                """
        ).execute(arguments: [number, title, artist, album, letters])
    }
}
