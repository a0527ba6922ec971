// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc

/// Recorded drives: each a header and lines, which mean nothing here.
///
/// They are in a database of their own beside the node's. Votes then never wait for a recording's transactions, a recording
/// that fills the disk or is damaged takes nothing of the node's with it, and a reader can list drives while one is recorded.
public final class DriveStore: Sendable {
    /// The database's name in the state folder, without its ending.
    static let name = "fieldtest"

    let database: DatabaseQueue
    let folder: String
    /// Held while this process records. Nil for a reader.
    private let lock: Int32?

    private init(_ database: DatabaseQueue, folder: String, lock: Int32?) {
        self.database = database
        self.folder = folder
        self.lock = lock
    }

    deinit { if let lock { Glibc.close(lock) } }

    // MARK: Opening

    /// Opens the drives of a folder to record another one, or makes the database. One that is damaged is set aside, never
    /// deleted. `now` is for its name.
    public static func record(in folder: String, now: Date) throws(NodeStoreError) -> DriveStore {
        do {
            let files = DatabaseFiles(folder: folder, name: name)
            let lock = try takeLock(folder)
            do {
                return DriveStore(try opened(files, now: now), folder: folder, lock: lock)
            } catch {
                Glibc.close(lock)
                throw error
            }
        } catch {
            throw NodeStoreError(error, folder: folder)
        }
    }

    /// Opens the drives of a folder to read them. Nil where none has been recorded.
    public static func read(in folder: String) throws(NodeStoreError) -> DriveStore? {
        let files = DatabaseFiles(folder: folder, name: name)
        guard access(files.path, F_OK) == 0 else { return nil }
        do {
            let database = try DatabaseQueue(path: files.path, configuration: configuration)
            try DriveSchema.migrator.migrate(database)
            return DriveStore(database, folder: folder, lock: nil)
        } catch {
            throw NodeStoreError(error, folder: folder)
        }
    }

    private static func takeLock(_ folder: String) throws -> Int32 {
        let descriptor = open(lockPath(folder), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemProblem("make \(lockPath(folder))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw NodeStoreError(.busy, cause: "another roadmesh records in \(folder)")
        }
        return descriptor
    }

    static func lockPath(_ folder: String) -> String { "\(folder)/\(name).lock" }

    private static func opened(_ files: DatabaseFiles, now: Date) throws -> DatabaseQueue {
        func open() throws -> DatabaseQueue {
            if let reason = try files.prepare() { throw try files.setAside(reason, now: now) }
            let database = try DatabaseQueue(path: files.path, configuration: configuration)
            do {
                try DriveSchema.migrator.migrate(database)
            } catch let error where Damage.isMeant(by: error) {
                throw try files.setAside("is damaged (\(error))", now: now)
            }
            return database
        }
        do {
            return try open()
        } catch is Damage {
            return try open()
        } catch let error where Damage.isMeant(by: error) {
            _ = try files.setAside("is damaged (\(error))", now: now)
            return try open()
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "roadmesh.drives"
        configuration.busyMode = .timeout(StoreLimits.busyTimeout / .seconds(1))
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            // A batch has reached the disk when it is written: a power cut takes what came after it.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.execute(sql: "PRAGMA journal_size_limit = \(StoreLimits.journalBytes)")
        }
        return configuration
    }

    // MARK: Writing

    /// Begins a drive. Returns its number.
    public func begin(header: String) throws(NodeStoreError) -> Int64 {
        try write { db in
            try db.run("INSERT INTO drive (header, isEnded) VALUES (?, 0)", [header])
            return db.lastInsertedRowID
        }
    }

    /// Adds lines to a drive, which outlast a power cut when this returns. With the last of them it has ended.
    public func append(_ lines: [String], to drive: Int64, isEnd: Bool = false) async throws(NodeStoreError) {
        let result: Result<Void, NodeStoreError> = await withCheckedContinuation { continuation in
            database.asyncWriteWithoutTransaction { [self] db in
                do {
                    try db.inTransaction(.immediate) {
                        try Self.append(lines, to: drive, isEnd, db)
                        return .commit
                    }
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(NodeStoreError(error, folder: folder, db)))
                }
            }
        }
        try result.get()
    }

    private static func append(_ lines: [String], to drive: Int64, _ isEnd: Bool, _ db: Database) throws {
        for line in lines { try db.run("INSERT INTO line (drive, body) VALUES (?, ?)", [drive, line]) }
        if isEnd { try db.run("UPDATE drive SET isEnded = 1 WHERE number = ?", [drive]) }
    }

    private func write<Value>(_ body: (Database) throws -> Value) throws(NodeStoreError) -> Value {
        do {
            return try database.write(body)
        } catch {
            throw NodeStoreError(error, folder: folder)
        }
    }

    /// Ends the use of the database.
    public func close() { try? database.close() }
}
