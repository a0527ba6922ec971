// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Something to tell a person: what happened, what it means for them, and what to do.
public struct Notice: Hashable, Sendable, Codable {
    /// What a notice says later, where nothing was cured meanwhile.
    public struct FollowUp: Hashable, Sendable {
        /// How long after the first it is said.
        public var after: Duration
        /// What happened, as a sentence.
        public var message: String
        /// What to do, as a sentence.
        public var suggestion: String
        /// The label of the button that does it.
        public var button: String
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
    /// Whether it stays until it is cured.
    public var critical: Bool
    /// Seconds after which it goes by itself; nil for never.
    public var dismissAfter: Double?
    /// What it says later. A program is not told of it before.
    public var followUp: FollowUp?
    /// What clears it (`NoticeBoard.Event.cleared`). Not told to programs.
    public var clearedBy: Set<Problem.Clearer> = []

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

    /// A notice that goes by itself after five seconds.
    public static func passing(_ code: String, _ message: String, _ suggestion: String? = nil) -> Notice {
        Notice(
            code: code, message: message, suggestion: suggestion, button: nil, critical: false,
            dismissAfter: DJLimits.passingNotice / .seconds(1), clearedBy: [.time])
    }

    /// A notice that stays until it is cured.
    public static func staying(
        _ code: String, _ message: String, _ suggestion: String? = nil, button: String? = nil
    ) -> Notice {
        Notice(
            code: code, message: message, suggestion: suggestion, button: button, critical: true, dismissAfter: nil)
    }
}

extension Notice {
    /// The code of every outage (`NetworkError.isOutage`): this node's radio is out once, whatever the cause, and
    /// working again is one cure.
    public static let outageCode = "radioUnavailable"

    /// An error, told to a person.
    public init(_ error: NetworkError) { self.init(error.problem) }

    /// A problem, told to a person.
    public init(_ problem: Problem) {
        let (stays, isOutage) = (problem.severity != .passes, problem.severity == .outage)
        self.init(
            code: isOutage ? Self.outageCode : problem.code, cause: isOutage ? problem.code : nil,
            message: problem.sentence, suggestion: problem.suggestion,
            button: problem.button?.after == .zero ? problem.button?.label : nil, critical: stays,
            dismissAfter: stays ? nil : DJLimits.passingNotice / .seconds(1), followUp: nil,
            clearedBy: problem.clearedBy)
        if let later = problem.later, let button = problem.button {
            followUp = FollowUp(
                after: button.after, message: later.sentence, suggestion: later.suggestion, button: button.label)
        }
    }

    /// The notice as it reads after `followUp.after`; nil where it goes on as it is.
    public var followedUp: Notice? {
        guard let followUp else { return nil }
        var later = self
        (later.message, later.suggestion, later.button) = (followUp.message, followUp.suggestion, followUp.button)
        later.followUp = nil
        return later
    }
}

extension Notice {
    /// The code of a drive that is not recorded any more.
    public static let notRecordedCode = "driveNotRecorded"

    /// The disk takes nothing of the drive that is recorded; `cause` is what the system says.
    public static func notRecorded(_ cause: String) -> Notice {
        staying(
            notRecordedCode, "The drive is not recorded: \(cause).",
            "Make room, and make its folder writable. Everything else goes on.")
    }

    /// The radio has taken another adapter by itself.
    public static func otherAdapter(_ new: String, insteadOf old: String) -> Notice {
        passing(
            "radioMended", "\(old) is gone or does not answer; \(new) is used now.",
            "To choose one yourself: --adapter names it.")
    }

    /// The radio had stopped to advertise, and does so again.
    public static let advertisingAgain = passing(
        "radioMended", "New guests could not find this host for a moment; now they can again.",
        "Who is here already has noticed nothing. If it comes often, use another adapter.")

    /// A wish that cannot wait for a link.
    public static let notConnected = Notice(.notConnected)

    /// Too many votes wait.
    public static let tooManyPendingVotes = Notice(.tooManyPendingVotes)
}
