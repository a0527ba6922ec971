// SPDX-License-Identifier: Apache-2.0

import CClock
import FoundationEssentials
import Glibc
import NodeStore

/// What a device is like apart from its radios. Nothing in it is judged.
public struct DeviceFacts: Hashable, Sendable {
    /// What `uname -v` tells of its kernel: Debian's own version stands there.
    public var kernel = ""
    /// Its clock.
    public var clock: ClockFacts
    /// The folder that the node keeps itself in.
    public var folder: FolderCondition
    /// Room on the folder's disk in bytes, as far as this user may fill it; nil where the system does not tell.
    public var freeBytes: Int?
    /// The user that this process is, by number.
    public var user: UInt32
    /// What tells a network of hosts.
    public var avahi = AvahiFacts.runs
}

/// Whether avahi-daemon runs, which finds hosts in a network.
public enum AvahiFacts: Hashable, Sendable {
    /// It does.
    case runs
    /// It is installed, and does not.
    case stands
    /// It is not installed.
    case isMissing
}

/// A device's clock.
public struct ClockFacts: Hashable, Sendable {
    /// Seconds since 1970, as the device believes.
    public var seconds: Int
    /// Whether something keeps it with a time server; nil where the kernel does not tell.
    public var isKept: Bool?
}

extension DeviceFacts {
    /// Looks at this device, and at a folder of it, whose disk it tries.
    public static func collect(folder path: String) -> Self {
        DeviceFacts(
            kernel: kernelVersion, clock: .now, folder: FolderCondition(lookingAt: path),
            freeBytes: room(FolderCondition.nearest(path)),
            user: geteuid(), avahi: .now)
    }
}

extension AvahiFacts {
    /// What it is like on this device. The daemon writes its number where anybody can read it.
    static var now: Self {
        let text = FileManager.default.contents(atPath: "/run/avahi-daemon/pid").map {
            String(decoding: $0, as: UTF8.self)
        }
        let number = text.flatMap { pid_t($0.split(whereSeparator: \.isWhitespace).first ?? "") }
        if let number, number > 0, kill(number, 0) == 0 || errno == EPERM { return .runs }
        return access("/usr/sbin/avahi-daemon", F_OK) == 0 ? .stands : .isMissing
    }
}

private func room(_ folder: String) -> Int? {
    var disk = statvfs()
    return statvfs(folder, &disk) == 0 ? Int(disk.f_bavail) * Int(disk.f_frsize) : nil
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
