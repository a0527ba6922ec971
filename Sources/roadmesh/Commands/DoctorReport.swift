// SPDX-License-Identifier: Apache-2.0

import Diagnostics
import FoundationEssentials
import MeshProtocol
import NodeCore
import TerminalUI

/// Shows findings and changes as they arrive.
struct DoctorReport {
    let isJSON: Bool

    /// Columns of a paragraph without the margin.
    private static let columns = 88

    func show(_ finding: Finding) {
        guard !isJSON else { return StandardOutput.write(JSONLine.text(TimedFinding(finding, at: now))) }
        for line in finding.lines(wrap: { ShownText.wrap($0, to: Self.columns) }) { say(line) }
    }

    func show(_ diagnosis: Diagnosis) {
        guard !isJSON else { return StandardOutput.write(JSONLine.text(TimedSummary(diagnosis, at: now))) }
        say("\n\(diagnosis.sentence)")
    }

    /// Shows the possible changes before the question.
    func show(_ plan: FixPlan) {
        if !plan.changes.isEmpty { say("\nWhat can be changed:\n") }
        for (index, change) in plan.changes.enumerated() {
            if isJSON {
                StandardOutput.write(JSONLine.text(TimedChange(change, .planned, at: now)))
            } else {
                for line in change.lines(number: index + 1) { say(line) }
            }
        }
        guard !plan.remarks.isEmpty else { return }
        say("\nWhat stays as it is:\n")
        for remark in plan.remarks {
            if isJSON {
                StandardOutput.write(JSONLine.text(TimedRemark(remark, at: now)))
            } else {
                for line in ShownText.wrap("  - " + remark, to: Self.columns) { StandardOutput.write(line) }
            }
        }
    }

    /// Shows the earlier changes that can be undone.
    func show(_ made: [MadeChange]) {
        say("What was changed, the last change first:\n")
        for (index, change) in made.enumerated() {
            if isJSON { show(change, .planned) }
            for line in change.lines(number: index + 1) { say(line) }
        }
        guard made.contains(where: { $0.effect != .atOnce }) else { return }
        say("\nThen bluetoothd is restarted; its connections are lost for a few seconds.")
    }

    func show(_ change: Change, _ state: TimedChange.State, cause: String? = nil) {
        guard !isJSON else {
            return StandardOutput.write(JSONLine.text(TimedChange(change, state, cause: cause, at: now)))
        }
        say(Self.sentence(change.title, state, cause))
    }

    func show(_ made: MadeChange, _ state: TimedChange.State, cause: String? = nil) {
        guard !isJSON else {
            return StandardOutput.write(JSONLine.text(TimedChange(made, state, cause: cause, at: now)))
        }
        say(Self.sentence(made.title, state, cause))
    }

    private static func sentence(_ title: String, _ state: TimedChange.State, _ cause: String?) -> String {
        let cause = cause.map { ": \($0)" } ?? ""
        return switch state {
        case .planned: title
        case .made: "done          \(title)."
        case .takenBack: "taken back    \(title)."
        case .leftAlone: "left alone    \(title)\(cause)."
        case .failed: "FAILED        \(title)\(cause)."
        }
    }

    /// Writes lines for people only. Paths and causes in them come from other programs, so control characters are
    /// removed.
    func say(_ lines: String) {
        guard !isJSON else { return }
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
            StandardOutput.write(UntrustedText.shown(String(line)))
        }
    }

    /// The time in seconds since 1970.
    var now: Double { Date().timeIntervalSince1970 }
}
