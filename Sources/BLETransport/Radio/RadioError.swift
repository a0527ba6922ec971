// SPDX-License-Identifier: Apache-2.0

/// Why a radio cannot do what it was asked: a code to act on, and the cause in the system's words.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is the matter.
    public enum Code: Hashable, Sendable {
        /// No such adapter, none at all, or the one in use was pulled out.
        case noAdapter
        /// The adapter is switched off.
        case radioOff
        /// rfkill keeps the adapter off; a command lifts that.
        case blocked
        /// A switch of the machine keeps the adapter off; no command lifts that.
        case blockedBySwitch
        /// The controller has stopped answering, and is being reset.
        case adapterSilent
        /// The controller does not answer, and resets have not helped.
        case adapterDead
        /// bluetoothd is not running, or has gone.
        case serviceNotRunning
        /// The system does not let this process.
        case notPermitted
        /// The adapter cannot do it: no LE, no free advertising slot.
        case unsupported
        /// The kernel refuses what bluetoothd advertises, and this process may not ask the kernel itself. The cause names the
        /// kernel. Everything else works.
        case advertisingRefused
        /// The virtual radio's folder cannot be used; the cause names it.
        case airUnusable
        /// The system does not let this process use the virtual radio's folder.
        case airForbidden
        /// The dial has ended without a channel. Dialling again makes sense.
        case dialFailed
        /// The other side takes bonded devices only, and this one is not bonded with it, or not any more.
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
    /// The system's own words, for logs and for the end of a sentence; the code where there are none.
    public let cause: String

    /// An error.
    public init(_ code: Code, _ cause: String = "") {
        self.code = code
        self.cause = cause.isEmpty ? "\(code)" : cause
    }

    /// The code with its cause.
    public var description: String { cause == "\(code)" ? cause : "\(code): \(cause)" }
}
