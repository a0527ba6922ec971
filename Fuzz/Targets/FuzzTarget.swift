// SPDX-License-Identifier: Apache-2.0

/// Something that is fuzzed: bytes go in, and what must hold whatever they are is looked at.
public struct FuzzTarget: Sendable {
    /// What it is called on the command line, and its folders in `Corpus` and `Failures`.
    public let name: String
    /// The longest input that makes sense, in bytes.
    public let longestInput: Int
    /// Takes an input. Throws the invariant that it has broken.
    public let run: @Sendable ([UInt8]) throws -> Void

    /// All there are.
    public static let all: [FuzzTarget] = [
        FuzzTarget(name: "frame", longestInput: 2_400, run: FrameTarget.run),
        FuzzTarget(name: "framing", longestInput: 4_096, run: FramingTarget.run),
        FuzzTarget(name: "record", longestInput: 4_096, run: RecordTarget.run),
        FuzzTarget(name: "handshake", longestInput: 2_048, run: HandshakeTarget.run),
        FuzzTarget(name: "message", longestInput: 4_096, run: MessageTarget.run),
        FuzzTarget(name: "resume", longestInput: 1_024, run: ResumeTarget.run),
    ]
}

/// Something that must hold, and did not.
public struct BrokenPromise: Error, CustomStringConvertible {
    /// What must hold.
    public let description: String
}

/// Says what must hold at this place, whatever the input is.
func invariant(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw BrokenPromise(description: what()) }
}
