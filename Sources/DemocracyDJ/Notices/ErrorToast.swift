// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A notice on a screen, with the times at which it changes or disappears.
public struct ErrorToast: Hashable, Sendable {
    /// The effect of time on a toast.
    public enum Change: Hashable, Sendable {
        /// The text has changed.
        case changed
        /// The toast disappears.
        case over
    }

    /// The present text.
    public private(set) var notice: Notice
    /// When the toast was first shown.
    public let shownAt: MeshInstant
    private var retryAction = RetryAction()

    /// The action of the button. It does not affect the equality of toasts.
    private struct RetryAction: Hashable, Sendable {
        var run: (@Sendable () -> Void)?

        static func == (one: RetryAction, other: RetryAction) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }

    /// Creates a toast for an error that is shown from `now` on.
    public init(_ error: NetworkError, now: MeshInstant) {
        self.init(showing: Notice(error), now: now)
    }

    /// Creates a toast for a notice that is shown from `now` on.
    public init(showing notice: Notice, now: MeshInstant) {
        self.notice = notice
        shownAt = now
    }

    /// Creates a toast from texts, shown from `now` on. Its button runs `retryAction`. A critical toast stays until it
    /// is cleared.
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

    /// Runs the button's action. Returns false if the button has no action.
    @discardableResult
    public func retry() -> Bool {
        retryAction.run?()
        return retryAction.run != nil
    }

    /// What happened.
    public var message: String { notice.message }

    /// What to do.
    public var suggestion: String? { notice.suggestion }

    /// One line of text: the suggestion, or else the message.
    public var headline: String { headline(in: .english) }

    /// The headline in another language.
    public func headline(in language: Language) -> String {
        guard let texts = notice.texts else { return notice.suggestion ?? notice.message }
        return language.text(texts.suggestion ?? texts.message)
    }

    /// The button's present label; nil for no button.
    public var buttonText: String? { notice.button }

    /// Whether the toast stays until it is cleared.
    public var isCritical: Bool { notice.critical }

    /// How long the toast is shown; nil if it stays until it is cleared.
    public var dismissAfter: Duration? { notice.dismissAfter.map { .seconds($0) } }

    /// How long after `shownAt` the button appears; nil if the toast has it already or never gets one.
    public var offersRetryAfter: Duration? { notice.followUp?.after }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        [dismissAfter, offersRetryAfter].compactMap { $0.map { shownAt + $0 } }.min()
    }

    /// Applies the time.
    public mutating func tick(now: MeshInstant) -> Change? {
        if let dismissAfter, now >= shownAt + dismissAfter { return .over }
        guard let offersRetryAfter, now >= shownAt + offersRetryAfter, let later = notice.followedUp else { return nil }
        notice = later
        return .changed
    }
}
