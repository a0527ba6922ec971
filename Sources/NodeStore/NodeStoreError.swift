// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Glibc

/// Why the store could not be opened, read or written. After a write that has failed it is as it was before, and the next
/// one may succeed.
public struct NodeStoreError: Error, Hashable, Sendable {
    /// What is the matter.
    public enum Code: Hashable, Sendable {
        /// The disk is full, or the user's share of it.
        case diskFull
        /// The folder, the file or the whole disk cannot be written.
        case readOnly
        /// Another program has held the database for longer than `StoreLimits.busyTimeout`.
        case busy
        /// The folder, the database or its log was removed or changed by somebody else while the store was open: what was
        /// written may be gone. It stays so until the files are back as they were, or the store is opened again.
        case vanished
        /// A newer roadmesh made the database. It is unchanged.
        case newer
        /// Anything else: a broken disk, or a mistake of ours.
        case failed
    }

    /// What is the matter.
    public var code: Code
    /// What the system has said, in words that a person can read: no statement of SQL is in it.
    public var cause: String
    /// All that SQLite or the system has said, for logs.
    public var detail: String

    /// An error. `detail` is nil where `cause` is all there is.
    public init(_ code: Code, cause: String, detail: String? = nil) {
        self.code = code
        self.cause = cause
        self.detail = detail ?? cause
    }
}

extension NodeStoreError: CustomStringConvertible {
    /// For logs.
    public var description: String { "\(code): \(detail)" }
}

/// What SQLite and the system say, in the store's words.
extension NodeStoreError {
    /// Runs `body`; what it throws becomes an error of the store in this folder.
    static func wrapping<Value>(_ folder: String, _ body: () throws -> Value) throws(NodeStoreError) -> Value {
        do {
            return try body()
        } catch {
            throw NodeStoreError(error, folder: folder)
        }
    }

    /// `db` is the connection that has failed, where it is at hand: it knows what the system has said to it.
    init(_ error: any Error, folder: String, _ db: Database? = nil) {
        self =
            error as? NodeStoreError
            ?? NodeStoreError(Self.code(of: error, folder, db), cause: Self.text(of: error), detail: "\(error)")
    }

    /// What an error says, without the statement that has failed.
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
        return FolderProbe.failure(folder).map(code(ofSystem:)) ?? .failed
    }
}
