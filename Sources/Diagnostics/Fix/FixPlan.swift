// SPDX-License-Identifier: Apache-2.0

/// The changes that repair the findings, in the order in which they are made, and remarks about what is not changed.
public struct FixPlan: Hashable, Sendable {
    /// The changes.
    public internal(set) var changes: [Change] = []
    /// Sentences about possible changes that are not made, with the reasons.
    public internal(set) var remarks: [String] = []

    /// The question to the user, asked once.
    public var question: String { "Make \(changes.count == 1 ? "this change" : "these \(changes.count) changes")?" }

    mutating func remark(_ sentence: String) {
        if !remarks.contains(sentence) { remarks.append(sentence) }
    }
}
