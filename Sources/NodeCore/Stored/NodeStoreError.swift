// SPDX-License-Identifier: Apache-2.0

/// Why the store could not be opened, read or written. A failed write changes nothing, and the next one may succeed.
public struct NodeStoreError: Error, Hashable, Sendable {
    /// The kind of failure.
    public enum Code: Hashable, Sendable {
        /// The disk or the user's quota is full.
        case diskFull
        /// The folder, the file or the file system is read-only.
        case readOnly
        /// Another program has locked the database for longer than the store waits.
        case busy
        /// Another program has removed or changed the folder, the database or its log while the store was open, so
        /// writes may be lost. This lasts until the files are restored, or the store is opened again.
        case vanished
        /// A newer roadmesh made the database. It was not changed.
        case newer
        /// Any other failure: a broken disk, or a bug in this program.
        case failed
    }

    /// The kind of failure.
    public var code: Code
    /// The system's message, in words for people, without SQL.
    public var cause: String
    /// The full message of SQLite or the system, for logs.
    public var detail: String

    /// Makes an error. `detail` is nil if `cause` says everything.
    public init(_ code: Code, cause: String, detail: String? = nil) {
        self.code = code
        self.cause = cause
        self.detail = detail ?? cause
    }
}

extension NodeStoreError: CustomStringConvertible {
    /// The text for logs.
    public var description: String { "\(code): \(detail)" }
}
