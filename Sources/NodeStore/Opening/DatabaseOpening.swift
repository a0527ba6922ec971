// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc

/// Opens a database of a folder, or makes it: for its owner's eyes only, and sound.
struct DatabaseOpening {
    let files: DatabaseFiles
    /// Makes its tables, or those of an older program its own.
    let migrator: DatabaseMigrator
    let now: Date

    /// The database, what `read` finds in it once its tables are there, and what was set aside for it. What `read` throws
    /// may say that the database is damaged. Throws `NewerSchema`, and changes nothing, if a newer program made the database.
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

    /// Throws `Damage` where the database is set aside.
    private func openSound<Value>(_ read: (Database) throws -> Value) throws -> (DatabaseQueue, Value) {
        if let reason = try files.prepare() { throw try files.setAside(reason, now: now) }
        var configuration = Self.configuration(files.name)
        configuration.prepareDatabase { db in
            // First the check: a file that is not sound stays as it is.
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

    /// What all connections have in common.
    static func configuration(_ label: String) -> Configuration {
        var configuration = Configuration()
        configuration.label = label
        configuration.busyMode = .timeout(StoreLimits.busyTimeout / .seconds(1))
        return configuration
    }

    private static func prepare(_ db: Database) throws {
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else { throw DatabaseError(message: "the folder takes no write-ahead log") }
        // Tables that a power cut takes are made again, and each migration would wait for the disk.
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
        try db.execute(sql: "PRAGMA journal_size_limit = \(StoreLimits.journalBytes)")
    }

    /// From now on a commit has reached the disk when it returns. What is usual with a write-ahead log, NORMAL, may lose the
    /// last ones in a power cut.
    private static func waitForDisk(_ db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
    }

    /// Throws what says that a database is damaged, another program's, or a newer one's.
    static func check(_ db: Database, _ migrator: DatabaseMigrator) throws {
        let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
        guard verdict == "ok" else { throw ForeignValue(description: verdict ?? "nothing can be said about it") }
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard try tables == 0 || db.tableExists("grdb_migrations") else {
            throw ForeignValue(description: "another program's tables are in it")
        }
        guard try !migrator.hasBeenSuperseded(db) else { throw NewerSchema() }
    }

    /// Sets the database aside where something is thrown that says that it is damaged.
    ///
    /// That is done while it is open: SQLite tidies up a file's log when it closes it, but not of a file that has been
    /// moved, so what is damaged stays as it was found.
    private func settingAsideDamage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error where Damage.isMeant(by: error) {
            throw try files.setAside("is damaged (\(error))", now: now)
        }
    }
}

/// The database was made by a newer program. It is not damaged, so it stays where it is.
struct NewerSchema: Error {}

/// A database was set aside.
struct Damage: Error {
    /// Where it is now.
    var path: String
    /// What was the matter with it.
    var reason: String

    /// Whether an error says that a database is not one, or another program's: no disk that is full or cannot be written is told
    /// by one of these.
    static func isMeant(by error: any Error) -> Bool {
        if error is ForeignValue { return true }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH]
            .contains(error.resultCode)
    }
}
