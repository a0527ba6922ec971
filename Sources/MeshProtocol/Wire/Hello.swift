// SPDX-License-Identifier: Apache-2.0

/// How a node introduces itself on a link, in `appStart` and `selfInfo` (`docs/protocol.md`, "Hello").
///
/// Who it is says the handshake: the identifier comes from the key that was proved in it.
public struct Hello: Hashable, Sendable {
    /// The minor version of the protocol that it speaks. A newer one adds only what others may skip.
    public var minorVersion: UInt8
    /// What the person calls the node. Made fit to be shown.
    public var name: String
    /// Where its side of the conversation stands.
    public var resumption: Resumption
    /// How long the sender may be silent although it was asked for an answer: a phone that sleeps needs more than a
    /// head unit. Whole seconds, from `Limits.pongTimeout` to `Limits.longestSilence`.
    public var silence: Duration
    /// The flags of the responder's advertisement. What was taken out of them on the air shows here.
    public var flags: AdvertisedFlags
    /// Proves the responder, where a challenge of this kind has asked for that.
    public var proof: Proof?
    /// What the host's state is signed with, where it is told to everybody at once.
    public var signingKey: [UInt8]?
    /// The sender takes circuits, and wants the state signed.
    public var relays = false
    /// The sender keeps something of the handshake, for who comes back. A host's in a circuit.
    public var rejoins = false
    /// Where circuits through the sender lead; nil within where that is nowhere at present, nil for who is the end of the way.
    public var route: Route??
    /// The last state of the responder's that an initiator has.
    public var shownState: StateName?
    /// The first critical part that this version does not know. The link cannot go on then.
    public var unknownPart: UInt8?

    /// What a responder proves of itself with its answer.
    public struct Proof: Hashable, Sendable {
        /// The kind of the challenges that it belongs to.
        public var kind: UInt8
        /// At most `Limits.proofBytes`.
        public var data: [UInt8]
    }

    /// A hello in this code's version.
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

    /// The parts' types. From 128 on, a reader has to know them.
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

/// Where one side of a conversation stands, so that a new link goes on where the last one broke.
public struct Resumption: Hashable, Sendable {
    /// Names the sender's numbering of its reliable messages to this peer. Not 0.
    public var epoch: UInt32
    /// The number of the first reliable message that the sender has not seen acknowledged.
    public var first: UInt64
    /// The receiver's epoch as the sender last knew it, 0 where it knows none.
    public var theirEpoch: UInt32
    /// Everything of that epoch up to this number is safe with the sender.
    public var delivered: UInt64

    /// A standing.
    public init(epoch: UInt32, first: UInt64, theirEpoch: UInt32, delivered: UInt64) {
        self.epoch = epoch
        self.first = first
        self.theirEpoch = theirEpoch
        self.delivered = delivered
    }
}

/// Which protocol this code speaks (`docs/protocol.md`, "Versions").
public enum ProtocolVersion {
    /// Advertised, sent in the clear, and part of the handshake: nodes of different major versions do not talk.
    public static let major: UInt8 = 2
    /// Sent in hellos: nodes of different minor versions skip what they do not know.
    public static let minor: UInt8 = 0
}

extension WireWriter {
    /// The conversation is always there, the rest where it says something.
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
    /// Reads a hello up to the end of its frame. Nil where a part is cut off or comes twice, a value is out of its
    /// limits, or the conversation is missing.
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

/// Puts a hello's parts together, which may come in any order.
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

    /// Whether a part is good. Bytes behind what it needs are not looked at.
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
