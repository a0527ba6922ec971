// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that is read block by block.
struct ReadFile: ~Copyable {
    private let descriptor: Int32
    /// Its length.
    let bytes: Int64

    /// Opens a file. Nil where it cannot be read, or is none.
    init?(_ path: String) {
        // A pipe with nobody at its other end would not open.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        bytes = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    /// As many bytes as there are, up to `count`.
    func block(at offset: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, Int(offset) + filled)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                filled += read
            }
        }
    }
}
