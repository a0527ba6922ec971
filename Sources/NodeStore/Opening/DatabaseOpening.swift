// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc

/// Opens a folder's database, or creates it. The result is valid, and only its owner can read it.
struct DatabaseOpening {
    let files: DatabaseFiles
    /// Creates the tables, or migrates those of an older program.
    let migrator: DatabaseMigrator
    let now: Date

    /// Returns the database, the result of `read` on its tables, and the damage if a database was set aside. If `read`
    /// throws an error that means damage, the database is set aside. Throws `NewerSchema`, and changes nothing, if a
    /// newer program made the database.
    func open<Value>(
        _ read: (Database) throws -> Value
    ) throws -> (database: DatabaseQueue, value: Value, setAside: Damage?) {
        do {
            let (database, value) = try openSound(read)
            return (database, value, nil)
        } catch let damage as Damage {
            let (database, value) = try openSound(read)
            return (database, value, damage)
        }
    }

    /// Throws `Damage` if the database is set aside.
    private func openSound<Value>(_ read: (Database) throws -> Value) throws -> (DatabaseQueue, Value) {
        if let reason = try files.prepare() { throw try files.setAside(reason, now: now) }
        var configuration = Self.configuration(files.name)
        configuration.prepareDatabase { db in
            // The check comes first, so that a damaged file is not changed.
            try settingAsideDamage { try Self.check(db, migrator) }
            try Self.prepare(db)
        }
        let database = try DatabaseQueue(path: files.path, configuration: configuration)
        do {
            return (
                database,
                try settingAsideDamage {
                    try migrator.migrate(database)
                    try database.writeWithoutTransaction(Self.waitForDisk)
                    return try database.read(read)
                }
            )
        } catch {
            try? database.close()
            throw error
        }
    }

    /// The configuration of all connections.
    static func configuration(_ label: String) -> Configuration {
        var configuration = Configuration()
        configuration.label = label
        configuration.busyMode = .timeout(StoreLimits.busyTimeout / .seconds(1))
        return configuration
    }

    private static func prepare(_ db: Database) throws {
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else { throw DatabaseError(message: "the folder does not support a write-ahead log") }
        // During migrations NORMAL is enough, because tables that a power cut loses are created again. FULL would make
        // each migration wait for the disk.
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
        try db.execute(sql: "PRAGMA journal_size_limit = \(StoreLimits.journalBytes)")
    }

    /// From now on, each commit returns only when it is on disk. With NORMAL, the usual mode for a write-ahead log, a
    /// power cut may lose the last commits.
    private static func waitForDisk(_ db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
    }

    /// Throws if the database is damaged, or belongs to another or a newer program.
    static func check(_ db: Database, _ migrator: DatabaseMigrator) throws {
        let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
        guard verdict == "ok" else { throw ForeignValue(description: verdict ?? "it cannot be checked") }
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard try tables == 0 || db.tableExists("grdb_migrations") else {
            throw ForeignValue(description: "another program's tables are in it")
        }
        guard try !migrator.hasBeenSuperseded(db) else { throw NewerSchema() }
    }

    /// Sets the database aside if `body` throws an error that means damage.
    ///
    /// The database is moved while it is open. When SQLite closes a database, it checkpoints the log, but not if the
    /// file was moved. So the damaged database stays unchanged.
    private func settingAsideDamage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error where Damage.isMeant(by: error) {
            throw try files.setAside("is damaged (\(error))", now: now)
        }
    }
}

/// The database was made by a newer program. It is not damaged, so it is not moved.
struct NewerSchema: Error {}

/// A database was set aside.
struct Damage: Error {
    /// The path to which the database was moved.
    var path: String
    /// The reason.
    var reason: String

    /// Whether an error means that the file is not a database, or belongs to another program. A full or read-only disk
    /// causes none of these errors.
    static func isMeant(by error: any Error) -> Bool {
        if error is ForeignValue { return true }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH]
            .contains(error.resultCode)
    }
}
