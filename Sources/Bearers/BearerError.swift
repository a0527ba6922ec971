// SPDX-License-Identifier: Apache-2.0

/// Why a radio cannot do what was requested: a code to act on, and the cause in the system's words.
public struct BearerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Hashable, Sendable {
        /// The named adapter does not exist, or no adapter exists, or the current one was unplugged.
        case noAdapter
        /// The adapter is switched off.
        case radioOff
        /// rfkill keeps the adapter off. A command can unblock it.
        case blocked
        /// A hardware switch keeps the adapter off. No command can unblock it.
        case blockedBySwitch
        /// The controller has stopped answering, and is being reset.
        case adapterSilent
        /// The controller does not answer, and resets have not helped.
        case adapterDead
        /// bluetoothd is not running, or has gone.
        case serviceNotRunning
        /// The system denies this process the permission.
        case notPermitted
        /// The adapter does not support the request: it has no LE, or no free advertising slot.
        case unsupported
        /// The kernel refuses advertisements of bluetoothd, and this process may not ask the kernel itself. The cause
        /// names the kernel. All else works.
        case advertisingRefused
        /// The virtual radio cannot use its folder. The cause names the folder.
        case airUnusable
        /// The system denies this process the virtual radio's folder.
        case airForbidden
        /// The dial has ended without a channel. Another dial may succeed.
        case dialFailed
        /// The other side accepts bonded devices only, and has no bond with this device, or has lost the bond.
        case bondRequired
        /// The channel is broken: the peer is out of range, or its program has ended.
        case channelLost
        /// The SDU is larger than the other side accepts.
        case tooLarge
        /// The radio or channel was closed by this side.
        case closed
        /// The task was cancelled.
        case cancelled
        /// Another error. The cause describes it.
        case failed
    }

    /// The kind of error.
    public let code: Code
    /// The system's own text, for logs and for the end of a sentence. If there is no text, it is the code.
    public let cause: String

    /// An error.
    public init(_ code: Code, _ cause: String = "") {
        self.code = code
        self.cause = cause.isEmpty ? "\(code)" : cause
    }

    /// The code and the cause.
    public var description: String { cause == "\(code)" ? cause : "\(code): \(cause)" }
}
