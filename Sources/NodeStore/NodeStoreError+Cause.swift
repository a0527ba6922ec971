// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Glibc

/// What SQLite and the system say, in the store's words.
extension NodeStoreError {
    /// `db` is the connection that has failed, where it is at hand: it knows what the system has said to it.
    init(_ error: any Error, folder: String, _ db: Database? = nil) {
        self =
            error as? NodeStoreError
            ?? NodeStoreError(Self.code(of: error, folder, db), cause: Self.words(of: error), detail: "\(error)")
    }

    /// What an error says, without the statement that has failed.
    private static func words(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        return error.message ?? "SQLite error \(error.resultCode.rawValue)"
    }

    private static func code(of error: any Error, _ folder: String, _ db: Database?) -> Code {
        if let problem = error as? SystemProblem { return code(ofSystem: problem.code) }
        guard let error = error as? DatabaseError else { return .failed }
        switch error.resultCode {
        case .SQLITE_FULL: return .diskFull
        case .SQLITE_READONLY, .SQLITE_PERM: return .readOnly
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            let told = code(ofSystem: db?.sqliteConnection.map { sqlite3_system_errno($0) } ?? 0)
            if told != .failed { return told }
            // Some of what SQLite does to its files fails without a word of why.
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

    /// What a folder's disk looks like.
    private static func state(of folder: String) -> Code {
        var disk = statvfs()
        if statvfs(folder, &disk) == 0, disk.f_bavail == 0 { return .diskFull }
        if access(folder, W_OK) != 0 { return code(ofSystem: errno) }
        return .failed
    }
}
