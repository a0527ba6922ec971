// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol

/// The folder of pictures. A file's name is a hash, its modification time is when it was stored, and its access time is
/// when it was used.
///
/// One process at a time uses the folder, like the state folder. Other files in the folder are not touched.
struct ArtworkFolder: Sendable {
    private let path: String
    private static let keyBytes = 32
    private static let draft = ".new"
    // UTIME_OMIT of utimensat(2) and O_NOATIME of open(2), which Swift does not import.
    private static let unchanged = (1 << 30) - 2
    private static let withoutUsing: Int32 = 0o1_000_000

    init(_ path: String) {
        self.path = path
    }

    /// The path of a picture.
    func file(_ key: String) -> String { path + "/" + key }

    /// Returns the pictures in the folder. Removes drafts and damaged files that a power cut has left.
    func entries() -> [String: ArtworkCachePolicy.Entry] {
        var entries: [String: ArtworkCachePolicy.Entry] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            let key = name.hasSuffix(Self.draft) ? String(name.dropLast(Self.draft.count)) : name
            guard Hex.bytes(key)?.count == Self.keyBytes else { continue }
            if key == name, let entry = entry(key) {
                entries[key] = entry
            } else {
                unlink(file(name))
            }
        }
        return entries
    }

    /// Whether a picture still exists: people delete caches.
    func has(_ key: String) -> Bool { access(file(key), R_OK) == 0 }

    /// Stores a picture completely or not at all, even in a power cut.
    func store(_ bytes: [UInt8], as key: String) throws(ArtworkProblem) {
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = file(key) + Self.draft
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notStored(errno) }
        let isWhole = write(bytes, to: descriptor) && fsync(descriptor) == 0
        let failure = errno
        close(descriptor)
        guard isWhole else {
            unlink(draft)
            throw .notStored(failure)
        }
        guard rename(draft, file(key)) == 0 else {
            let failure = errno
            unlink(draft)
            throw .notStored(failure)
        }
    }

    /// Records the use of a picture on the disk, so that a restart knows it.
    func touch(_ key: String) {
        // UTIME_NOW would give the time of the kernel's last tick, and two pictures could then have the same age.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let times = [now, timespec(tv_sec: 0, tv_nsec: Self.unchanged)]
        utimensat(AT_FDCWD, file(key), times, 0)
    }

    /// Removes a picture.
    func remove(_ key: String) { unlink(file(key)) }

    private func entry(_ key: String) -> ArtworkCachePolicy.Entry? {
        let descriptor = open(file(key), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | Self.withoutUsing)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        var head = [UInt8](repeating: 0, count: ArtworkKind.headBytes)
        guard fstat(descriptor, &status) == 0, read(descriptor, &head, head.count) == head.count,
            let kind = ArtworkKind(head: head)
        else { return nil }
        return ArtworkCachePolicy.Entry(
            kind: kind, bytes: Int(status.st_size), storedAt: Self.instant(status.st_mtim),
            usedAt: Self.instant(status.st_atim))
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func instant(_ time: timespec) -> MeshInstant {
        .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
