// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Something to tell a person: what happened, what it means for them, and what to do.
public struct Notice: Hashable, Sendable, Codable {
    /// What a notice says later, where nothing has cleared it meanwhile.
    public struct FollowUp: Hashable, Sendable {
        /// How long after the first it is said.
        public var after: Duration
        /// What happened, as a sentence.
        public var message: String
        /// What to do, as a sentence.
        public var suggestion: String
        /// The label of the button that does it.
        public var button: String
        /// How both are made, for those who do not read English.
        var texts: Texts
    }

    /// How what a notice says is made, for those who do not read English.
    public struct Texts: Hashable, Sendable {
        /// What happened.
        public var message: LocalizedText
        /// What to do.
        public var suggestion: LocalizedText?
    }

    /// A name for programs. One that comes later takes the place of one with the same code.
    public var code: String
    /// Which `NetworkError` it is, where `code` stands for several.
    public var cause: String?
    /// What happened, as a sentence.
    public var message: String
    /// What to do, as a sentence.
    public var suggestion: String?
    /// The label of the button that does it.
    public var button: String?
    /// Whether it stays until it is cleared.
    public var critical: Bool
    /// Seconds after which it goes by itself; nil for never.
    public var dismissAfter: Double?
    /// What it says later. A program is not told of it before.
    public var followUp: FollowUp?
    /// What clears it (`NoticeBoard.Event.cleared`). Not told to programs.
    public var clearedBy: Set<Problem.Clearer> = []
    /// How it is made; nil where it is only known in English. Not told to programs.
    public var texts: Texts?
    /// Whether it answers a line that was typed, and is of no use on a screen elsewhere. Not told to programs.
    public var isTyped = false

    private enum CodingKeys: String, CodingKey {
        case code, cause, message, suggestion, button, critical, dismissAfter
    }

    /// Writes the form of `docs/using.md`: what is not there is a null, not a missing field.
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
    /// The code of every outage (`NetworkError.isOutage`): this node's radio is out once, whatever the cause, and
    /// working again clears it.
    public static let outageCode = "radioUnavailable"

    /// An error, told to a person.
    public init(_ error: NetworkError) { self.init(error.problem) }

    /// A command that leads to nothing, told to a person.
    public init(_ problem: CommandProblem) {
        self.init(problem.problem)
        isTyped = problem.isTyped
    }

    /// A problem of the head unit, told to a person.
    public init(_ problem: HeadUnitProblem) { self.init(problem.problem) }

    /// A row of the tables, told to a person.
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

    /// The notice as it reads after `followUp.after`; nil where it goes on as it is.
    public var followedUp: Notice? {
        guard let followUp else { return nil }
        var later = self
        (later.message, later.suggestion, later.button) = (followUp.message, followUp.suggestion, followUp.button)
        (later.texts, later.followUp) = (followUp.texts, nil)
        return later
    }
}
