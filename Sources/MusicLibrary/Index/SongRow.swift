// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The rows of the index.
enum SongRow {
    /// What a song is made of.
    static let columns = "id, song.title, song.artist, milliseconds, artURL"

    /// The songs of a question for `columns`.
    static func songs(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> [Song] {
        var songs: [Song] = []
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() {
            var artist: String = row[2]
            // Neighbours have one artist: one text will do for all of them.
            if let last = songs.last, last.artist == artist { artist = last.artist }
            songs.append(
                Song(
                    id: row[0], title: row[1], artist: artist, duration: Double(row[3] as Int64) / 1_000,
                    albumArtURL: row[4]))
        }
        return songs
    }

    /// Puts a song of a list behind those that are there.
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
    }
}

/// What songs are put in order by: artist, album, track, title, each without capitals, accents and punctuation, as the
/// search has them.
struct SortKey {
    private let tokenizer: any FTS5Tokenizer

    init(_ db: Database) throws {
        tokenizer = try db.makeTokenizer(.unicode61(diacritics: .remove))
    }

    /// A song's key. Keys are compared byte by byte.
    func text(artist: String, album: String, track: Int, title: String) throws -> String {
        let number = String(min(max(track, 0), 99_999))
        let track = String(repeating: "0", count: 5 - number.utf8.count) + number
        return try [folded(artist), folded(album), track, folded(title)].joined(separator: "\u{1}")
    }

    private func folded(_ text: String) throws -> String {
        try tokenizer.tokenize(document: text).map(\.token).joined(separator: " ")
    }
}
