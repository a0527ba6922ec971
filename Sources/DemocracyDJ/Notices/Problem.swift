// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A problem that people are told of: one row of the table in `NetworkError.problem`. A new one is a case and its row
/// there, and a line where it is raised.
public struct Problem: Sendable {
    /// How it is told.
    public enum Severity: Hashable, Sendable {
        /// In passing: it goes by itself.
        case passes
        /// Until it is cleared: without that there is no music to vote on, or no vote.
        case stays
        /// As `stays`, and this node's own radio is what does not work.
        case outage
    }

    /// A button, which does what `retry` does.
    public struct Button: Hashable, Sendable {
        /// What stands on it.
        public var label: String
        /// How long the problem is told before it has the button.
        public var after: Duration

        static func now(_ label: String) -> Button { Button(label: label, after: .zero) }

        /// It is most often cleared by then, and a button is one more thing to look at while driving.
        static func later(_ label: String) -> Button { Button(label: label, after: DJLimits.retryOffered) }
    }

    /// What raises problems.
    public enum Raiser: String, Hashable, Sendable, CaseIterable {
        /// A cover, or a list of songs, that is loaded from the web.
        case covers
        /// The radio, which says what it is.
        case radio
        /// `NetworkMonitor`, where the radio does not say.
        case monitor
        /// The end of the link to the host.
        case link
        /// `ReconnectPolicy`, which has given a host up.
        case reconnecting
        /// A host that says no.
        case refusal
        /// What a person has typed or tapped, and cannot be followed.
        case person
        /// A write to the store.
        case store
        /// The start of the node: what an earlier run has left.
        case opening
        /// A host, which tells what became of a song.
        case host
        /// The head unit around the node: what plays, the library, the recording.
        case headUnit
    }

    /// What clears problems.
    public enum Clearer: String, Hashable, Sendable, CaseIterable {
        /// Five seconds.
        case time
        /// The radio works (`NetworkMonitor.Action.networkAvailable`).
        case radioWorks
        /// There is a link to a host.
        case linked
        /// The person leaves the host.
        case left
        /// A host has said no: that is told in its place.
        case refused
        /// The host is not waited for any longer: that is told in its place.
        case gaveUp
        /// The person wants to have it tried again: the button.
        case retried
        /// A write has succeeded.
        case written
        /// Something has been loaded from the web.
        case loaded
        /// What has raised it says that it is over (`NoticeBoard.Event.clear`).
        case recovered
    }

    /// A name for programs, the same in every version.
    public var code: String
    /// What happened, as sentences.
    public var text: LocalizedText
    /// What to do, as sentences; nil where there is nothing to do.
    public var advice: LocalizedText?
    /// The button; nil where a tap cannot help.
    public var button: Button?
    /// How it is told.
    public var severity: Severity
    /// What raises it.
    public var raisedBy: Raiser
    /// What clears it; any of them.
    public var clearedBy: Set<Clearer>
    /// What tells two of them apart that read the same.
    var about: [String]
    /// What is told when the button comes, where that is later.
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

    /// One that is told in passing.
    static func passes(
        _ code: String, _ text: LocalizedText, _ advice: LocalizedText?, raisedBy raiser: Raiser
    ) -> Problem {
        Problem(code, text, advice, severity: .passes, raisedBy: raiser, clearedBy: [.time])
    }

    /// One that is told until what raised it says that it is over, or until it is cleared otherwise.
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

    /// Whether this node's own radio is what does not work.
    public var isOutage: Bool { problem.severity == .outage }

    /// Whether it is told until it is cleared. The others are told in passing.
    public var isCritical: Bool { problem.severity != .passes }

    /// How long it is told before it has a button, `ErrorRecoveryHelper.buttonLabel(for:)`; nil where a tap cannot help.
    public var buttonComesAfter: Duration? { problem.button?.after }

    /// What happened, as sentences for a person.
    var sentence: String { problem.sentence }
}

extension NetworkError: Hashable {
    /// Two errors are one where they say the same: a cause counts by its words.
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
