// SPDX-License-Identifier: Apache-2.0

/// A frame of a record between two nodes (`docs/protocol.md`, "Frames").
public enum Frame: Hashable, Sendable {
    /// The initiator's hello.
    case appStart(Hello)
    /// The responder's hello, which admits the initiator.
    case selfInfo(Hello)
    /// The initiator is refused or removed, for this reason.
    case refusal(RefusalReason)
    /// The responder requires a proof before it answers: a step of admission, such as a PIN. Several challenges may
    /// follow each other, each with its own `round`.
    case challenge(kind: UInt8, round: UInt8, data: [UInt8])
    /// The initiator's answer to a challenge.
    case proof(kind: UInt8, round: UInt8, data: [UInt8])
    /// The sender leaves, and may report the state of its session.
    case goodbye(GoodbyeReason = .unspecified)
    /// Requests a `pong` with the same number.
    case ping(UInt64)
    /// Answers a `ping`.
    case pong(UInt64)
    /// The sender has stored every reliable message up to this number.
    case acknowledgement(UInt64)
    /// A complete message: the bytes of a `MessageUnit`.
    case message(ArraySlice<UInt8>)
    /// A part of a message.
    case fragment(Fragment)
    /// Requests a circuit.
    case circuitOpen(CircuitOpen)
    /// An SDU of a circuit's inner link.
    case circuitData(circuit: UInt64, sdu: [UInt8])
    /// The sender accepts this many more SDUs in a circuit. The first frame also has the maximum size of an SDU.
    case circuitCredit(circuit: UInt64, credits: UInt64, sendMTU: Int? = nil)
    /// A circuit has ended, or does not exist.
    case circuitClose(circuit: UInt64, CircuitEnd)
    /// Facts about this link that only the sender's radio knows.
    case air(AirNote)
    /// The route of circuits through the sender. Nil without a route.
    case route(Route?)
    /// The last states of the host that the sender has, the newest first, at least one. From the parent of a node it is
    /// one: the state from which its updates continue.
    case state([StateName])
    /// The sender reserves its last slots for relays and has no others left. The receiver, which is not a relay, should
    /// move behind a relay if it hears one, and stays otherwise.
    case makeRoom

    private enum Kind: UInt8 {
        case appStart = 1
        case selfInfo = 2
        case refusal = 3
        case challenge = 4
        case proof = 5
        case goodbye = 6
        case ping = 7
        case pong = 8
        case acknowledgement = 9
        case message = 10
        case fragment = 11
        case circuitOpen = 12
        case circuitData = 13
        case circuitCredit = 14
        case circuitClose = 15
        case air = 16
        case route = 17
        case state = 18
        case makeRoom = 19
    }
}

/// Why a responder does not admit an initiator.
public enum RefusalReason: UInt8, Error, Hashable, Sendable, Codable, CaseIterable {
    /// A reason that this version does not know.
    case unspecified = 0
    /// `Limits.guests` guests are already connected.
    case full = 1
    /// The responder has another version of the protocol.
    case version = 2
    /// The responder has banned this initiator.
    case banned = 3
    /// The responder is ending the session.
    case ended = 4
    /// The responder requires a proof that this initiator cannot give.
    case challenge = 5
    /// The responder accepts only bonded nodes.
    case bond = 6
    /// Two nodes have the initiator's identity, or it is the responder's own.
    case twin = 7
    /// The initiator's proof does not match the responder's secret: a wrong PIN.
    case wrongProof = 8
    /// Too many wrong guesses were made recently. The responder allows further ones later.
    case tooManyGuesses = 9
    /// The invitation was used, has expired, or never existed.
    case invitation = 10
}

/// The state of the session of a node that leaves.
public enum GoodbyeReason: UInt8, Hashable, Sendable, CaseIterable {
    /// The node has not reported it, or this version does not know the value.
    case unspecified = 0
    /// The session is stored, and continues when the node runs again.
    case stopped = 1
    /// The session has ended.
    case ended = 2
}

// MARK: Writing

extension Frame {
    /// Size of the frame in a record, in bytes.
    public var byteCount: Int {
        switch self {
        case .message(let unit): Self.headerBytes(body: unit.count) + unit.count
        case .fragment(let fragment): Self.headerBytes(body: fragment.byteCount) + fragment.byteCount
        default:
            {
                var writer = WireWriter()
                write(into: &writer)
                return writer.bytes.count
            }()
        }
    }

    /// Bytes before a body of this length: the type, and the length as a varint.
    static func headerBytes(body: Int) -> Int { 1 + WireWriter.varintBytes(UInt64(body)) }

    /// Writes type, length and body.
    func write(into writer: inout WireWriter) {
        switch self {
        case .message(let unit):
            Self.header(.message, body: unit.count, into: &writer)
            writer.append(unit)
        case .fragment(let fragment):
            Self.header(.fragment, body: fragment.byteCount, into: &writer)
            fragment.write(into: &writer)
        default:
            var body = WireWriter()
            let kind = writeSmall(into: &body)
            Self.header(kind, body: body.bytes.count, into: &writer)
            writer.append(body.bytes)
        }
    }

    private static func header(_ kind: Kind, body: Int, into writer: inout WireWriter) {
        writer.byte(kind.rawValue)
        writer.varint(UInt64(body))
    }

    private func writeSmall(into body: inout WireWriter) -> Kind {
        switch self {
        case .appStart(let hello):
            body.hello(hello)
            return .appStart
        case .selfInfo(let hello):
            body.hello(hello)
            return .selfInfo
        case .refusal(let reason):
            body.byte(reason.rawValue)
            return .refusal
        case .challenge(let kind, let round, let data):
            body.byte(kind)
            body.byte(round)
            body.append(data)
            return .challenge
        case .proof(let kind, let round, let data):
            body.byte(kind)
            body.byte(round)
            body.append(data)
            return .proof
        case .goodbye(let reason):
            if reason != .unspecified { body.byte(reason.rawValue) }
            return .goodbye
        case .ping(let number):
            body.varint(number)
            return .ping
        case .pong(let number):
            body.varint(number)
            return .pong
        case .acknowledgement(let number):
            body.varint(number)
            return .acknowledgement
        case .circuitOpen, .circuitData, .circuitCredit, .circuitClose: return writeCircuit(into: &body)
        case .air(let note):
            body.airNote(note)
            return .air
        case .route(let route):
            body.route(route)
            return .route
        case .state(let names):
            body.stateNames(names)
            return .state
        case .makeRoom: return .makeRoom
        case .message, .fragment: preconditionFailure("these are written without a copy")
        }
    }
}

extension Frame {
    private func writeCircuit(into body: inout WireWriter) -> Kind {
        switch self {
        case .circuitOpen(let open):
            body.circuitOpen(open)
            return .circuitOpen
        case .circuitData(let circuit, let sdu):
            body.varint(circuit)
            body.append(sdu)
            return .circuitData
        case .circuitCredit(let circuit, let credits, let sendMTU):
            body.varint(circuit)
            body.varint(credits)
            if let sendMTU { body.varint(UInt64(sendMTU)) }
            return .circuitCredit
        case .circuitClose(let circuit, let end):
            body.varint(circuit)
            body.byte(end.rawValue)
            return .circuitClose
        default: preconditionFailure("no frame of a circuit")
        }
    }
}

// MARK: Reading

/// Parses a record's plaintext. It copies nothing and never traps, whatever the bytes are.
public struct FrameReader: Sendable {
    private var reader: WireReader

    /// The next element of a record.
    public enum Next: Hashable, Sendable {
        /// A frame.
        case frame(Frame)
        /// A frame of a type that this version does not know.
        case skipped(type: UInt8)
        /// A frame without the data that its type needs. The rest of the record cannot be trusted.
        case malformed(type: UInt8)
    }

    /// A reader of one record's plaintext.
    public init(_ plaintext: ArraySlice<UInt8>) {
        reader = WireReader(plaintext)
    }

    /// The next frame, or nil at the end of the record.
    public mutating func next() -> Next? {
        guard let type = reader.byte() else { return nil }
        guard let count = reader.count(), let body = reader.bytes(count) else { return malformed(type) }
        guard let kind = Frame.kind(type) else { return .skipped(type: type) }
        return kind(body).map { .frame($0) } ?? malformed(type)
    }

    private mutating func malformed(_ type: UInt8) -> Next {
        reader = WireReader([])
        return .malformed(type: type)
    }
}

extension Frame {
    /// The reader of a body of this type. Nil for a type that this version does not know.
    fileprivate static func kind(_ type: UInt8) -> ((ArraySlice<UInt8>) -> Frame?)? {
        Kind(rawValue: type).map { kind in { body in read(kind, WireReader(body)) } }
    }

    private static func read(_ kind: Kind, _ body: WireReader) -> Frame? {
        var body = body
        switch kind {
        case .appStart: return body.hello().map { .appStart($0) }
        case .selfInfo: return body.hello().map { .selfInfo($0) }
        case .refusal: return body.byte().map { .refusal(RefusalReason(rawValue: $0) ?? .unspecified) }
        case .challenge:
            guard let kind = body.byte(), let round = body.byte() else { return nil }
            return .challenge(kind: kind, round: round, data: Array(body.rest))
        case .proof:
            guard let kind = body.byte(), let round = body.byte() else { return nil }
            return .proof(kind: kind, round: round, data: Array(body.rest))
        case .goodbye: return .goodbye(body.byte().flatMap(GoodbyeReason.init) ?? .unspecified)
        case .ping: return body.varint().map { .ping($0) }
        case .pong: return body.varint().map { .pong($0) }
        case .acknowledgement: return body.varint().map { .acknowledgement($0) }
        case .message: return .message(body.rest)
        case .fragment: return Fragment(&body).map { .fragment($0) }
        case .circuitOpen: return body.circuitOpen().map { .circuitOpen($0) }
        case .circuitData: return body.varint().map { .circuitData(circuit: $0, sdu: Array(body.rest)) }
        case .circuitCredit:
            guard let circuit = body.varint(), let credits = body.varint() else { return nil }
            guard !body.isAtEnd else { return .circuitCredit(circuit: circuit, credits: credits) }
            return body.count().map { .circuitCredit(circuit: circuit, credits: credits, sendMTU: $0) }
        case .circuitClose:
            guard let circuit = body.varint(), let end = body.byte() else { return nil }
            return .circuitClose(circuit: circuit, CircuitEnd(rawValue: end) ?? .unspecified)
        case .air: return body.airNote().map { .air($0) }
        case .route: return body.route().map { .route($0) }
        case .state: return body.stateNames().map { .state($0) }
        case .makeRoom: return .makeRoom
        }
    }
}
