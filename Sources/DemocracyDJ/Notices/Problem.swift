// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A problem that is shown to people: one row of the table in `NetworkError.problem`. For a new problem, add a case and
/// its row there, and raise it.
public struct Problem: Sendable {
    /// How long a problem is shown.
    public enum Severity: Hashable, Sendable {
        /// For a short time.
        case passes
        /// Until it is cleared. It keeps people from the music or from voting.
        case stays
        /// The same as `stays`, for a failure of this node's own radio.
        case outage
    }

    /// A button, which does the same as `retry`.
    public struct Button: Hashable, Sendable {
        /// The label.
        public var label: String
        /// The time from the notice to its button.
        public var after: Duration

        static func now(_ label: String) -> Button { Button(label: label, after: .zero) }

        /// Most such problems are cleared by then, and a button is one more thing to look at while driving.
        static func later(_ label: String) -> Button { Button(label: label, after: DJLimits.retryOffered) }
    }

    /// The sources of problems.
    public enum Raiser: String, Hashable, Sendable, CaseIterable {
        /// A cover or a list of songs that is loaded from the web.
        case covers
        /// The radio, which reports the cause.
        case radio
        /// `NetworkMonitor`, if the radio does not report it.
        case monitor
        /// The end of the link to the host.
        case link
        /// `ReconnectPolicy`, which has given up on a host.
        case reconnecting
        /// A refusal by a host.
        case refusal
        /// A typed line or a tap that cannot be carried out.
        case person
        /// A write to the store.
        case store
        /// The start of the node, with what an earlier run has left.
        case opening
        /// A host that reports the fate of a song.
        case host
        /// The head unit around the node: playback, the library, the recording.
        case headUnit
    }

    /// The events that clear problems.
    public enum Clearer: String, Hashable, Sendable, CaseIterable {
        /// A delay of five seconds.
        case time
        /// The radio works (`NetworkMonitor.Action.networkAvailable`).
        case radioWorks
        /// A link to a host is up.
        case linked
        /// The person leaves the host.
        case left
        /// A host has refused. The refusal is shown instead.
        case refused
        /// The guest has given up on the host. That is shown instead.
        case gaveUp
        /// The person has tapped the button.
        case retried
        /// A write has succeeded.
        case written
        /// Something has been loaded from the web.
        case loaded
        /// The source reports that the problem is over (`NoticeBoard.Event.clear`).
        case recovered
    }

    /// A name for programs, the same in every version.
    public var code: String
    /// What happened, as sentences.
    public var text: LocalizedText
    /// What to do, as sentences; nil if nothing can be done.
    public var advice: LocalizedText?
    /// The button; nil if a tap cannot help.
    public var button: Button?
    /// The severity, which decides how long the problem is shown.
    public var severity: Severity
    /// The component that raises the problem.
    public var raisedBy: Raiser
    /// The events that clear it; one of them is enough.
    public var clearedBy: Set<Clearer>
    /// Distinguishes problems with equal texts.
    var about: [String]
    /// The texts from the time when the button appears, if it appears later.
    var later: (text: LocalizedText, advice: LocalizedText)?

    /// What happened, in English.
    public var sentence: String { text.english }

    /// What to do, in English.
    public var suggestion: String? { advice?.english }

    init(
        _ code: String, _ text: LocalizedText, _ advice: LocalizedText?, button: Button? = nil, severity: Severity,
        raisedBy: Raiser, clearedBy: Set<Clearer>, about: [String] = [], later: (LocalizedText, LocalizedText)? = nil
    ) {
        self.code = code
        self.text = text
        self.advice = advice
        self.button = button
        self.severity = severity
        self.raisedBy = raisedBy
        self.clearedBy = clearedBy
        self.about = about
        self.later = later
    }

    /// Creates a problem that is shown for a short time.
    static func passes(
        _ code: String, _ text: LocalizedText, _ advice: LocalizedText?, raisedBy raiser: Raiser
    ) -> Problem {
        Problem(code, text, advice, severity: .passes, raisedBy: raiser, clearedBy: [.time])
    }

    /// Creates a problem that is shown until its source reports its end, or until another event clears it.
    static func stays(
        _ code: String, _ text: LocalizedText, _ advice: LocalizedText, button: Button? = nil,
        raisedBy raiser: Raiser = .headUnit, clearedBy: Set<Clearer> = [.recovered]
    ) -> Problem {
        Problem(
            code, text, advice, button: button, severity: .stays, raisedBy: raiser, clearedBy: clearedBy)
    }
}

extension NetworkError {
    /// A name for programs, the same in every version.
    public var code: String { problem.code }

    /// Whether this node's own radio has failed.
    public var isOutage: Bool { problem.severity == .outage }

    /// Whether the error is shown until it is cleared. Other errors are shown for a short time.
    public var isCritical: Bool { problem.severity != .passes }

    /// The time until its button appears (`ErrorRecoveryHelper.buttonLabel(for:)`); nil if a tap cannot help.
    public var buttonComesAfter: Duration? { problem.button?.after }

    /// What happened, as sentences for a person.
    var sentence: String { problem.sentence }
}

extension NetworkError: Hashable {
    /// Two errors are equal if their texts are: a cause counts by its words.
    public static func == (one: NetworkError, other: NetworkError) -> Bool {
        let (one, other) = (one.problem, other.problem)
        return one.code == other.code && one.sentence == other.sentence && one.about == other.about
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        let problem = problem
        hasher.combine(problem.code)
        hasher.combine(problem.sentence)
        hasher.combine(problem.about)
    }
}
