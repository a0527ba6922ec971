// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A lock on a file, by which one process keeps the others out. It ends with the process, however that ends (flock(2)).
final class FileLock: Sendable {
    enum Failure: Error {
        /// Another process has it.
        case isHeld
        /// Something else than a file is in its place; the last part of its path.
        case noFile(String)
        /// What errno says.
        case system(Int32)
    }

    private let descriptor: Int32

    /// Takes the lock, and makes the file where there is none.
    init(_ path: String) throws(Failure) {
        // Kept only with the lock: an object that is whole is taken apart when its making fails, and would close it
        // again.
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

    /// Whether some process has the lock on this file now.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
