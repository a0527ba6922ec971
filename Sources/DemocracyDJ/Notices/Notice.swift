// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A notice to a person: what happened, what it means for them, and what to do.
public struct Notice: Hashable, Sendable, Codable {
    /// The later text of a notice, if nothing has cleared it by then.
    public struct FollowUp: Hashable, Sendable {
        /// The time from the first text to this one.
        public var after: Duration
        /// What happened, as a sentence.
        public var message: String
        /// What to do, as a sentence.
        public var suggestion: String
        /// The label of the button.
        public var button: String
        /// The texts in a form that can be translated.
        var texts: Texts
    }

    /// The texts of a notice in a form that can be translated.
    public struct Texts: Hashable, Sendable {
        /// What happened.
        public var message: LocalizedText
        /// What to do.
        public var suggestion: LocalizedText?
    }

    /// A name for programs. A later notice replaces one with the same code.
    public var code: String
    /// The code of the `NetworkError`, if `code` covers several.
    public var cause: String?
    /// What happened, as a sentence.
    public var message: String
    /// What to do, as a sentence.
    public var suggestion: String?
    /// The label of the button.
    public var button: String?
    /// Whether the notice stays until it is cleared.
    public var critical: Bool
    /// Seconds after which it disappears; nil if it stays.
    public var dismissAfter: Double?
    /// The later text. Programs do not see it in advance.
    public var followUp: FollowUp?
    /// What clears it (`NoticeBoard.Event.cleared`). Programs do not see it.
    public var clearedBy: Set<Problem.Clearer> = []
    /// The texts in a form that can be translated; nil if only the English is known. Programs do not see them.
    public var texts: Texts?
    /// Whether the notice answers a typed line. Other screens do not need such a notice, and programs do not get it.
    public var isTyped = false
    /// Whether the notice answers a command of a person or a program. Programs do not get this value.
    public var isOfPerson = false
    /// Whether the notice says that the command had no effect. Programs do not get this value.
    public var isRefusal = false

    private enum CodingKeys: String, CodingKey {
        case code, cause, message, suggestion, button, critical, dismissAfter
    }

    /// Writes the form of `docs/reference.md`: an absent value is null and not a missing field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(cause, forKey: .cause)
        try container.encode(message, forKey: .message)
        try container.encode(suggestion, forKey: .suggestion)
        try container.encode(button, forKey: .button)
        try container.encode(critical, forKey: .critical)
        try container.encode(dismissAfter, forKey: .dismissAfter)
    }
}

extension Notice {
    /// The code of every outage (`NetworkError.isOutage`). There is one notice for all causes of an outage, and the
    /// recovery of the radio clears it.
    public static let outageCode = "radioUnavailable"

    /// The notice of an error.
    public init(_ error: NetworkError) { self.init(error.problem) }

    /// The notice of a command that has no effect.
    public init(_ problem: CommandProblem) {
        self.init(problem.problem)
        isTyped = problem.isTyped
        (isOfPerson, isRefusal) = (true, problem.isRefusal)
    }

    /// The notice of a head unit's problem.
    public init(_ problem: HeadUnitProblem) { self.init(problem.problem) }

    /// The notice of a row of the tables.
    public init(_ problem: Problem) {
        let (stays, isOutage) = (problem.severity != .passes, problem.severity == .outage)
        self.init(
            code: isOutage ? Self.outageCode : problem.code, cause: isOutage ? problem.code : nil,
            message: problem.sentence, suggestion: problem.suggestion,
            button: problem.button?.after == .zero ? problem.button?.label : nil, critical: stays,
            dismissAfter: stays ? nil : DJLimits.passingNotice / .seconds(1), followUp: nil,
            clearedBy: problem.clearedBy, texts: Texts(message: problem.text, suggestion: problem.advice))
        if let later = problem.later, let button = problem.button {
            followUp = FollowUp(
                after: button.after, message: later.text.english, suggestion: later.advice.english,
                button: button.label, texts: Texts(message: later.text, suggestion: later.advice))
        }
    }

    /// The notice after `followUp.after`; nil if it does not change.
    public var followedUp: Notice? {
        guard let followUp else { return nil }
        var later = self
        (later.message, later.suggestion, later.button) = (followUp.message, followUp.suggestion, followUp.button)
        (later.texts, later.followUp) = (followUp.texts, nil)
        return later
    }
}
