// SPDX-License-Identifier: Apache-2.0

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
