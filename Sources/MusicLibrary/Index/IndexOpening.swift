// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Glibc
import Logging

/// Opens an index's database, or creates it. The folder can reproduce everything in it, so a damaged database, or one
/// of another program, is deleted and created again.
struct IndexOpening {
    let path: String
    let limits: LibraryLimits
    let logger: Logger

    func open() throws(LibraryProblem) -> any DatabaseWriter {
        do {
            do {
                return try openSound()
            } catch let error where Self.isDamage(error) {
                logger.warning("the music index \(path) is damaged (\(error)); it is rebuilt")
                for suffix in Self.suffixes { unlink(path + suffix) }
                return try openSound()
            }
        } catch {
            throw .indexUnusable(path: path, cause: "\(error)")
        }
    }

    private static let suffixes = ["-wal", "-shm", ""]

    /// Whether a path of the database is not a regular file. SQLite would wait for a pipe.
    private var isNoFile: Bool {
        Self.suffixes.contains { suffix in
            var status = stat()
            return lstat(path + suffix, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        }
    }

    private func openSound() throws -> any DatabaseWriter {
        guard !isNoFile else { throw Unsound() }
        let database = try DatabasePool(path: path, configuration: configuration)
        do {
            try database.read { db in
                guard try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok" else { throw Unsound() }
                let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
                guard try tables == 0 || db.tableExists("grdb_migrations") else { throw Unsound() }
                guard try !IndexSchema.migrator.hasBeenSuperseded(db) else { throw Unsound() }
            }
            try IndexSchema.migrator.migrate(database)
            return database
        } catch {
            try? database.close()
            throw error
        }
    }

    private var configuration: Configuration {
        var configuration = Self.configuration(limits)
        configuration.maximumReaderCount = limits.readers
        configuration.prepareDatabase { db in
            // After a power cut the last songs are read again.
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            try db.execute(sql: "PRAGMA journal_size_limit = \(limits.journalBytes)")
        }
        return configuration
    }

    /// The settings that file and memory databases share.
    static func configuration(_ limits: LibraryLimits) -> Configuration {
        var configuration = Configuration()
        configuration.label = "roadmesh.library"
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = -\(limits.pageCacheKiB)")
        }
        return configuration
    }

    private struct Unsound: Error {}

    /// Whether an error means that a file is not a valid index. A full or read-only disk causes other errors.
    private static func isDamage(_ error: any Error) -> Bool {
        if error is Unsound { return true }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH]
            .contains(error.resultCode)
    }
}
