// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Glibc
import NodeCore

/// Converts errors of SQLite and the system.
extension NodeStoreError {
    /// Runs `body`, and converts its errors to errors of the store in this folder.
    static func wrapping<Value>(_ folder: String, _ body: () throws -> Value) throws(NodeStoreError) -> Value {
        do {
            return try body()
        } catch {
            throw NodeStoreError(error, folder: folder)
        }
    }

    /// Converts an error. `db` is the failed connection, if available, which has the system's error.
    init(_ error: any Error, folder: String, _ db: Database? = nil) {
        self =
            error as? NodeStoreError
            ?? NodeStoreError(Self.code(of: error, folder, db), cause: Self.text(of: error), detail: "\(error)")
    }

    /// An error's message, without the failed statement.
    private static func text(of error: any Error) -> String {
        if error is NewerSchema { return "it was made by a newer roadmesh" }
        guard let error = error as? DatabaseError else { return "\(error)" }
        return error.message ?? "SQLite error \(error.resultCode.rawValue)"
    }

    private static func code(of error: any Error, _ folder: String, _ db: Database?) -> Code {
        if let problem = error as? SystemProblem { return code(ofSystem: problem.code) }
        if error is NewerSchema { return .newer }
        guard let error = error as? DatabaseError else { return .failed }
        switch error.resultCode {
        case .SQLITE_FULL: return .diskFull
        case .SQLITE_READONLY, .SQLITE_PERM: return .readOnly
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            let told = code(ofSystem: db?.sqliteConnection.map { sqlite3_system_errno($0) } ?? 0)
            if told != .failed { return told }
            // SQLite does not report the cause of some failures of its files.
            return state(of: folder)
        default: return .failed
        }
    }

    private static func code(ofSystem code: Int32) -> Code {
        switch code {
        case ENOSPC, EDQUOT: .diskFull
        case EROFS, EACCES, EPERM: .readOnly
        default: .failed
        }
    }

    /// Checks a folder's disk.
    private static func state(of folder: String) -> Code {
        var disk = statvfs()
        if statvfs(folder, &disk) == 0, disk.f_bavail == 0 { return .diskFull }
        return FolderProbe.failure(folder).map(code(ofSystem:)) ?? .failed
    }
}
