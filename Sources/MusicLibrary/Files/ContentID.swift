// SPDX-License-Identifier: Apache-2.0

import Crypto
import Glibc

/// Identifies a file's content, wherever the file is: a hash of its size and of blocks at its start, its middle and its
/// end. It is the id of the first song with this content.
///
/// It has 15 characters, because it travels over a slow radio and Swift stores 15 without an allocation. That makes 75
/// bits: among 50,000 songs two collide by chance in one of 30 trillion libraries. Its alphabet has no letter that
/// looks like a digit, because people type it.
enum ContentID {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let characters = 15

    /// The id of a file's content. Nil if the file cannot be read.
    static func read(_ path: String, limits: LibraryLimits) -> String? {
        guard let file = ReadFile(path) else { return nil }
        let block = Int64(limits.idBlockBytes)
        var hash = SHA256()
        withUnsafeBytes(of: file.bytes.littleEndian) { hash.update(bufferPointer: $0) }
        for offset in [0, (file.bytes - block) / 2, file.bytes - block] {
            hash.update(data: file.block(at: max(offset, 0), count: limits.idBlockBytes))
        }
        return text(of: hash.finalize())
    }

    private static func text(of digest: SHA256Digest) -> String {
        var bits: UInt = 0, count = 0
        var text: [UInt8] = []
        for byte in digest where text.count < characters {
            (bits, count) = (bits << 8 | UInt(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt(count) & 31)])
            }
        }
        return String(decoding: text.prefix(characters), as: UTF8.self)
    }
}

/// A file that is read in blocks.
struct ReadFile: ~Copyable {
    private let descriptor: Int32
    /// The file's length.
    let bytes: Int64

    /// Opens a file. Nil if it cannot be read or is not a regular file.
    init?(_ path: String) {
        // Opening a pipe without a writer would block.
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

    /// Up to `count` bytes, fewer at the end of the file.
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
