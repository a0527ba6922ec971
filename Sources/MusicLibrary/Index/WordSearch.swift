// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// A search for words in the index: the matching songs, best first, and the matching artists and albums.
struct WordSearch {
    fileprivate struct Match {
        var number: Int64
        var title: String
        var artist: String
        var album: String
        var rank: SearchRank
    }

    private let db: Database
    let words: SearchWords
    private let limits: LibraryLimits
    private let ranking: SearchRanking
    /// Whether the search also looks inside words, because no word begins with the typed one.
    private let isInside: Bool
    /// The number of matching songs.
    let total: Int

    /// Searches for words as they were typed.
    init(_ typed: String, _ limits: LibraryLimits, _ db: Database) throws {
        words = SearchWords(typed, atMost: limits.searchWords)
        (self.db, self.limits) = (db, limits)
        let count = words.isEmpty ? 0 : try Self.count("songWords MATCH ?", [words.pattern()], db)
        isInside = count == 0 && !words.isEmpty && words.parts != nil
        total = isInside ? try Self.count(Self.inside(words), Self.arguments(words), db) : count
        ranking = SearchRanking(words, isInside: isInside)
    }

    /// The matching songs from a position on.
    func found(from: Int, atMost limit: Int) throws -> FoundSongs {
        guard total > 0, limit > 0 else { return FoundSongs(total: total) }
        let matches = try matches(atLeast: from + limit)
        let song = try db.cachedStatement(sql: "SELECT \(SongRow.columns) FROM song WHERE number = ?")
        let songs = try matches.dropFirst(from).prefix(limit).compactMap { match in
            try Row.fetchOne(song, arguments: [match.number]).map(SongRow.song)
        }
        guard from == 0 else { return FoundSongs(songs, total: total) }
        return FoundSongs(songs, artists: try artists(matches), albums: try albums(matches), total: total)
    }

    // MARK: Songs

    private static let isThere = "gone = 0 AND isMusic = 1"

    private static func count(_ condition: String, _ arguments: StatementArguments, _ db: Database) throws -> Int {
        // Only present songs have words.
        let sql = "SELECT count(*) FROM songWords WHERE \(condition)"
        return try Int.fetchOne(try db.cachedStatement(sql: sql), arguments: arguments) ?? 0
    }

    /// Songs that contain the letters of each word, or of all words together, at any place.
    private static func inside(_ words: SearchWords) -> String {
        let each = words.words.map { _ in "instr(letters, ?) > 0" }.joined(separator: " AND ")
        return "songWords.rowid IN (SELECT number FROM songText WHERE instr(letters, ?) > 0 OR \(each))"
    }

    private static func arguments(_ words: SearchWords) -> StatementArguments {
        StatementArguments([words.key] + (words.parts ?? []))
    }

    /// The best matches in order. If there are very many, some are left out: ranking all of them takes long and does
    /// not improve the list.
    private func matches(atLeast count: Int) throws -> [Match] {
        let most = max(count, limits.rankedMatches)
        var matches: [Match] = []
        if isInside {
            matches = try self.matches(Self.inside(words), Self.arguments(words) + [most])
        } else if total <= most {
            matches = try self.matches("songWords MATCH ?", [words.pattern(), most])
        } else {
            var known: Set<Int64> = []
            let columns = ["title", "artist", "album", "title artist album"]
            let patterns =
                columns.prefix(2).map { words.beginning(in: $0) }
                + [true, false].flatMap { isWhole in columns.map { words.pattern(in: $0, isWhole: isWhole) } }
            for pattern in patterns where matches.count < most {
                matches += try self.matches("songWords MATCH ?", [pattern, most], isOrdered: false)
                    .filter { known.insert($0.number).inserted }
            }
        }
        let ranked = matches.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
        return ranked.map(\.element)
    }

    private func matches(
        _ condition: String, _ arguments: StatementArguments, isOrdered: Bool = true
    ) throws -> [Match] {
        let (index, order) = isOrdered ? ("", "ORDER BY sortKey, number") : ("INDEXED BY songThere", "")
        let sql = """
            SELECT number, songWords.title, songWords.artist, songWords.album
            FROM songWords CROSS JOIN song \(index) ON number = songWords.rowid
            WHERE \(condition) AND \(Self.isThere) \(order) LIMIT ?
            """
        var matches: [Match] = []
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() {
            let (title, artist, album): (String, String, String) = (row[1], row[2], row[3])
            let rank = ranking.rank(title: title, artist: artist, album: album)
            matches.append(Match(number: row[0], title: title, artist: artist, album: album, rank: rank))
        }
        return matches
    }

    // MARK: Artists and albums

    private struct Group {
        var number: Int64
        var key: String
        var fit: SearchRank.Fit
        var missing: Int
    }

    private func artists(_ matches: [Match]) throws -> [SongGroup] {
        let names = try db.cachedStatement(sql: "SELECT name, key FROM songArtist WHERE song = ? AND name <> ''")
        var groups: [Group] = []
        var seen: Set<String> = []
        var known: Set<String> = []
        for match in matches where groups.count < limits.rankedGroups && seen.insert(match.artist).inserted {
            guard ranking.fit(SearchedName(match.artist)) != nil else { continue }
            for row in try Row.fetchAll(names, arguments: [match.number]) where known.insert(row[1]).inserted {
                let name = SearchedName(Words(row[0]).indexed)
                guard let fit = ranking.fit(name) else { continue }
                groups.append(Group(number: match.number, key: row[1], fit: fit, missing: ranking.missing(name)))
            }
        }
        return try best(groups).compactMap { try Shelves.artist($0.key, db) }
    }

    private func albums(_ matches: [Match]) throws -> [SongGroup] {
        let album = try db.cachedStatement(sql: "SELECT albumID FROM song WHERE number = ? AND albumID <> ''")
        var groups: [Group] = []
        var seen: Set<[String]> = []
        var known: Set<String> = []
        for match in matches
        where groups.count < limits.rankedGroups && seen.insert([match.album, match.artist]).inserted {
            let name = SearchedName(match.album)
            guard let fit = ranking.fit(name) ?? ranking.fit(album: name, artist: SearchedName(match.artist)),
                let id = try String.fetchOne(album, arguments: [match.number]), known.insert(id).inserted
            else { continue }
            groups.append(Group(number: match.number, key: id, fit: fit, missing: ranking.missing(name)))
        }
        return try best(groups).compactMap { try Shelves.album(of: $0.number, db) }
    }

    private func best(_ groups: [Group]) -> ArraySlice<Group> {
        let ranked = groups.enumerated().sorted {
            ($0.element.fit.rawValue, $0.element.missing, $0.offset)
                < ($1.element.fit.rawValue, $1.element.missing, $1.offset)
        }
        return ranked.map(\.element).prefix(DJLimits.foundGroups)
    }
}
