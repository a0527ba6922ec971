// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// What a library shows of itself without a word that is typed.
struct Shelves {
    let db: Database
    /// The first that is wanted, and how many.
    let from: Int
    let limit: Int

    /// The folder that a song's file is in: an album's songs are in one, and two albums of one name are in two.
    private static let folder = "rtrim(path, replace(path, '/', ''))"
    /// An artist without capitals and accents, as the order of songs has it (`SortKey`); a list has no such key.
    private static let artist = "iif(sortKey = '', lower(artist), substr(sortKey, 1, instr(sortKey, char(1))))"
    private static let isThere = "gone = 0 AND isMusic = 1"

    /// Who has songs here, in alphabetical order.
    func artists() throws -> FoundSongs {
        // With one min() SQLite takes the other columns from its row (https://sqlite.org/lang_select.html, 2.5).
        try groups(
            """
            SELECT id, artist, '', count(*), min(sortKey) AS first FROM song
            WHERE \(Self.isThere) AND artist <> '' GROUP BY \(Self.artist)
            """)
    }

    /// By artist.
    func albums() throws -> FoundSongs {
        try groups(
            """
            SELECT id, album, iif(count(DISTINCT \(Self.artist)) = 1, artist, ''), count(*), min(sortKey) AS first
            FROM song WHERE \(Self.isThere) AND album <> '' GROUP BY album COLLATE NOCASE, \(Self.folder)
            """)
    }

    private func groups(_ sql: String) throws -> FoundSongs {
        let total = try Int.fetchOne(try db.cachedStatement(sql: "SELECT count(*) FROM (\(sql))")) ?? 0
        let statement = try db.cachedStatement(sql: sql + " ORDER BY first, 2 COLLATE NOCASE LIMIT ? OFFSET ?")
        let groups = try Row.fetchAll(statement, arguments: [limit, from]).map { row in
            SongGroup(id: row[0], name: row[1], artist: row[2], songs: row[3])
        }
        return FoundSongs(groups: groups, total: total)
    }

    /// The newest files first; of a list, its last songs.
    func newest() throws -> FoundSongs { try songs("1", [], order: "modifiedNanoseconds DESC, number DESC") }

    /// All songs of a song's artist.
    func artist(of song: Song.ID) throws -> FoundSongs {
        try songs("\(Self.artist) = (SELECT \(Self.artist) FROM song WHERE id = ?) AND artist <> ''", [song])
    }

    /// All songs of a song's album.
    func album(of song: Song.ID) throws -> FoundSongs {
        try songs(
            """
            album = (SELECT album FROM song WHERE id = ?1) COLLATE NOCASE AND album <> ''
            AND \(Self.folder) IS (SELECT \(Self.folder) FROM song WHERE id = ?1)
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
