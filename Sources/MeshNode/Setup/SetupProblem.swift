// SPDX-License-Identifier: Apache-2.0

/// The reason why a node cannot start: a sentence with a remedy, and an exit code.
public struct SetupProblem: Error, Hashable, Sendable {
    /// The program's exit codes, except 0 for success. Codes from 64 to 77 come from sysexits(3).
    public enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
        /// A replay has broken an invariant, or no ping was answered.
        case failed = 1
        /// The command line is wrong.
        case usage = 64
        /// The input data is wrong.
        case data = 65
        /// No radio or host is available.
        case unavailable = 69
        /// The state folder is not writable.
        case cannotCreate = 73
        /// A transfer is incomplete.
        case incomplete = 74
        /// The other side broke the protocol.
        case protocolError = 76
        /// The system denies this user access.
        case notPermitted = 77
        /// Ctrl-C or SIGTERM has interrupted the program: 128 plus SIGINT, as in shells.
        case interrupted = 130
    }

    /// The problem and its remedy in one sentence.
    public var sentence: String
    /// The exit code of the program.
    public var exitCode: ExitCode

    /// Creates a problem.
    public init(_ exitCode: ExitCode, _ sentence: String) {
        self.exitCode = exitCode
        self.sentence = sentence
    }
}
