// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A lock on a file for one process (flock(2)). The kernel releases it when the process ends or dies.
final class FileLock: Sendable {
    enum Failure: Error {
        /// Another process has the lock.
        case isHeld
        /// The path is not a regular file. Carries the last component of the path.
        case noFile(String)
        /// The errno of a failure.
        case system(Int32)
    }

    private let descriptor: Int32

    /// Takes the lock, and creates the file if it is missing.
    init(_ path: String) throws(Failure) {
        // The property is set only after the lock succeeded. Otherwise a failing initialiser would run deinit, which
        // closes the descriptor a second time.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .system(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .noFile(path.split(separator: "/").last.map(String.init) ?? path)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            close(descriptor)
            throw failure == EWOULDBLOCK ? .isHeld : .system(failure)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether a process has the lock on this file now.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
