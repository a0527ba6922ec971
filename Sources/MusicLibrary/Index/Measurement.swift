// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB

/// The player's findings about a song's file, as the index stores them.
struct Measurement {
    private let outcome: PlayedOutcome?

    /// The findings about a file that was read.
    init(_ file: SongFile) { outcome = file.played }

    /// The result of playing a file.
    init(_ outcome: PlayedOutcome) { self.outcome = outcome }

    /// Writes the findings of a song. Without an outcome it writes that nothing is known.
    func write(of number: Int64, _ db: Database) throws {
        let (measured, loudness, peak): (Int, Double?, Double?) =
            switch outcome {
            case .plays(let file): (1, file.loudness, file.peak)
            case .fails: (2, nil, nil)
            case nil: (0, nil, nil)
            }
        try db.cachedStatement(sql: "UPDATE song SET measured = ?, loudness = ?, peak = ? WHERE number = ?")
            .execute(arguments: [measured, loudness, peak, number])
    }
}

extension MusicIndex {
    /// A song that still needs measuring.
    struct Unmeasured: Hashable, Sendable {
        var number: Int64
        var path: String
        var content: String
    }

    private static let isThere = "gone = 0 AND isMusic = 1 AND path IS NOT NULL AND measured = 0"

    /// Songs that need measuring: those with a doubtful length, and with `loudness` those without a gain in their tags.
    func unmeasured(loudness: Bool) async throws(LibraryProblem) -> [Int64] {
        try await read { db in
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT number FROM song WHERE \(Self.isThere) AND (isDoubtful = 1 OR ? AND trackGain IS NULL)
                    ORDER BY isDoubtful DESC, sortKey
                    """, arguments: [loudness])
        }
    }

    /// A song by its number, if it is still to be measured.
    func unmeasured(_ number: Int64) async throws(LibraryProblem) -> Unmeasured? {
        try await read { db in
            try Row.fetchOne(
                try db.cachedStatement(sql: "SELECT path, content FROM song WHERE number = ? AND \(Self.isThere)"),
                arguments: [number]
            ).map { Unmeasured(number: number, path: $0[0], content: $0[1]) }
        }
    }

    /// A song's number.
    func number(of id: Song.ID) async throws(LibraryProblem) -> Int64? {
        try await read { db in
            try Int64.fetchOne(try db.cachedStatement(sql: "SELECT number FROM song WHERE id = ?"), arguments: [id])
        }
    }

    /// Has a song measured again because its length is wrong. Returns its number; nil for an unknown song.
    func doubt(_ id: Song.ID) async throws(LibraryProblem) -> Int64? {
        try await write { db in
            try Int64.fetchOne(
                db, sql: "UPDATE song SET isDoubtful = 1, measured = 0 WHERE id = ? RETURNING number", arguments: [id])
        }
    }

    /// Stores the result of playing a song, unless its file has changed since. Returns whether its length has changed.
    func write(_ outcome: PlayedOutcome, of song: Unmeasured) async throws(LibraryProblem) -> Bool {
        try await write { [limits] db in
            let known = try Row.fetchOne(
                db, sql: "SELECT milliseconds FROM song WHERE number = ? AND content = ?",
                arguments: [song.number, song.content])
            guard let known else { return false }
            try Measurement(outcome).write(of: song.number, db)
            let milliseconds: Int = known[0]
            guard case .plays(let file) = outcome, file.milliseconds <= Int(DJLimits.songSeconds) * 1_000,
                .milliseconds(abs(file.milliseconds - milliseconds)) >= limits.wrongLength
            else { return false }
            try db.execute(
                sql: "UPDATE song SET milliseconds = ? WHERE number = ?", arguments: [file.milliseconds, song.number])
            return true
        }
    }

    /// The gains and measurements of a song. Nil if the song does not exist.
    func gain(of id: Song.ID) async throws(LibraryProblem) -> SongGain? {
        try await read { db in
            let row = try Row.fetchOne(
                try db.cachedStatement(
                    sql: """
                        SELECT trackGain, trackPeak, albumGain, albumPeak, loudness, peak, measured, albumKey, folder, albumID
                        FROM song WHERE id = ?
                        """), arguments: [id])
            guard let row else { return nil }
            var gain = SongGain()
            (gain.tags.trackGain, gain.tags.trackPeak) = (row[0], row[1])
            (gain.tags.albumGain, gain.tags.albumPeak) = (row[2], row[3])
            (gain.loudness, gain.peak, gain.isMeasured) = (row[4], row[5], (row[6] as Int) == 1)
            let album: String = row[9]
            if !album.isEmpty { try Self.addAlbum(to: &gain, [row[7], row[8], album], db) }
            return gain
        }
    }

    private static func addAlbum(to gain: inout SongGain, _ album: StatementArguments, _ db: Database) throws {
        let songs = try Row.fetchAll(
            try db.cachedStatement(
                sql: """
                    SELECT measured, loudness, peak, milliseconds FROM song
                    WHERE albumKey = ? AND folder = ? AND albumID = ? AND gone = 0 AND isMusic = 1
                    """), arguments: album)
        guard songs.allSatisfy({ ($0[0] as Int) == 1 }) else { return }
        let parts = songs.compactMap { row in (row[1] as Double?).map { (loudness: $0, weight: row[3] as Double) } }
        gain.albumLoudness = SongGain.mean(parts)
        gain.albumPeak = songs.compactMap { $0[2] as Double? }.max()
    }
}
