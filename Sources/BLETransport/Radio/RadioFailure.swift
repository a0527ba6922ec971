// SPDX-License-Identifier: Apache-2.0

/// Why a radio that should work does not: a kind to act on, and the cause in the system's words.
public struct RadioFailure: Hashable, Sendable {
    /// What is the matter.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// There is no adapter, or the one in use was pulled out.
        case noAdapter
        /// The adapter is switched off.
        case radioOff
        /// rfkill keeps the adapter off; a command lifts that.
        case blocked
        /// A switch of the box keeps the adapter off; no command lifts that.
        case blockedBySwitch
        /// The controller has stopped to answer, and is being reset.
        case adapterSilent
        /// The controller does not answer, and resets have not helped.
        case adapterDead
        /// bluetoothd is not running, or has gone.
        case serviceNotRunning
        /// The system does not let this process.
        case notPermitted
        /// The adapter cannot do it.
        case unsupported
        /// The virtual radio's folder cannot be used; the cause names it.
        case airUnusable
        /// Anything else; the cause says what.
        case failed
    }

    /// What is the matter.
    public let kind: Kind
    /// The system's own words, for the end of a sentence; never empty.
    public let cause: String

    /// A failure.
    public init(_ kind: Kind, _ cause: String) {
        self.kind = kind
        self.cause = cause
    }

    /// What a radio's error says of the radio as a whole.
    public init(_ error: RadioError) {
        kind =
            switch error.code {
            case .noAdapter: .noAdapter
            case .radioOff: .radioOff
            case .blocked: .blocked
            case .blockedBySwitch: .blockedBySwitch
            case .adapterSilent: .adapterSilent
            case .adapterDead: .adapterDead
            case .serviceNotRunning: .serviceNotRunning
            case .notPermitted: .notPermitted
            case .unsupported: .unsupported
            case .airUnusable, .airForbidden: .airUnusable
            case .dialFailed, .bondRequired, .channelLost, .tooLarge, .closed, .cancelled, .failed: .failed
            }
        cause = error.cause.isEmpty ? "\(error.code)" : error.cause
    }
}
