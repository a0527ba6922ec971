// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The state of a database's files after this process's last write. Only this process may write them (`StateFolder`),
/// so any difference means that written data may be lost. SQLite does not check this: it keeps writing to a removed
/// file, and reads from its cache.
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

    /// Reads the current state of a database's files.
    init(_ path: String) {
        self.path = path
        database = File(path)
        log = File(path + "-wal")
        index = File(path + "-shm")
    }

    /// A description of another program's change since the last recorded state; nil without a change.
    var harm: String? { difference(to: DatabaseStamp(path), ignoresContent: false) }

    /// Records a write of this process: the current state of the files becomes the expected state. If the files were
    /// replaced, it records nothing and returns the change. It cannot detect other changes.
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
            // The `-shm` file is memory that SQLite shares with readers, and SQLite rebuilds it from the log.
            guard !ignoresContent, name != "-shm", before != after else { continue }
            return "\(path)\(name) was changed by another program"
        }
        return nil
    }
}
