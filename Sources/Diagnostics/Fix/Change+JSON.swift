// SPDX-License-Identifier: Apache-2.0

/// A change with its time, in the form of the JSON output.
public struct TimedChange: Encodable, Sendable {
    /// The state of a change.
    public enum State: String, Sendable, CaseIterable {
        /// The change was not made yet.
        case planned
        /// The change was made.
        case made
        /// The change could not be made or undone.
        case failed
        /// The change was undone.
        case takenBack
        /// A person or program has altered the place since the change, so it was not undone.
        case leftAlone
    }

    private let title: String
    private let details: [String]
    private let reasons: [Finding.Code]
    private let state: State
    private let cause: String?
    private let at: Double

    /// Makes a change with its time, in seconds since 1970. `cause` is the reason of a failure.
    public init(_ change: Change, _ state: State, cause: String? = nil, at: Double) {
        (title, details, reasons) = (change.title, change.details, change.reasons)
        (self.state, self.cause, self.at) = (state, cause, at)
    }

    /// Makes an earlier change with its time.
    public init(_ made: MadeChange, _ state: State, cause: String? = nil, at: Double) {
        (title, details, reasons) = (
            made.title, made.content.map { [$0.path] } ?? [(made.undo ?? []).joined(separator: " ")], []
        )
        (self.state, self.cause, self.at) = (state, cause, at)
    }

    private enum Key: String, CodingKey { case event, at, state, title, details, findings, cause }

    /// Writes the object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("change", forKey: .event)
        try container.encode(at, forKey: .at)
        try container.encode(state.rawValue, forKey: .state)
        try container.encode(title, forKey: .title)
        try container.encode(details, forKey: .details)
        try container.encode(reasons.map(\.rawValue), forKey: .findings)
        try container.encode(cause, forKey: .cause)
    }
}

/// A remark about something that a plan does not change, with its time.
public struct TimedRemark: Encodable, Sendable {
    private let message: String
    private let at: Double

    /// Makes a remark with its time, in seconds since 1970.
    public init(_ message: String, at: Double) {
        self.message = message
        self.at = at
    }

    private enum Key: String, CodingKey { case event, at, message }

    /// Writes the object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("leftAlone", forKey: .event)
        try container.encode(at, forKey: .at)
        try container.encode(message, forKey: .message)
    }
}
