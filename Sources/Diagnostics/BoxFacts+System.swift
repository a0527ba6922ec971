// SPDX-License-Identifier: Apache-2.0

import CClock
import Glibc
import NodeStore

extension BoxFacts {
    /// Looks at this box, and at a folder of it. Changes nothing.
    public static func collect(folder path: String) -> Self {
        BoxFacts(
            clock: .now, folder: FolderCondition(lookingAt: path), disk: DiskFacts(of: FolderCondition.nearest(path)),
            user: geteuid())
    }
}

extension ClockFacts {
    /// The clock now.
    static var now: Self {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let isKept = cclock_is_kept()
        return Self(seconds: now.tv_sec, isKept: isKept < 0 ? nil : isKept == 1)
    }
}

extension DiskFacts {
    /// The disk of a folder.
    init(of folder: String) {
        var disk = statvfs()
        self.init(free: statvfs(folder, &disk) == 0 ? Int(disk.f_bavail) * Int(disk.f_frsize) : nil)
    }
}
