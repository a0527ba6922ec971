// SPDX-License-Identifier: Apache-2.0

import MeshSimulator

/// Formats the measurements of fields, one line each.
struct FieldTable {
    let isHour: Bool
    private(set) var failures = 0

    init(isHour: Bool) { self.isHour = isHour }

    private var columns: [String] {
        let first = ["nodes", "joined", "join s", "half s", "hops", "most"]
        let rest =
            isHour
            ? ["votes", "counted", "linked %", "losses", "idle B/s"]
            : [
                "votes", "counted", "confirm ms", "all ms", "B/vote/link", "idle B/s", "gone", "lost", "repair s",
                "half s",
            ]
        return first + rest + ["simulated s", "SDUs", "wall s"]
    }

    var head: String { line(columns) }

    mutating func row(_ metrics: FieldMetrics, wall: Duration) -> String {
        let reached = metrics.guests - metrics.cutOff
        let isWell = metrics.joinTime != nil && metrics.counted == metrics.votes && metrics.violationCount == 0
        if !isWell || !isHour && metrics.repairTime == nil { failures += 1 }
        let first = [
            "\(metrics.nodes)", "\(metrics.joined)/\(reached)", text(metrics.joinTime), text(metrics.joinMedian),
            metrics.hopsMedian.map { "\($0)" } ?? "-", metrics.hopsMost.map { "\($0)" } ?? "-",
        ]
        let confirmed = metrics.distances.compactMap(\.confirmed).last
        let rest =
            isHour
            ? [
                "\(metrics.votes)", "\(metrics.counted)", metrics.connected.map { text($0) } ?? "-",
                metrics.losses.map { text($0) } ?? "-", text(metrics.idleBytes),
            ]
            : [
                "\(metrics.votes)", "\(metrics.counted)", milliseconds(confirmed), milliseconds(metrics.seenByAll),
                text(metrics.bytesPerVote), text(metrics.idleBytes), "\(metrics.gone)", "\(metrics.orphans)",
                text(metrics.repairTime), text(metrics.repairMedian),
            ]
        let last = [text(metrics.simulated), "\(metrics.sdus)", text(wall)]
        let broken = metrics.violations.map { "\n  \($0)" }.joined()
        return line(first + rest + last) + broken
    }

    func distances(_ metrics: FieldMetrics) -> String {
        metrics.distances.map { distance in
            "  \(distance.hops) hops: \(distance.nodes) guests, counted after \(milliseconds(distance.counted)) ms, "
                + "confirmed after \(milliseconds(distance.confirmed)) ms"
        }.joined(separator: "\n")
    }

    private func line(_ cells: [String]) -> String {
        zip(columns, cells).map { column, cell in
            String(repeating: " ", count: max(0, max(column.count, 7) - cell.count)) + cell
        }.joined(separator: " ")
    }

    private func text(_ time: Duration?) -> String { time.map { text($0 / .seconds(1)) } ?? "-" }

    private func milliseconds(_ time: Duration?) -> String {
        time.map { "\(Int(($0 / .milliseconds(1)).rounded()))" } ?? "-"
    }

    private func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
