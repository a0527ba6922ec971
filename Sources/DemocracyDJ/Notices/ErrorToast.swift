// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A notice on a screen: what it says now, and when it changes or goes by itself.
public struct ErrorToast: Hashable, Sendable {
    /// What time does to a toast.
    public enum Change: Hashable, Sendable {
        /// It says something else now.
        case changed
        /// It goes.
        case over
    }

    /// What it says now.
    public private(set) var notice: Notice
    /// When it was first shown.
    public let shownAt: MeshInstant
    private var retryAction = RetryAction()

    /// What a tap on the button does. Two toasts that say the same are equal, whatever it is.
    private struct RetryAction: Hashable, Sendable {
        var run: (@Sendable () -> Void)?

        static func == (one: RetryAction, other: RetryAction) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }

    /// An error that is shown from `now` on.
    public init(_ error: NetworkError, now: MeshInstant) {
        self.init(showing: Notice(error), now: now)
    }

    /// A notice that is shown from `now` on.
    public init(showing notice: Notice, now: MeshInstant) {
        self.notice = notice
        shownAt = now
    }

    /// A notice by its words, shown from `now` on: with a button that does `retryAction`, and until it is cleared if it is
    /// critical.
    public init(
        message: String, suggestion: String? = nil, retryAction: (@Sendable () -> Void)? = nil,
        buttonText: String = "Retry", isCritical: Bool = true,
        now: MeshInstant = .zero
    ) {
        self.init(
            showing: Notice(
                code: "custom", cause: nil, message: message, suggestion: suggestion, button: buttonText,
                critical: isCritical, dismissAfter: isCritical ? nil : DJLimits.passingNotice / .seconds(1)),
            now: now)
        self.retryAction = RetryAction(run: retryAction)
    }

    /// Does what the button is for; false if it has no action.
    @discardableResult
    public func retry() -> Bool {
        retryAction.run?()
        return retryAction.run != nil
    }

    /// What happened.
    public var message: String { notice.message }

    /// What to do.
    public var suggestion: String? { notice.suggestion }

    /// Where there is room for one line: what to do goes before what happened.
    public var headline: String { notice.suggestion ?? notice.message }

    /// What stands on the button now; nil for no button.
    public var buttonText: String? { notice.button }

    /// Whether it stays until it is cleared.
    public var isCritical: Bool { notice.critical }

    /// How long it is shown; nil for until it is cleared.
    public var dismissAfter: Duration? { notice.dismissAfter.map { .seconds($0) } }

    /// How long after `shownAt` it gets a button that it does not have yet; nil where none is to come.
    public var offersRetryAfter: Duration? { notice.followUp?.after }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        [dismissAfter, offersRetryAfter].compactMap { $0.map { shownAt + $0 } }.min()
    }

    /// Time has passed.
    public mutating func tick(now: MeshInstant) -> Change? {
        if let dismissAfter, now >= shownAt + dismissAfter { return .over }
        guard let offersRetryAfter, now >= shownAt + offersRetryAfter, let later = notice.followedUp else { return nil }
        notice = later
        return .changed
    }
}
