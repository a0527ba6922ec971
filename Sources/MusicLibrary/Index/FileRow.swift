// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The row of a file that was read.
struct FileRow {
    private let file: SongFile
    private let place: AlbumPlace
    private let albumKey: String
    /// The result for an album with no other songs. `Arrangement` corrects it.
    private var arranged = AlbumOrder.Result(album: "", sortKey: "")

    init(_ file: SongFile) {
        self.file = file
        place = AlbumPlace(path: file.file.path, disc: file.disc, track: file.track)
        albumKey = Letters.caseless(file.text.album)
    }

    /// The rows of some files.
    static func rows(_ files: [SongFile]) -> [FileRow] {
        var rows = files.map { FileRow($0) }
        let albums = Dictionary(grouping: rows.indices.filter { rows[$0].file.isMusic }) { rows[$0].album }
        for (album, places) in albums {
            let entries = places.map { place in
                let text = rows[place].file.text
                return AlbumOrder.Entry(
                    artist: text.artists[0], albumArtist: text.albumArtist, place: rows[place].place.key)
            }
            for (place, result) in zip(places, album.order.results(of: entries)) { rows[place].arranged = result }
        }
        return rows
    }

    private var album: Arrangement.Key { Arrangement.Key(album: albumKey, folder: place.folder) }

    /// Writes the row, and notes the albums to rearrange. Returns whether the list of songs has changed.
    func write(_ db: Database, _ arrangement: inout Arrangement) throws -> Bool {
        guard let number = try file.number ?? numberOfGone(db) else {
            try insert(db)
            // Without an album, its position is final.
            if file.isMusic, !albumKey.isEmpty { arrangement.note(album) }
            return file.isMusic
        }
        let before = try shown(number, db)
        try arrangement.note(number)
        try update(number, db)
        try arrangement.note(number)
        return try before != shown(number, db)
    }

    /// The row of a missing file with the same content, the latest one.
    private func numberOfGone(_ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            try db.cachedStatement(
                sql: "SELECT number FROM song WHERE content = ? AND gone > 0 ORDER BY gone DESC LIMIT 1"),
            arguments: [file.content])
    }

    /// Writes the song's rows in the other tables.
    private func write(of number: Int64, isNew: Bool, _ db: Database) throws {
        if file.isMusic {
            try SongWords(title: file.text.title, artist: file.text.artist, album: file.text.album).write(number, db)
        } else if !isNew {
            try SongWords.remove(number, db)
        }
        try SongArtist.write(file.text.artists, of: number, isNew: isNew, db)
    }

    /// The columns that the list shows. Nil if the song is not in the list.
    private func shown(_ number: Int64, _ db: Database) throws -> Row? {
        try Row.fetchOne(
            try db.cachedStatement(
                sql: """
                    SELECT title, artist, album, milliseconds FROM song
                    WHERE number = ? AND gone = 0 AND isMusic = 1
                    """), arguments: [number])
    }

    private func update(_ number: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE song SET path = ?, bytes = ?, modifiedNanoseconds = ?, inode = ?, content = ?, isMusic = ?,
                title = ?, artist = ?, album = ?, milliseconds = ?, hasCover = ?, isNamedByFile = ?, disc = ?, track = ?,
                albumArtist = ?, albumKey = ?, folder = ?, place = ?, isDoubtful = ?, trackGain = ?, trackPeak = ?,
                albumGain = ?, albumPeak = ?, gone = 0 WHERE number = ?
                """
        ).execute(arguments: columns + [number])
        try Measurement(file).write(of: number, db)
        try write(of: number, isNew: false, db)
    }

    private func insert(_ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO song (path, bytes, modifiedNanoseconds, inode, content, isMusic, title, artist, album,
                milliseconds, hasCover, isNamedByFile, disc, track, albumArtist, albumKey, folder, place, isDoubtful,
                trackGain, trackPeak, albumGain, albumPeak, id, albumID, sortKey)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: columns + [try freeID(db), arranged.album, arranged.sortKey])
        let number = db.lastInsertedRowID
        try write(of: number, isNew: true, db)
        if file.played != nil { try Measurement(file).write(of: number, db) }
    }

    private var columns: StatementArguments {
        file.file.arguments + [
            file.content, file.isMusic, file.text.title, file.text.artist, file.text.album, file.milliseconds,
            file.hasCover, file.text.isFromName, file.disc, file.track, file.text.albumArtist, albumKey, place.folder,
            place.key, file.isDoubtful, file.gain.trackGain, file.gain.trackPeak, file.gain.albumGain,
            file.gain.albumPeak,
        ]
    }

    /// The id of the content, or that id with the next free number if another song has it.
    private func freeID(_ db: Database) throws -> Song.ID {
        // In ASCII "." follows "-", so this range contains all copies.
        let copies = try Int.fetchOne(
            try db.cachedStatement(
                sql: "SELECT count(*) FROM song WHERE id = ?1 OR (id > ?1 || '-' AND id < ?1 || '.')"),
            arguments: [file.content])
        guard var copies, copies > 0 else { return file.content }
        let taken = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM song WHERE id = ?)")
        // An earlier copy may have been removed from the index.
        while try Bool.fetchOne(taken, arguments: ["\(file.content)-\(copies + 1)"]) == true { copies += 1 }
        return "\(file.content)-\(copies + 1)"
    }
}
