// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes times of day as people read them: in the time zone of this device.
public struct LocalClock: Sendable {
    /// The time zone at a time: seconds ahead of UTC, and its name.
    private let zone: @Sendable (Double) -> (offset: Int, name: String)

    /// The time zone of this device.
    public static let device = LocalClock { seconds in
        var (time, parts) = (time_t(min(max(seconds, 0), 4e9)), tm())
        localtime_r(&time, &parts)
        return (Int(parts.tm_gmtoff), parts.tm_zone.map { String(cString: $0) } ?? "")
    }

    init(_ zone: @escaping @Sendable (Double) -> (offset: Int, name: String)) { self.zone = zone }

    /// A Unix time to the minute: `2026-11-22 10:54`.
    public func minute(_ seconds: Double) -> String {
        Format.minute(seconds.isFinite ? seconds + Double(zone(seconds).offset) : seconds)
    }

    /// The same with the name of the time zone: `2026-11-22 10:54 CET`.
    public func minuteAndZone(_ seconds: Double) -> String {
        seconds.isFinite ? "\(minute(seconds)) \(zoneName(seconds))" : minute(seconds)
    }

    /// The name of the time zone at a time.
    func zoneName(_ seconds: Double) -> String { zone(seconds).name }

    /// The hour of the day at a time, 0 to 23.
    func hour(_ seconds: Double) -> Int {
        let hours = ((seconds + Double(zone(seconds).offset)) / 3_600).rounded(.down)
        return Int(hours - (hours / 24).rounded(.down) * 24)
    }
}
