// SPDX-License-Identifier: Apache-2.0

/// A message between the two sides of a pipe. Its bytes are a kind, a stream's number in four bytes, and the rest. All
/// numbers are sent with the most significant byte first.
enum PipeFrame: Hashable, Sendable {
    /// A caller begins a session, or a listener confirms it. A session lasts as long as both processes.
    case hello(session: [UInt8], carries: PipeKind)
    /// The listener does not accept the session.
    case refuse(PipeRefusal)
    /// The caller opens a stream.
    case open(UInt32)
    /// Bytes of a stream.
    case data(UInt32, [UInt8])
    /// The end of a stream in this direction, and the number of its bytes.
    case end(UInt32, count: UInt64)
    /// The other side may send this many more bytes.
    case credit(UInt32, UInt32)
    /// All bytes that the other side has sent on the stream are written to their destination.
    case done(UInt32)
    /// The stream is broken, and the data that have arrived are incomplete.
    case reset(UInt32)
    /// All streams are complete in both directions.
    case over
    /// This side ends before that.
    case abort

    private enum Kind: UInt8 {
        case hello = 1, refuse, open, data, end, credit, done, reset, over, abort
    }

    /// The version of these frames. A later version may add bytes at the end of a frame.
    private static let version: UInt8 = 1

    var bytes: [UInt8] {
        switch self {
        case .hello(let session, let kind): Self.head(.hello) + [Self.version, kind.rawValue] + session
        case .refuse(let why): Self.head(.refuse) + [why.rawValue]
        case .open(let stream): Self.head(.open, stream)
        case .data(let stream, let bytes): Self.head(.data, stream) + bytes
        case .end(let stream, let count): Self.head(.end, stream) + Self.bytes(count, 8)
        case .credit(let stream, let credit): Self.head(.credit, stream) + Self.bytes(UInt64(credit), 4)
        case .done(let stream): Self.head(.done, stream)
        case .reset(let stream): Self.head(.reset, stream)
        case .over: Self.head(.over)
        case .abort: Self.head(.abort)
        }
    }

    /// Reads a frame. Nil for bytes that are not a frame.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headBytes, let kind = Kind(rawValue: bytes[0]) else { return nil }
        let stream = UInt32(Self.number(bytes[1..<Self.headBytes]))
        let rest = bytes[Self.headBytes...]
        switch kind {
        case .hello:
            guard rest.count >= 2 + PipeLimits.sessionBytes, rest[rest.startIndex] == Self.version,
                let carries = PipeKind(rawValue: rest[rest.startIndex + 1])
            else { return nil }
            self = .hello(session: Array(rest.dropFirst(2).prefix(PipeLimits.sessionBytes)), carries: carries)
        case .refuse:
            guard let why = rest.first else { return nil }
            self = .refuse(PipeRefusal(rawValue: why) ?? .other)
        case .open: self = .open(stream)
        case .data: self = .data(stream, Array(rest))
        case .end:
            guard rest.count >= 8 else { return nil }
            self = .end(stream, count: Self.number(rest.prefix(8)))
        case .credit:
            guard rest.count >= 4 else { return nil }
            self = .credit(stream, UInt32(Self.number(rest.prefix(4))))
        case .done: self = .done(stream)
        case .reset: self = .reset(stream)
        case .over: self = .over
        case .abort: self = .abort
        }
    }

    private static let headBytes = 5

    private static func head(_ kind: Kind, _ stream: UInt32 = 0) -> [UInt8] {
        [kind.rawValue] + bytes(UInt64(stream), 4)
    }

    private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The streams that a session carries.
enum PipeKind: UInt8, Hashable, Sendable {
    /// Standard input and output.
    case standard = 0
    /// Connections to a socket.
    case socket = 1
}

/// Why a listener does not accept a session.
enum PipeRefusal: UInt8, Error, Hashable, Sendable {
    /// A reason that this version does not know.
    case other = 0
    /// The node serves another caller.
    case busy = 1
    /// One side has `--socket`, and the other has not.
    case otherKind = 2
    /// The node does not know the session, because it has restarted since.
    case restarted = 3
}
