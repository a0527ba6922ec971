// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Logging

extension MusicIndex {
    /// Finds as `find(_:atMost:)` does; nothing, and a line in the log, where the index fails.
    func find(_ query: SongQuery, atMost limit: Int, _ logger: Logger) async -> FoundSongs {
        do {
            return try await find(query, atMost: limit)
        } catch {
            logger.warning("the songs were not searched: \(error)")
            return []
        }
    }

    /// What is on a shelf, or has words, from a place on; and how many there are in all.
    public func find(_ query: SongQuery, atMost limit: Int) async throws(LibraryProblem) -> FoundSongs {
        try await read { [limits] db in
            let shelves = Shelves(db: db, from: query.from, limit: limit)
            switch query.shelf {
            case .words: return try Self.matching(query, atMost: limit, limits, db)
            case .artists: return try shelves.artists()
            case .albums: return try shelves.albums()
            case .newest: return try shelves.newest()
            case .artist: return try shelves.artist(of: query.words)
            case .album: return try shelves.album(of: query.words)
            // What was played is not in the folder.
            case .heard: return []
            }
        }
    }

    /// Songs with the words, or where no song has them, with those that are most like them.
    private static func matching(
        _ query: SongQuery, atMost limit: Int, _ limits: LibraryLimits, _ db: Database
    ) throws -> FoundSongs {
        guard let pattern = SearchWords(query.words, atMost: limits.searchWords).pattern else { return [] }
        let total = try count(of: pattern, db)
        if total > 0 {
            return FoundSongs(try songs(of: pattern, total, from: query.from, limit, limits, db), total: total)
        }
        guard let meant = try Vocabulary(db).meant(by: query.words, limits),
            let likely = SearchWords(meant, atMost: limits.searchWords).pattern
        else { return [] }
        let all = try count(of: likely, db)
        let found = try songs(of: likely, all, from: query.from, limit, limits, db)
        return FoundSongs(found, total: all, lookedFor: all > 0 ? meant : nil)
    }

    private static func count(of pattern: String, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT count(*) FROM songWords JOIN song ON number = songWords.rowid
                    WHERE songWords MATCH ? AND gone = 0 AND isMusic = 1
                    """),
            arguments: [pattern]) ?? 0
    }

    private static func songs(
        of pattern: String, _ total: Int, from: Int, _ limit: Int, _ limits: LibraryLimits, _ db: Database
    ) throws -> [Song] {
        guard from < total else { return [] }
        let found =
            total > limits.rankedMatches
            ? try Self.first(of: pattern, from + limit, db) : try Self.best(of: pattern, from + limit, db)
        return Array(found.dropFirst(from))
    }

    /// The songs that have, in title, artist or album, a word that begins with each of the words that were typed,
    /// accents and capitals aside. Those in whose titles they are come first, then those by artist, then those by
    /// album. Without a word there are none.
    public func songs(matching typed: String, atMost limit: Int) async throws(LibraryProblem) -> [Song] {
        guard limit > 0, let pattern = SearchWords(typed, atMost: limits.searchWords).pattern else { return [] }
        return try await read { [limits] db in
            let many = try Int.fetchOne(
                try db.cachedStatement(
                    sql: "SELECT count(*) FROM (SELECT 1 FROM songWords WHERE songWords MATCH ? LIMIT ?)"),
                arguments: [pattern, limits.rankedMatches + 1])
            return many ?? 0 > limits.rankedMatches
                ? try Self.first(of: pattern, limit, db) : try Self.best(of: pattern, limit, db)
        }
    }

    /// Ranks everything that matches.
    private static func best(of pattern: String, _ limit: Int, _ db: Database) throws -> [Song] {
        try SongRow.songs(
            db,
            """
            SELECT \(SongRow.columns) FROM songWords JOIN song ON number = songWords.rowid
            WHERE songWords MATCH ? AND gone = 0 AND isMusic = 1
            ORDER BY bm25(songWords, 100, 10, 1), sortKey, number LIMIT ?
            """, [pattern, limit])
    }

    /// One or two letters that thousands of songs have: to rank those takes long, and says nothing.
    private static func first(of pattern: String, _ limit: Int, _ db: Database) throws -> [Song] {
        var found: [Song] = []
        for columns in ["{title}", "{title artist}", "{title artist album}"] where found.count < limit {
            let ids = Set(found.map(\.id))
            let more = try SongRow.songs(
                db,
                """
                SELECT \(SongRow.columns) FROM songWords JOIN song ON number = songWords.rowid
                WHERE songWords MATCH ? AND gone = 0 AND isMusic = 1 LIMIT ?
                """, ["\(columns) : (\(pattern))", limit])
            found += more.filter { !ids.contains($0.id) }.prefix(limit - found.count)
        }
        return found
    }
}

/// What a person types, as a query of SQLite's full-text search (https://sqlite.org/fts5.html, section
/// 3): each word is a string in quotes, so that nothing in it is an operator, and the beginning of a word is enough.
struct SearchWords: Hashable, Sendable {
    /// The question, or nil where there is no word in it.
    let pattern: String?

    /// Takes what was typed, as it was typed.
    init(_ typed: String, atMost limit: Int) {
        // Parts of one word follow one another, and so do letters of a script without spaces.
        let words = typed.split(whereSeparator: \.isWhitespace).lazy
            .map { Words(String($0)) }
            .filter { !$0.words.isEmpty }
            .prefix(limit)
            .map { "\"\($0.text)\"*" }
        // Next to one another, all of them are looked for.
        pattern = words.isEmpty ? nil : words.joined(separator: " ")
    }
}
