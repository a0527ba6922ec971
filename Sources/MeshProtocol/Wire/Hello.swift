// SPDX-License-Identifier: Apache-2.0

/// A node's introduction on a link, in `appStart` and `selfInfo` (`docs/protocol.md`, "Hello").
///
/// It does not contain the identifier, which comes from the key that the handshake has proved.
public struct Hello: Hashable, Sendable {
    /// The sender's minor version of the protocol. A newer one adds only parts that others may ignore.
    public var minorVersion: UInt8
    /// The person's name for the node, made safe to show.
    public var name: String
    /// The state of the sender's side of the conversation.
    public var resumption: Resumption
    /// How long the sender may be silent although it was pinged. A sleeping phone needs more time than a head unit.
    /// Whole seconds, from `Limits.pongTimeout` to `Limits.longestSilence`.
    public var silence: Duration
    /// The flags of the responder's advertisement. They show whether an attacker has removed flags from the
    /// advertisement.
    public var flags: AdvertisedFlags
    /// The responder's proof, if a challenge of this kind has requested it.
    public var proof: Proof?
    /// The key that signs the host's state for all guests.
    public var signingKey: [UInt8]?
    /// The sender accepts circuits and wants the signed state.
    public var relays = false
    /// The sender stores a secret of the handshake for peers that resume. For a host in a circuit.
    public var rejoins = false
    /// The route of circuits through the sender. An inner nil means that it has none at present, an outer nil that the
    /// sender is the end of the route.
    public var route: Route??
    /// The last state of the responder that an initiator has.
    public var shownState: StateName?
    /// The first critical part that this version does not know. The link cannot continue with it.
    public var unknownPart: UInt8?

    /// A responder's proof in its answer.
    public struct Proof: Hashable, Sendable {
        /// The kind of challenge for the proof.
        public var kind: UInt8
        /// At most `Limits.proofBytes`.
        public var data: [UInt8]
    }

    /// A hello of this version.
    public init(
        name: String, resumption: Resumption, minorVersion: UInt8 = ProtocolVersion.minor,
        silence: Duration = Limits.pongTimeout, flags: AdvertisedFlags = AdvertisedFlags()
    ) {
        self.minorVersion = minorVersion
        self.name = name
        self.resumption = resumption
        self.silence = silence
        self.flags = flags
    }

    /// The parts' types. A reader must know the parts from 128 on.
    fileprivate enum Part {
        static let name: UInt8 = 1
        static let minorVersion: UInt8 = 2
        static let silence: UInt8 = 3
        static let proof: UInt8 = 4
        static let signingKey: UInt8 = 5
        static let relays: UInt8 = 6
        static let route: UInt8 = 7
        static let shownState: UInt8 = 8
        static let rejoins: UInt8 = 9
        static let conversation: UInt8 = 128
        static let flags: UInt8 = 129

        static func isCritical(_ type: UInt8) -> Bool { type >= 128 }
    }
}

/// The state of one side of a conversation, so that a new link continues where the last one broke.
public struct Resumption: Hashable, Sendable {
    /// Identifies the sender's numbering of its reliable messages to this peer. Not 0.
    public var epoch: UInt32
    /// The number of the sender's first unacknowledged reliable message.
    public var first: UInt64
    /// The receiver's last epoch that the sender knows, or 0.
    public var theirEpoch: UInt32
    /// The sender has stored everything of that epoch up to this number.
    public var delivered: UInt64

    /// A state of a conversation.
    public init(epoch: UInt32, first: UInt64, theirEpoch: UInt32, delivered: UInt64) {
        self.epoch = epoch
        self.first = first
        self.theirEpoch = theirEpoch
        self.delivered = delivered
    }
}

/// The protocol version of this code (`docs/protocol.md`, "Versions").
public enum ProtocolVersion {
    /// Advertised, sent unencrypted, and part of the handshake. Nodes of different major versions cannot connect.
    public static let major: UInt8 = 2
    /// Sent in hellos. Nodes of different minor versions ignore what they do not know.
    public static let minor: UInt8 = 0
}

extension WireWriter {
    /// The conversation is always written, other parts only if they have a value.
    mutating func hello(_ hello: Hello) {
        part(Hello.Part.conversation) { part in
            part.integer(hello.resumption.epoch)
            part.varint(hello.resumption.first)
            part.integer(hello.resumption.theirEpoch)
            part.varint(hello.resumption.delivered)
        }
        if !hello.name.isEmpty { part(Hello.Part.name) { $0.append(hello.name.utf8) } }
        if hello.minorVersion != 0 { part(Hello.Part.minorVersion) { $0.byte(hello.minorVersion) } }
        if hello.silence != Limits.pongTimeout {
            part(Hello.Part.silence) { $0.varint(UInt64(clamping: hello.silence.components.seconds)) }
        }
        if hello.flags != AdvertisedFlags() {
            part(Hello.Part.flags) { part in
                part.byte(hello.flags.critical.rawValue)
                part.byte(hello.flags.ignorable.rawValue)
            }
        }
        if let proof = hello.proof {
            part(Hello.Part.proof) { part in
                part.byte(proof.kind)
                part.append(proof.data)
            }
        }
        if let key = hello.signingKey { part(Hello.Part.signingKey) { $0.append(key) } }
        if hello.relays { part(Hello.Part.relays) { _ in } }
        if let route = hello.route { part(Hello.Part.route) { $0.route(route) } }
        if let state = hello.shownState { part(Hello.Part.shownState) { $0.integer(state.value) } }
        if hello.rejoins { part(Hello.Part.rejoins) { _ in } }
        if let unknown = hello.unknownPart { part(unknown) { _ in } }
    }

    private mutating func part(_ type: UInt8, _ write: (inout WireWriter) -> Void) {
        var value = WireWriter()
        write(&value)
        byte(type)
        varint(UInt64(value.bytes.count))
        append(value.bytes)
    }
}

extension WireReader {
    /// Reads a hello up to the end of its frame. Nil if a part is cut off or occurs twice, a value exceeds its limits,
    /// or the conversation is missing.
    mutating func hello() -> Hello? {
        var read = HelloReader()
        while !isAtEnd {
            guard let type = byte(), let count = count(), let value = bytes(count),
                read.take(type, WireReader(value))
            else { return nil }
        }
        return read.hello
    }
}

/// Collects a hello's parts, which may come in any order.
private struct HelloReader {
    private var seen: Set<UInt8> = []
    private var name = ""
    private var resumption: Resumption?
    private var minorVersion: UInt8 = 0
    private var silence = Limits.pongTimeout
    private var flags = AdvertisedFlags()
    private var proof: Hello.Proof?
    private var signingKey: [UInt8]?
    private var relays = false
    private var route: Route??
    private var shownState: StateName?
    private var rejoins = false
    private var unknownPart: UInt8?

    var hello: Hello? {
        guard let resumption else { return nil }
        var hello = Hello(
            name: NodeName(untrusted: name).text, resumption: resumption, minorVersion: minorVersion, silence: silence,
            flags: flags)
        (hello.proof, hello.unknownPart) = (proof, unknownPart)
        (hello.signingKey, hello.relays, hello.route) = (signingKey, relays, route)
        (hello.shownState, hello.rejoins) = (shownState, rejoins)
        return hello
    }

    /// Whether a part is valid. Bytes after the ones that it needs are ignored.
    mutating func take(_ type: UInt8, _ value: WireReader) -> Bool {
        guard seen.insert(type).inserted else { return false }
        var value = value
        switch type {
        case Hello.Part.conversation: resumption = value.resumption()
        case Hello.Part.name: return takeName(value.rest)
        case Hello.Part.minorVersion: return value.byte().map { minorVersion = $0 } != nil
        case Hello.Part.silence: return value.varint().map { silence = Self.bounded($0) } != nil
        case Hello.Part.flags:
            guard let critical = value.byte(), let ignorable = value.byte() else { return false }
            flags = AdvertisedFlags(critical: .init(rawValue: critical), ignorable: .init(rawValue: ignorable))
        case Hello.Part.proof:
            guard let kind = value.byte(), value.rest.count <= Limits.proofBytes else { return false }
            proof = Hello.Proof(kind: kind, data: Array(value.rest))
        case Hello.Part.signingKey:
            guard let key = value.bytes(StateSignature.keyBytes) else { return false }
            signingKey = Array(key)
        case Hello.Part.relays: relays = true
        case Hello.Part.route: return value.route().map { route = .some($0) } != nil
        case Hello.Part.shownState:
            guard let name = value.stateName() else { return false }
            shownState = name
        case Hello.Part.rejoins: rejoins = true
        case let type where Hello.Part.isCritical(type): unknownPart = unknownPart ?? type
        default: break
        }
        return type != Hello.Part.conversation || resumption != nil
    }

    private mutating func takeName(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count <= Limits.nameBytes, let text = String(validating: bytes, as: UTF8.self) else { return false }
        name = text
        return true
    }

    private static func bounded(_ seconds: UInt64) -> Duration {
        min(max(.seconds(Int(clamping: min(seconds, 1 << 31))), Limits.pongTimeout), Limits.longestSilence)
    }
}

extension WireReader {
    fileprivate mutating func resumption() -> Resumption? {
        guard let epoch: UInt32 = integer(), epoch != 0,
            let first = varint(), (1...Limits.largestNumber + 1).contains(first),
            let theirEpoch: UInt32 = integer(),
            let delivered = varint(), delivered <= Limits.largestNumber
        else { return nil }
        return Resumption(epoch: epoch, first: first, theirEpoch: theirEpoch, delivered: delivered)
    }
}
