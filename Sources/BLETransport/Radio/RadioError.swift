// SPDX-License-Identifier: Apache-2.0

/// Why a radio cannot do what it was asked: a code to act on, and the cause in the system's words.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is the matter.
    public enum Code: Hashable, Sendable {
        /// No such adapter, or none at all.
        case noAdapter
        /// The adapter is switched off.
        case radioOff
        /// rfkill keeps the adapter off.
        case blocked
        /// A switch of the machine keeps the adapter off.
        case blockedBySwitch
        /// The controller has stopped to answer, and is being reset.
        case adapterSilent
        /// The controller does not answer, and resets have not helped.
        case adapterDead
        /// bluetoothd is not running, or has gone.
        case serviceNotRunning
        /// The system does not let this process.
        case notPermitted
        /// The adapter cannot do it: no LE, no free advertising slot.
        case unsupported
        /// The virtual radio's folder cannot be used.
        case airUnusable
        /// The system does not let this process use the virtual radio's folder.
        case airForbidden
        /// The dial has ended without a channel. Dialling again makes sense.
        case dialFailed
        /// The other side takes bonded boxes only, and this one is none of them, or not any more.
        case bondRequired
        /// The channel is broken: out of reach, or the other program died.
        case channelLost
        /// The SDU is larger than the other side takes.
        case tooLarge
        /// The radio or channel was closed by this side.
        case closed
        /// The task was cancelled.
        case cancelled
        /// Anything else; the cause says what.
        case failed
    }

    /// What is the matter.
    public let code: Code
    /// The system's own words, for logs and for the end of a sentence.
    public let cause: String

    /// An error.
    public init(_ code: Code, _ cause: String = "") {
        self.code = code
        self.cause = cause
    }

    /// The code with its cause.
    public var description: String { cause.isEmpty ? "\(code)" : "\(code): \(cause)" }
}
