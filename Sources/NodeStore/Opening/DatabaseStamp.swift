// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a database's files are like when this process has written to them last. Nobody else writes to them
/// (`StateFolder`), so that any difference says that what was written may not be there any more. SQLite does not look:
/// it writes on into a file that was removed, and reads what it has in memory.
struct DatabaseStamp: Sendable {
    private struct File: Hashable {
        var device: UInt64
        var inode: UInt64
        var bytes: Int64
        var seconds: Int
        var nanoseconds: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            bytes = Int64(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }

        func isSameFile(as other: File) -> Bool { device == other.device && inode == other.inode }
    }

    private let path: String
    private var database: File?
    private var log: File?
    private var index: File?

    /// The files of a database as they are now.
    init(_ path: String) {
        self.path = path
        database = File(path)
        log = File(path + "-wal")
        index = File(path + "-shm")
    }

    /// What somebody else has done to the files since; nil where that is nothing.
    var harm: String? { difference(to: DatabaseStamp(path), ignoresContent: false) }

    /// This process has written to the files: they are as they are now. What somebody else has done meanwhile, as far
    /// as that can be told: whether they are still the same files. Where they are not, nothing is noted.
    mutating func noteWrite() -> String? {
        let now = DatabaseStamp(path)
        if let harm = difference(to: now, ignoresContent: true) { return harm }
        self = now
        return nil
    }

    private func difference(to now: DatabaseStamp, ignoresContent: Bool) -> String? {
        for (before, after, name) in [(database, now.database, ""), (log, now.log, "-wal"), (index, now.index, "-shm")]
        {
            guard let before else { continue }
            guard let after else { return "\(path)\(name) was removed" }
            guard before.isSameFile(as: after) else { return "\(path)\(name) is another file now" }
            // The index is in memory that SQLite shares with those who read, and is made again from the log.
            guard !ignoresContent, name != "-shm", before != after else { continue }
            return "\(path)\(name) was changed by another program"
        }
        return nil
    }
}
