// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Logging
import NodeCore

/// The songs of a library, for lists and searches. Its memory does not grow with the library.
public final class MusicIndex: Sendable {
    let database: any DatabaseWriter
    let path: String
    let limits: LibraryLimits

    /// Opens the index in a file, or creates it. A damaged index is created again.
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

    /// An index in memory for songs of a list, in the list's order. If two songs have the same id, the first one
    /// counts.
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

    /// The paths of all songs' files in the folder, and their ids.
    func paths() async throws(LibraryProblem) -> [(path: String, id: Song.ID)] {
        try await read { db in
            try Row.fetchAll(
                db, sql: "SELECT path, id FROM song WHERE gone = 0 AND isMusic = 1 AND path IS NOT NULL"
            ).map { (path: $0[0], id: $0[1]) }
        }
    }

    /// The path of a song's file in the folder. Nil for an unknown song, or for one without a file.
    func path(of id: Song.ID) async throws(LibraryProblem) -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT path FROM song WHERE id = ? AND gone = 0 AND isMusic = 1", arguments: [id])
        }
    }

    /// The album of a song. Nil without an album.
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

    /// Writes on one of the database's own threads, in one transaction.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LibraryProblem) -> Value {
        do {
            return try await database.write(body)
        } catch {
            throw .indexUnusable(path: path, cause: "\(error)")
        }
    }

    /// Closes the database after the work in progress, and blocks until then.
    func close() {
        // The last connection to close is a reader, which would leave the write-ahead log behind.
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try? database.close()
    }
}

/// Searches a list of songs in the same way as a folder.
public struct ListSearch: SongSearch {
    private let index: MusicIndex
    private let logger: Logger

    /// Indexes the songs of a list. Throws if SQLite has no memory for them.
    public init(_ songs: [Song], logger: Logger) throws(LibraryProblem) {
        index = try MusicIndex.inMemory(songs)
        self.logger = logger
    }

    /// See `MusicIndex.find(_:atMost:)`. Empty if the index fails.
    public func find(_ query: SongQuery, atMost limit: Int) async -> FoundSongs {
        await index.find(query, atMost: limit, logger)
    }
}

extension MusicLibrary: SongSearch {}
