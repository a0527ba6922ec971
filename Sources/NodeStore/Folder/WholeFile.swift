// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that a power cut leaves complete, or not at all.
package enum WholeFile {
    /// Writes a file that only its owner can read: first the draft, which then gets the file's name. Returns 0, or the
    /// errno of the step that failed; the draft is then gone.
    package static func write(_ bytes: [UInt8], to file: String, draft: String) -> Int32 {
        // Remove a file that a power cut or another program has left there: if it is a pipe, writing would block.
        if unlink(draft) != 0, errno != ENOENT { return errno }
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var code = writeAll(bytes, to: descriptor)
        if code == 0, fsync(descriptor) != 0 || rename(draft, file) != 0 { code = errno }
        guard code == 0 else {
            unlink(draft)
            return code
        }
        let folder = open(
            file.lastIndex(of: "/").map { String(file[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return 0
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else { return count == 0 ? ENOSPC : errno }
            rest = rest.dropFirst(max(count, 0))
        }
        return 0
    }
}
