// SPDX-License-Identifier: Apache-2.0

import FieldTest
import MeshProtocol

/// The bytes that a pipe has transferred.
struct PipeProgress: Hashable, Sendable {
    /// Bytes that this side has sent.
    var sent: UInt64 = 0
    /// Bytes of the other side that are written to their destination.
    var written: UInt64 = 0
    /// Open connections of `--socket`.
    var connections = 0

    static func += (sum: inout PipeProgress, more: PipeProgress) {
        sum.sent += more.sent
        sum.written += more.written
        sum.connections += more.connections
    }
}

/// The state of a transfer that a waiting person is shown.
enum PipeEvent: Hashable, Sendable {
    /// The other side is linked.
    case connected(Peer)
    /// The link is lost, and is expected back.
    case lost(Peer)
    /// The other side has said goodbye.
    case left(Peer)
}

/// Computes the rate of a transfer, and writes the line that shows it.
struct PipeMeter {
    private var last: (at: Duration, bytes: UInt64)?
    private var began: Duration?
    /// Bytes per second, between the last two calls.
    private(set) var rate: Double = 0

    /// The line for a person. `isLinked` is false during a gap.
    mutating func line(_ progress: PipeProgress, isLinked: Bool, at now: Duration) -> String {
        let bytes = progress.sent + progress.written
        began = began ?? now
        if let last, now > last.at { rate = Double(bytes &- last.bytes) / ((now - last.at) / .seconds(1)) }
        last = (now, bytes)
        var parts = ["\(Self.size(Double(progress.sent))) sent", "\(Self.size(Double(progress.written))) received"]
        if progress.connections > 0 { parts.append("\(progress.connections) open") }
        parts.append(isLinked ? "\(Self.size(rate))/s" : "out of range")
        parts.append(Self.clock(now - (began ?? now)))
        return parts.joined(separator: "  ")
    }

    /// A number of bytes with three digits.
    static func size(_ bytes: Double) -> String {
        guard bytes >= 1_000 else { return "\(Int(bytes)) B" }
        var (value, unit) = (bytes / 1_000, "kB")
        for larger in ["MB", "GB", "TB"] where value >= 999.5 { (value, unit) = (value / 1_000, larger) }
        let text = Format.number(value, digits: value < 9.995 ? 2 : value < 99.95 ? 1 : 0)
        return "\(text) \(unit)"
    }

    /// Minutes and seconds.
    static func clock(_ time: Duration) -> String {
        let seconds = Int(time / .seconds(1))
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
