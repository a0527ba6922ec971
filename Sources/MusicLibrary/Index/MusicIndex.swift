// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Logging
import MeshNode

/// The songs of a library, to be listed and searched. What it holds in memory does not grow with the library.
public final class MusicIndex: Sendable {
    let database: any DatabaseWriter
    let path: String
    let limits: LibraryLimits

    /// Opens the index in a file, or makes it there. One that is damaged is made again.
    convenience init(
        file path: String, limits: LibraryLimits = .standard, logger: Logger
    ) throws(LibraryProblem) {
        self.init(try IndexOpening(path: path, limits: limits, logger: logger).open(), path: path, limits: limits)
    }

    private init(_ database: any DatabaseWriter, path: String, limits: LibraryLimits) {
        self.database = database
        self.path = path
        self.limits = limits
    }

    /// An index of songs that are listed elsewhere, in their order. It is gone with the process. Of two with one id the
    /// first counts.
    public static func inMemory(_ songs: [Song]) throws(LibraryProblem) -> MusicIndex {
        let limits = LibraryLimits.standard
        do {
            let database = try DatabaseQueue(configuration: IndexOpening.configuration(limits))
            try IndexSchema.migrator.migrate(database)
            try database.write { db in for song in songs { try SongRow.insert(listed: song, db) } }
            return MusicIndex(database, path: "memory", limits: limits)
        } catch {
            throw .indexUnusable(path: "memory", cause: "\(error)")
        }
    }

    /// All songs: by artist, album, disc, track and file name, or those of a list in its order.
    public func songs() async throws(LibraryProblem) -> [Song] {
        try await read { db in
            try SongRow.songs(
                db, "SELECT \(SongRow.columns) FROM song WHERE gone = 0 AND isMusic = 1 ORDER BY sortKey, number")
        }
    }

    /// The places of all songs' files in the folder, and their ids.
    func paths() async throws(LibraryProblem) -> [(path: String, id: Song.ID)] {
        try await read { db in
            try Row.fetchAll(
                db, sql: "SELECT path, id FROM song WHERE gone = 0 AND isMusic = 1 AND path IS NOT NULL"
            ).map { (path: $0[0], id: $0[1]) }
        }
    }

    /// The place of a song's file in the folder. Nil where there is no such song, or it has no file.
    func path(of id: Song.ID) async throws(LibraryProblem) -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT path FROM song WHERE id = ? AND gone = 0 AND isMusic = 1", arguments: [id])
        }
    }

    /// The album of a song; nil where it is on none.
    func album(of id: Song.ID) async throws(LibraryProblem) -> String? {
        let album = try await read { db in
            try String.fetchOne(
                db, sql: "SELECT album FROM song WHERE id = ? AND gone = 0 AND isMusic = 1", arguments: [id])
        }
        return album?.isEmpty == false ? album : nil
    }

    /// Reads on one of the database's own threads.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LibraryProblem) -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw .indexUnusable(path: path, cause: "\(error)")
        }
    }

    /// Writes on one of the database's own threads, all or nothing.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LibraryProblem) -> Value {
        do {
            return try await database.write(body)
        } catch {
            throw .indexUnusable(path: path, cause: "\(error)")
        }
    }

    /// Ends the use of the database, after what is being done with it. It blocks for as long.
    func close() {
        // The connection that is closed last is one that reads, and leaves the log behind.
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try? database.close()
    }
}

/// Looks through a list of songs in the way in which a folder's are looked through.
public struct ListSearch: SongSearch {
    private let index: MusicIndex
    private let logger: Logger

    /// Takes the songs of a list. Throws where SQLite has no memory for them.
    public init(_ songs: [Song], logger: Logger) throws(LibraryProblem) {
        index = try MusicIndex.inMemory(songs)
        self.logger = logger
    }

    /// See `MusicIndex.find(_:atMost:)`; nothing where the index fails.
    public func find(_ query: SongQuery, atMost limit: Int) async -> FoundSongs {
        await index.find(query, atMost: limit, logger)
    }
}

extension MusicLibrary: SongSearch {}
