// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Numbers as people read them.
public enum Format {
    /// A Unix time, to the minute and in UTC: `2026-11-22 09:54`. Very distant times are capped.
    public static func minute(_ seconds: Double) -> String {
        guard seconds.isFinite else { return "?" }
        let moment = Date(timeIntervalSince1970: min(max(seconds, 0), 4e9))
        return String(moment.ISO8601Format().prefix(16)).replacing("T", with: " ")
    }

    /// A duration: `420 ms`, `1.4 s`, `41 s`, `3 min 20 s`, `2 h 5 min`.
    public static func time(_ seconds: Double) -> String {
        guard seconds.isFinite else { return "?" }
        let whole = Int(min(max(seconds, 0), 1e9).rounded())
        switch seconds {
        case ..<0.9995: return "\(Int((max(seconds, 0) * 1_000).rounded())) ms"
        case ..<9.95: return "\(number(seconds, digits: 1)) s"
        case ..<59.5: return "\(whole) s"
        case ..<3_599.5: return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
        default:
            let minutes = (whole + 30) / 60
            return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
        }
    }

    /// A time in a drive, as on a clock: `1:05`, `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e9).rounded(.down))
        let (hours, minutes) = (whole / 3_600, whole / 60 % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(whole % 60))" : "\(minutes):\(two(whole % 60))"
    }

    /// A number with this many digits after the point.
    package static func number(_ value: Double, digits: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "?" }
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let whole = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let fraction = String(whole % scale)
        return "\(sign)\(whole / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// A share: `4.2 %`, `0.03 %`, `none`.
    static func share(_ part: Double, of whole: Double) -> String {
        guard whole > 0, part > 0 else { return "0 %" }
        let percent = part / whole * 100
        return "\(number(percent, digits: percent < 0.1 ? 2 : percent < 10 ? 1 : 0)) %"
    }

    /// A number with a noun: `1 gap`, `3 gaps`.
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    /// A number of relays: `without a relay`, `over 1 hop`, `over 3 hops`.
    static func way(_ hops: Int) -> String { hops == 0 ? "without a relay" : "over \(count(hops, "hop"))" }

    /// A list: `a`, `a and b`, `a, b and c`.
    static func list(_ things: [String]) -> String {
        guard let last = things.last, things.count > 1 else { return things.first ?? "" }
        return things.dropLast().joined(separator: ", ") + " and " + last
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
