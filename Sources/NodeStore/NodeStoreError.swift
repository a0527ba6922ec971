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
        /// Anything else: a broken disk, or a mistake of ours.
        case failed
    }

    /// What is the matter.
    public var code: Code
    /// What SQLite or the system has said, for logs.
    public var cause: String

    /// An error.
    public init(_ code: Code, cause: String) {
        self.code = code
        self.cause = cause
    }
}

extension NodeStoreError: CustomStringConvertible {
    /// For logs.
    public var description: String { "\(code): \(cause)" }
}
