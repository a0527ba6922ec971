// SPDX-License-Identifier: Apache-2.0

import Bearers
import CLinux
import FoundationEssentials
import Glibc
import NodeStore

/// The state of a device, except its radios. These are facts without a judgement.
public struct DeviceFacts: Hashable, Sendable {
    /// The kernel's version as `uname -v` prints it. It contains Debian's own version number.
    public var kernel = ""
    /// The device's clock.
    public var clock: ClockFacts
    /// The node's state folder.
    public var folder: FolderCondition
    /// Free space for this user on the folder's disk, in bytes; nil if the system does not report it.
    public var freeBytes: Int?
    /// The user ID of this process.
    public var user: UInt32
    /// The state of avahi-daemon, which announces hosts on a network.
    public var avahi = AvahiFacts.runs
    /// Whether the power supply was too weak in the last two seconds; nil if the device does not measure it.
    public var isSupplyWeak: Bool?
}

/// The state of avahi-daemon, which finds hosts on a network.
public enum AvahiFacts: Hashable, Sendable {
    /// The daemon runs.
    case runs
    /// The daemon is installed, but does not run.
    case stands
    /// The daemon is not installed.
    case isMissing
}

/// A device's clock.
public struct ClockFacts: Hashable, Sendable {
    /// Seconds since 1970, by the device's clock.
    public var seconds: Int
    /// Whether a time server synchronises the clock; nil if the kernel does not report that.
    public var isKept: Bool?
}

extension DeviceFacts {
    /// Reads this device's state, and tests the state folder and its disk.
    public static func collect(folder path: String) -> Self {
        DeviceFacts(
            kernel: kernelVersion, clock: .now, folder: FolderCondition(lookingAt: path),
            freeBytes: room(FolderCondition.nearest(path)),
            user: geteuid(), avahi: .now, isSupplyWeak: isSupplyWeak())
    }

    /// Reads the voltage alarm of a Raspberry Pi, the kernel's sensor `rpi_volt`. Nil without such a sensor.
    ///
    /// Every two seconds the kernel asks the firmware whether the voltage has been too low since its last question
    /// (`drivers/hwmon/raspberrypi-hwmon.c`).
    static func isSupplyWeak(in folder: String = "/sys/class/hwmon") -> Bool? {
        let sensors = SystemFile.names(in: folder).map { "\(folder)/\($0)" }
        guard let sensor = sensors.first(where: { SystemFile.line($0 + "/name") == "rpi_volt" }) else { return nil }
        return switch SystemFile.line(sensor + "/in0_lcrit_alarm") {
        case "0": false
        case "1": true
        default: nil
        }
    }
}

extension AvahiFacts {
    /// The state on this device. The daemon writes its process ID to a file that everyone can read.
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

/// The kernel's own version.
private var kernelVersion: String {
    var names = utsname()
    guard uname(&names) == 0 else { return "" }
    return withUnsafeBytes(of: names.version) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

extension ClockFacts {
    /// The clock's current state.
    static var now: Self {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let isKept = clinux_clock_is_kept()
        return Self(seconds: now.tv_sec, isKept: isKept < 0 ? nil : isKept == 1)
    }
}
