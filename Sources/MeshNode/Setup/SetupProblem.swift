// SPDX-License-Identifier: Apache-2.0

/// Why a node cannot start: a sentence that says what to do, and the exit code of the command line's contract.
public struct SetupProblem: Error, Hashable, Sendable {
    /// Every exit code of the program but 0, which is success. Those from 64 to 77 are of sysexits(3).
    public enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
        /// A replay has broken an invariant.
        case brokenInvariant = 1
        /// The command was used wrongly.
        case usage = 64
        /// Input data is wrong.
        case data = 65
        /// No radio or host to be had.
        case unavailable = 69
        /// The state folder is not writable.
        case cannotCreate = 73
        /// The other side broke the protocol.
        case protocolError = 76
        /// The system does not let this user.
        case notPermitted = 77
        /// Ctrl-C or SIGTERM has ended what had not finished: 128 and SIGINT, as shells have it.
        case interrupted = 130
    }

    /// What happened and what to do, in one sentence.
    public var sentence: String
    /// The program's exit code.
    public var exitCode: ExitCode

    /// A problem.
    public init(_ exitCode: ExitCode, _ sentence: String) {
        self.exitCode = exitCode
        self.sentence = sentence
    }
}
