// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The lists of a library that need no search words.
struct Shelves {
    let db: Database
    /// The first wanted row, and the number of rows.
    let from: Int
    let limit: Int

    private static let isThere = "gone = 0 AND isMusic = 1"

    /// The artists of present songs, in alphabetical order.
    func artists() throws -> FoundSongs {
        // With a single min() SQLite takes the other columns from its row (https://sqlite.org/lang_select.html, 2.5).
        try groups(
            """
            SELECT \(Self.artistID), name, '', count(*), min(\(Self.artistOrder)) AS first
            FROM song JOIN songArtist ON song = number WHERE \(Self.isThere) AND name <> '' GROUP BY key
            """)
    }

    /// All albums, ordered by artist.
    func albums() throws -> FoundSongs {
        try groups(
            """
            SELECT id, album, \(Self.albumArtist), count(*), min(sortKey) AS first
            FROM song WHERE \(Self.isThere) AND albumID <> '' GROUP BY albumID
            """)
    }

    /// The id of an artist: the id of one of the songs, with the artist's position in that song unless it is the first.
    private static let artistID = "CASE position WHEN 0 THEN id ELSE id || '/' || position END"
    /// Songs with this first artist come before others.
    private static let artistOrder = "sort || char(1) || position || char(1) || sortKey"

    /// The artist of a group of songs that forms an album. Empty if there are several.
    private static let albumArtist = """
        CASE WHEN albumArtist <> '' THEN albumArtist
        WHEN count(DISTINCT artist COLLATE NOCASE) = 1 THEN artist ELSE '' END
        """

    /// The artist with this key.
    static func artist(_ key: String, _ db: Database) throws -> SongGroup? {
        let sql = """
            SELECT \(artistID), name, '', count(*), min(\(artistOrder))
            FROM song JOIN songArtist ON song = number WHERE \(isThere) AND key = ? GROUP BY key
            """
        return try Row.fetchOne(try db.cachedStatement(sql: sql), arguments: [key]).map(group)
    }

    /// The album of a song.
    static func album(of number: Int64, _ db: Database) throws -> SongGroup? {
        let sql = """
            SELECT id, album, \(albumArtist), count(*), min(sortKey) FROM song WHERE \(isThere)
            AND (albumKey, folder, albumID) = (SELECT albumKey, folder, albumID FROM song WHERE number = ?)
            GROUP BY albumID
            """
        return try Row.fetchOne(try db.cachedStatement(sql: sql), arguments: [number]).map(group)
    }

    private static func group(_ row: Row) -> SongGroup {
        SongGroup(id: row[0], name: row[1], artist: row[2], songs: row[3])
    }

    private func groups(_ sql: String) throws -> FoundSongs {
        let total = try Int.fetchOne(try db.cachedStatement(sql: "SELECT count(*) FROM (\(sql))")) ?? 0
        let statement = try db.cachedStatement(sql: sql + " ORDER BY first, 2 COLLATE NOCASE LIMIT ? OFFSET ?")
        let groups = try Row.fetchAll(statement, arguments: [limit, from]).map(Self.group)
        return FoundSongs(groups: groups, total: total)
    }

    /// The newest files first. For a list, its last songs first.
    func newest() throws -> FoundSongs { try songs("1", [], order: "modifiedNanoseconds DESC, number DESC") }

    /// All songs of an artist, given its `artistID`.
    func artist(of name: String) throws -> FoundSongs {
        let mark = name.lastIndex(of: "/")
        let place = mark.flatMap { Int(name[name.index(after: $0)...]) } ?? 0
        let song = mark.map { String(name[..<$0]) } ?? name
        return try songs(
            """
            number IN (SELECT song FROM songArtist WHERE name <> '' AND key = (
                SELECT key FROM songArtist JOIN song ON song = number
                WHERE id = ? AND position = 0 OR id = ? AND position = ?))
            """, [name, song, place])
    }

    /// All songs of the album of this song.
    func album(of song: Song.ID) throws -> FoundSongs {
        try songs(
            """
            albumID <> '' AND (albumKey, folder, albumID) = (SELECT albumKey, folder, albumID FROM song WHERE id = ?)
            """, [song])
    }

    private func songs(
        _ condition: String, _ arguments: StatementArguments, order: String = "sortKey, number"
    ) throws -> FoundSongs {
        let source = "FROM song WHERE \(Self.isThere) AND \(condition)"
        let total =
            try Int.fetchOne(try db.cachedStatement(sql: "SELECT count(*) \(source)"), arguments: arguments) ?? 0
        let songs = try SongRow.songs(
            db, "SELECT \(SongRow.columns) \(source) ORDER BY \(order) LIMIT ? OFFSET ?", arguments + [limit, from])
        return FoundSongs(songs, total: total)
    }
}
