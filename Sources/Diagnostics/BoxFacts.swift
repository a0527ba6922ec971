// SPDX-License-Identifier: Apache-2.0

import CClock
import Glibc
import NodeStore

/// What a box is like apart from its radios. Nothing in it is judged.
public struct BoxFacts: Hashable, Sendable {
    /// What `uname -v` tells of its kernel: Debian's own version stands there.
    public var kernel: String
    /// Its clock.
    public var clock: ClockFacts
    /// The folder that the node keeps itself in.
    public var folder: FolderCondition
    /// Room on the folder's disk.
    public var disk: DiskFacts
    /// The user that this process is, by number.
    public var user: UInt32

    /// Facts.
    public init(kernel: String = "", clock: ClockFacts, folder: FolderCondition, disk: DiskFacts, user: UInt32) {
        self.kernel = kernel
        self.clock = clock
        self.folder = folder
        self.disk = disk
        self.user = user
    }
}

/// A box's clock.
public struct ClockFacts: Hashable, Sendable {
    /// Seconds since 1970, as the box believes.
    public var seconds: Int
    /// Whether something keeps it with a time server; nil where the kernel does not tell.
    public var isKept: Bool?

    /// A clock.
    public init(seconds: Int, isKept: Bool?) {
        self.seconds = seconds
        self.isKept = isKept
    }
}

/// A disk's room, in bytes.
public struct DiskFacts: Hashable, Sendable {
    /// What this user may still write; nil where the system does not tell.
    public var free: Int?

    /// A disk.
    public init(free: Int?) { self.free = free }
}

extension BoxFacts {
    /// Looks at this box, and at a folder of it. Changes nothing.
    public static func collect(folder path: String) -> Self {
        BoxFacts(
            kernel: kernelVersion, clock: .now, folder: FolderCondition(lookingAt: path),
            disk: DiskFacts(of: FolderCondition.nearest(path)),
            user: geteuid())
    }
}

/// What the kernel says of itself.
private var kernelVersion: String {
    var names = utsname()
    guard uname(&names) == 0 else { return "" }
    return withUnsafeBytes(of: names.version) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
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
