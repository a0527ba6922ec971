// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import NIOConcurrencyHelpers
import NodeCore

/// Recorded drives: each has a header and lines, whose contents do not matter here.
///
/// The drives have their own database, separate from the node's. So votes never wait for a recording's transactions. A
/// recording that is damaged or fills the disk does not harm the node's data. Another process can list drives during a
/// recording.
public final class DriveStore: Sendable {
    /// The name of the database in the state folder, without its suffix.
    static let name = "fieldtest"

    let database: DatabaseQueue
    let folder: String
    /// The lock of a recording. Nil for a reader, and after `close`.
    private let lock: NIOLockedValueBox<FileLock?>

    /// The new path of an unusable database; nil if there was none.
    public let setAside: String?

    private init(_ database: DatabaseQueue, folder: String, lock: FileLock?, setAside: String?) {
        self.setAside = setAside
        self.database = database
        self.folder = folder
        self.lock = NIOLockedValueBox(lock)
    }

    // MARK: Opening

    /// Opens the drives of a folder for a recording, or creates the database. A damaged database is set aside, never
    /// deleted. Throws `.newer` if a newer program made the database. The new name of a damaged database contains
    /// `now`.
    public static func record(in folder: String, now: Date) throws(NodeStoreError) -> DriveStore {
        try NodeStoreError.wrapping(folder) {
            let lock = try takeLock(folder)
            let files = DatabaseFiles(folder: folder, name: name)
            let opening = DatabaseOpening(files: files, migrator: DriveSchema.migrator, now: now)
            let opened = try opening.open { _ in }
            return DriveStore(opened.database, folder: folder, lock: lock, setAside: opened.setAside?.path)
        }
    }

    /// Opens the drives of a folder for reading. Nil if no drive was recorded.
    public static func read(in folder: String) throws(NodeStoreError) -> DriveStore? {
        let files = DatabaseFiles(folder: folder, name: name)
        return try NodeStoreError.wrapping(folder) {
            guard access(files.path, F_OK) == 0 else {
                guard errno == ENOENT else { throw SystemProblem("read \(folder)") }
                return nil
            }
            let configuration = DatabaseOpening.configuration(name)
            let database = try DatabaseQueue(path: files.path, configuration: configuration)
            guard try !database.read(DriveSchema.migrator.hasBeenSuperseded) else { throw NewerSchema() }
            try DriveSchema.migrator.migrate(database)
            return DriveStore(database, folder: folder, lock: nil, setAside: nil)
        }
    }

    private static func takeLock(_ folder: String) throws -> FileLock {
        do {
            return try FileLock(lockFile(folder))
        } catch {
            // Patterns in the catch clauses themselves crash Swift 6.2.3.
            switch error {
            case .isHeld: throw NodeStoreError(.busy, cause: "another roadmesh records or collects in \(folder)")
            case .system(let code): throw SystemProblem("make \(lockFile(folder))", code)
            case .noFile: throw error
            }
        }
    }

    static func lockFile(_ folder: String) -> String { "\(folder)/\(name).lock" }

    // MARK: Writing

    /// Starts a drive. Returns its number.
    public func begin(header: String, sharing: DriveSharing = .none) throws(NodeStoreError) -> Int64 {
        try write { db in
            try db.run("INSERT INTO drive (header, isEnded, sharing) VALUES (?, 0, ?)", [header, sharing.rawValue])
            return db.lastInsertedRowID
        }
    }

    /// Stores the state of a drive's collection.
    public func mark(_ drive: Int64, _ sharing: DriveSharing) throws(NodeStoreError) {
        try write { db in try db.run("UPDATE drive SET sharing = ? WHERE number = ?", [sharing.rawValue, drive]) }
    }

    /// Appends lines to a drive. They are on disk when this returns. With `isEnd`, the last of these lines ends the
    /// drive.
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

    /// Replaces all lines of a drive, in one transaction.
    public func replaceLines(of drive: Int64, by lines: [String]) throws(NodeStoreError) {
        try write { db in
            try db.run("DELETE FROM line WHERE drive = ?", [drive])
            for line in lines { try db.run("INSERT INTO line (drive, body) VALUES (?, ?)", [drive, line]) }
        }
    }

    private func write<Value>(_ body: (Database) throws -> Value) throws(NodeStoreError) -> Value {
        try NodeStoreError.wrapping(folder) { try database.write(body) }
    }

    /// Closes the database. Another process may then record in the folder, even while this object exists.
    public func close() {
        try? database.close()
        lock.withLockedValue { $0 = nil }
    }
}
