// SPDX-License-Identifier: Apache-2.0

/// A change with its time, as the command line's contract writes it.
public struct TimedChange: Encodable, Sendable {
    /// What has become of it.
    public enum State: String, Sendable, CaseIterable {
        /// It would be made.
        case planned
        /// It is made.
        case made
        /// It could not be made, or taken back.
        case failed
        /// It is taken back.
        case takenBack
        /// Somebody has changed it since.
        case leftAlone
    }

    private let title: String
    private let details: [String]
    private let reasons: [Finding.Code]
    private let state: State
    private let cause: String?
    private let at: Double

    /// A change at a time, in seconds since 1970. `cause` says why it could not be made.
    public init(_ change: Change, _ state: State, cause: String? = nil, at: Double) {
        (title, details, reasons) = (change.title, change.details, change.reasons)
        (self.state, self.cause, self.at) = (state, cause, at)
    }

    /// One that was made before.
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

/// Something that a plan leaves alone, with its time.
public struct TimedRemark: Encodable, Sendable {
    private let message: String
    private let at: Double

    /// A remark at a time, in seconds since 1970.
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
