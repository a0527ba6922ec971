// SPDX-License-Identifier: Apache-2.0

/// What two nodes say to one another on a link (`docs/protocol.md`, "Frames").
public enum Frame: Hashable, Sendable {
    /// The guest's first frame: who it is.
    case appStart(Introduction)
    /// The host's answer: who it is, and that the guest is in.
    case selfInfo(Introduction)
    /// The host's other answer: the guest is not in, and why.
    case refusal(RefusalReason)
    /// The application's message.
    case message([UInt8])
    /// Asks for a `pong` with the same number.
    case ping(UInt32)
    /// Answers a `ping`.
    case pong(UInt32)
    /// The sender leaves, and says so.
    case goodbye

    /// Bytes before the body: its length and the frame's type.
    public static let headerBytes = 3
}

/// How a node introduces itself.
public struct Introduction: Hashable, Sendable {
    /// The protocol version it speaks.
    public var version: UInt8
    /// Who it is.
    public var peer: Peer

    /// An introduction in this code's version.
    public init(peer: Peer, version: UInt8 = ProtocolVersion.current) {
        self.version = version
        self.peer = peer
    }
}

/// Why a host does not take a guest in.
public enum RefusalReason: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// `Limits.guests` are there already.
    case full = 1
    /// The host speaks another version of the protocol.
    case version = 2
    /// The host has sent this guest away.
    case banned = 3
    /// The host is ending the session.
    case ended = 4
}

extension Frame {
    private enum Kind: UInt8 {
        case appStart = 1
        case selfInfo = 2
        case refusal = 3
        case message = 4
        case ping = 5
        case pong = 6
        case goodbye = 7
    }

    /// The frame as bytes: length of the body (16 bits, most significant byte first), type, body.
    ///
    /// The body must fit `Limits.frameBodyBytes`; the outbox has seen to that.
    public var bytes: [UInt8] {
        var writer = WireWriter()
        let kind: Kind
        switch self {
        case .appStart(let introduction):
            kind = .appStart
            writer.introduction(introduction)
        case .selfInfo(let introduction):
            kind = .selfInfo
            writer.introduction(introduction)
        case .refusal(let reason):
            kind = .refusal
            writer.byte(reason.rawValue)
        case .message(let body): return Self.header(.message, count: body.count) + body
        case .ping(let number):
            kind = .ping
            writer.integer(number)
        case .pong(let number):
            kind = .pong
            writer.integer(number)
        case .goodbye: kind = .goodbye
        }
        return Self.header(kind, count: writer.bytes.count) + writer.bytes
    }

    private static func header(_ kind: Kind, count: Int) -> [UInt8] {
        precondition(count <= Limits.frameBodyBytes, "a frame's body has at most 65,535 bytes")
        return [UInt8(count >> 8), UInt8(count & 0xFF), kind.rawValue]
    }

    /// Reads a body. Nil where it does not hold what its type needs.
    fileprivate init?(kind: UInt8, body: ArraySlice<UInt8>) {
        var reader = WireReader(body)
        switch Kind(rawValue: kind) {
        case .appStart:
            guard let introduction = reader.introduction() else { return nil }
            self = .appStart(introduction)
        case .selfInfo:
            guard let introduction = reader.introduction() else { return nil }
            self = .selfInfo(introduction)
        case .refusal:
            guard let code = reader.byte(), let reason = RefusalReason(rawValue: code) else { return nil }
            self = .refusal(reason)
        case .message: self = .message(Array(body))
        case .ping:
            guard let number = reader.integer(UInt32.self) else { return nil }
            self = .ping(number)
        case .pong:
            guard let number = reader.integer(UInt32.self) else { return nil }
            self = .pong(number)
        case .goodbye: self = .goodbye
        case nil: return nil
        }
    }

    fileprivate static func isKnown(_ kind: UInt8) -> Bool {
        Kind(rawValue: kind) != nil
    }
}

extension WireWriter {
    fileprivate mutating func introduction(_ introduction: Introduction) {
        byte(introduction.version)
        text(introduction.peer.id)
        text(introduction.peer.name)
    }
}

extension WireReader {
    fileprivate mutating func introduction() -> Introduction? {
        guard let version = byte(), let id = text(atMost: Limits.peerIDBytes), !id.isEmpty,
            let name = text(atMost: Limits.nameBytes)
        else { return nil }
        // A name is shown to people: what cannot be shown is taken out here, once, for everybody above.
        return Introduction(peer: Peer(id: id, name: NodeName(untrusted: name).text), version: version)
    }
}

/// Puts the frames of one link together again: a frame may span SDUs, and an SDU may hold several.
public struct FrameDecoder: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0

    /// What the next bytes are.
    public enum Result: Hashable, Sendable {
        /// A whole frame.
        case frame(Frame)
        /// A frame of a type this version does not know: skipped, since a newer minor version may send it.
        case skipped(type: UInt8)
        /// A frame that lacks what its type needs, or says what it must not: the link is not worth keeping.
        case malformed(type: UInt8)
        /// Nothing whole: more bytes are needed.
        case incomplete
    }

    /// A decoder for a new link.
    public init() {}

    /// Bytes that wait for the rest of their frame.
    public var bufferedBytes: Int { buffer.count - start }

    /// Takes in one SDU. The caller asks for frames until `incomplete` before the next one, which bounds the buffer:
    /// at most `Limits.frameBufferBytes`.
    public mutating func append(_ sdu: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += sdu
        assert(buffer.count <= Limits.frameBufferBytes)
    }

    /// Takes out the next frame.
    public mutating func next() -> Result {
        guard bufferedBytes >= Frame.headerBytes else { return .incomplete }
        let count = Int(buffer[start]) << 8 | Int(buffer[start + 1])
        let kind = buffer[start + 2]
        guard bufferedBytes >= Frame.headerBytes + count else { return .incomplete }
        let body = buffer[(start + Frame.headerBytes)..<(start + Frame.headerBytes + count)]
        start += Frame.headerBytes + count
        guard Frame.isKnown(kind) else { return .skipped(type: kind) }
        guard let frame = Frame(kind: kind, body: body) else { return .malformed(type: kind) }
        return .frame(frame)
    }
}
