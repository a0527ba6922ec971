// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Rearranges the albums that have changed: writes the album of each song, and its position in the order of all songs.
/// `AlbumOrder` decides.
struct Arrangement {
    /// An album's name and the folder of its songs.
    struct Key: Hashable {
        var album: String
        var folder: String

        var order: AlbumOrder { AlbumOrder(name: album, folder: folder) }
    }

    private let db: Database
    private var keys: Set<Key> = []
    private var single: Set<Int64> = []

    init(_ db: Database) { self.db = db }

    /// Songs of an album were added, removed or changed.
    mutating func note(_ key: Key) { keys.insert(key) }

    /// A song was added, removed or changed.
    mutating func note(_ number: Int64) throws {
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT albumKey, folder FROM song WHERE number = ?"), arguments: [number])
        guard let row else { return }
        let key = Key(album: row[0], folder: row[1])
        // Without an album, a song's position depends on no other song.
        if key.album.isEmpty { single.insert(number) } else { note(key) }
    }

    /// Writes the changes. Returns whether the order of songs has changed.
    func write() throws -> Bool {
        var hasChanged = false
        for key in keys {
            let entries = try entries("albumKey = ? AND folder = ?", [key.album, key.folder])
            if try write(key.order, entries) { hasChanged = true }
        }
        for number in single {
            let entries = try entries("number = ?", [number])
            if try write(AlbumOrder(name: "", folder: entries.first?.folder ?? ""), entries) { hasChanged = true }
        }
        return hasChanged
    }

    private struct Found {
        var number: Int64
        var entry: AlbumOrder.Entry
        var result: AlbumOrder.Result
        var folder: String
    }

    private func entries(_ condition: String, _ arguments: StatementArguments) throws -> [Found] {
        let rows = try Row.fetchCursor(
            try db.cachedStatement(
                sql: """
                    SELECT number, songArtist.name, albumArtist, place, albumID, sortKey, folder
                    FROM song JOIN songArtist ON song = number AND position = 0
                    WHERE \(condition) AND gone = 0 AND isMusic = 1
                    """), arguments: arguments)
        var found: [Found] = []
        while let row = try rows.next() {
            found.append(
                Found(
                    number: row[0], entry: .init(artist: row[1], albumArtist: row[2], place: row[3]),
                    result: .init(album: row[4], sortKey: row[5]), folder: row[6]))
        }
        return found
    }

    private func write(_ order: AlbumOrder, _ found: [Found]) throws -> Bool {
        let update = try db.cachedStatement(sql: "UPDATE song SET albumID = ?, sortKey = ? WHERE number = ?")
        var hasChanged = false
        for (found, result) in zip(found, order.results(of: found.map(\.entry))) where found.result != result {
            try update.execute(arguments: [result.album, result.sortKey, found.number])
            hasChanged = true
        }
        return hasChanged
    }
}
