// SPDX-License-Identifier: Apache-2.0

/// A packet before the link is encrypted. One packet is one SDU (`docs/protocol.md`, "Handshake").
public enum HandshakePacket: Hashable, Sendable {
    /// The first packet of an initiator that does not know the responder's key.
    case unknownHello(major: UInt8, noise: ArraySlice<UInt8>)
    /// The responder's answer, with its key.
    case unknownReply(noise: ArraySlice<UInt8>)
    /// The initiator's key and hello.
    case unknownFinish(noise: ArraySlice<UInt8>)
    /// The first packet of an initiator that knows the responder's key, with its hello.
    case knownHello(major: UInt8, noise: ArraySlice<UInt8>)
    /// The responder's answer, with its hello.
    case knownReply(noise: ArraySlice<UInt8>)
    /// The first packet of an initiator that resumes with the secret that both have stored from their last handshake.
    case rejoinHello(major: UInt8, RejoinID, attempt: UInt64, record: ArraySlice<UInt8>)
    /// The responder ends the handshake. This packet is not authenticated.
    case clearRefusal(major: UInt8, ClearRefusal)

    /// Why a responder ends a handshake.
    public enum ClearRefusal: UInt8, Hashable, Sendable {
        /// The responder has another major version.
        case version = 2
        /// The responder cannot decrypt the initiator's hello, because the initiator expects another key. Or the
        /// responder has no stored secret for a peer that resumes.
        case unknownKey = 5
        /// There are `Limits.halfOpenLinks` open handshakes.
        case busy = 6
    }

    /// The medium of a handshake.
    public enum Medium: UInt8, Hashable, Sendable {
        /// A channel between the two.
        case direct = 0
        /// A circuit through relays.
        case circuit = 1
    }

    /// The prologue of both sides' handshake. Only nodes with the same version and application can complete it, and a
    /// handshake for a channel is invalid in a circuit.
    public static func prologue(of service: ServiceType, on medium: Medium = .direct) -> [UInt8] {
        Array("RoadMesh".utf8) + [ProtocolVersion.major, medium.rawValue] + service.uuid.bytes
    }

    private enum Kind: UInt8 {
        case unknownHello = 1
        case unknownReply = 2
        case unknownFinish = 3
        case knownHello = 4
        case knownReply = 5
        case clearRefusal = 6
        case rejoinHello = 7
    }

    /// Reads a packet. Nil for other data.
    public init?(_ sdu: ArraySlice<UInt8>) {
        var reader = WireReader(sdu)
        guard let kind = reader.byte().flatMap(Kind.init(rawValue:)) else { return nil }
        switch kind {
        case .unknownHello, .knownHello:
            guard let major = reader.byte() else { return nil }
            self =
                kind == .knownHello
                ? .knownHello(major: major, noise: reader.rest) : .unknownHello(major: major, noise: reader.rest)
        case .unknownReply: self = .unknownReply(noise: reader.rest)
        case .unknownFinish: self = .unknownFinish(noise: reader.rest)
        case .knownReply: self = .knownReply(noise: reader.rest)
        case .rejoinHello:
            guard let major = reader.byte(), let id: UInt64 = reader.integer(), let attempt = reader.varint() else {
                return nil
            }
            self = .rejoinHello(major: major, RejoinID(value: id), attempt: attempt, record: reader.rest)
        case .clearRefusal:
            guard let major = reader.byte(), let reason = reader.byte().flatMap(ClearRefusal.init(rawValue:)) else {
                return nil
            }
            self = .clearRefusal(major: major, reason)
        }
    }

    /// The packet's bytes.
    public var bytes: [UInt8] {
        switch self {
        case .unknownHello(let major, let noise): [Kind.unknownHello.rawValue, major] + noise
        case .unknownReply(let noise): [Kind.unknownReply.rawValue] + noise
        case .unknownFinish(let noise): [Kind.unknownFinish.rawValue] + noise
        case .knownHello(let major, let noise): [Kind.knownHello.rawValue, major] + noise
        case .knownReply(let noise): [Kind.knownReply.rawValue] + noise
        case .rejoinHello(let major, let id, let attempt, let record): Self.rejoin(major, id, attempt) + record
        case .clearRefusal(let major, let reason): [Kind.clearRefusal.rawValue, major, reason.rawValue]
        }
    }

    private static func rejoin(_ major: UInt8, _ id: RejoinID, _ attempt: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.byte(Kind.rejoinHello.rawValue)
        writer.byte(major)
        writer.integer(id.value)
        writer.varint(attempt)
        return writer.bytes
    }
}
