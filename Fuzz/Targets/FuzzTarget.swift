// SPDX-License-Identifier: Apache-2.0

/// A fuzzed piece of code. Takes any bytes, and checks its invariants.
public struct FuzzTarget: Sendable {
    /// The name on the command line, and of the folders in `Corpus` and `Failures`.
    public let name: String
    /// The longest useful input, in bytes.
    public let longestInput: Int
    /// Runs an input. Throws the invariant that it has broken.
    public let run: @Sendable ([UInt8]) throws -> Void

    /// All targets.
    public static let all: [FuzzTarget] = [
        FuzzTarget(name: "frame", longestInput: 2_400, run: FrameTarget.run),
        FuzzTarget(name: "framing", longestInput: 4_096, run: FramingTarget.run),
        FuzzTarget(name: "record", longestInput: 4_096, run: RecordTarget.run),
        FuzzTarget(name: "handshake", longestInput: 2_048, run: HandshakeTarget.run),
        FuzzTarget(name: "message", longestInput: 4_096, run: MessageTarget.run),
        FuzzTarget(name: "resume", longestInput: 1_024, run: ResumeTarget.run),
    ]
}

/// An invariant that an input has broken.
public struct BrokenPromise: Error, CustomStringConvertible {
    /// The invariant.
    public let description: String
}

/// Throws `what` unless the invariant holds.
func invariant(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw BrokenPromise(description: what()) }
}
