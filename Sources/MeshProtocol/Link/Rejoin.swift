// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Identifies the stored secret of an earlier handshake of two nodes (`docs/protocol.md`, "Rejoining").
public struct RejoinID: Hashable, Sendable {
    /// Eight bytes.
    public let value: UInt64

    /// The secret with this number.
    public init(value: UInt64) { self.value = value }
}

/// A secret that two nodes store from a handshake in a circuit, to link again without a key agreement. Each attempt
/// gets its own keys, so no data are ever encrypted with the keys of another link.
struct RejoinSecret: Sendable {
    private let secret: SymmetricKey
    /// The identifier by which the other side finds it. It reveals nothing of the secret.
    let id: RejoinID

    init(_ handshake: NoiseHandshake) { self.init(handshake.exportSecret()) }

    init(_ secret: SymmetricKey) {
        self.secret = secret
        let bytes = Self.expand(secret, "RoadMesh rejoin id", byteCount: RejoinID.byteCount)
        id = RejoinID(value: bytes.withUnsafeBytes { $0.reduce(0) { $0 << 8 | UInt64($1) } })
    }

    /// The ciphers of an attempt, and the replacement for its handshake's hash.
    func keys(ofAttempt attempt: UInt64, as role: LinkRole) -> (channel: SealedChannel, hash: [UInt8]) {
        var info = WireWriter()
        info.integer(attempt)
        let keyBytes = SymmetricKeySize.bits256.bitCount / 8
        let bytes = Self.expand(secret, "RoadMesh rejoin", info.bytes, byteCount: 3 * keyBytes)
        return bytes.withUnsafeBytes { bytes in
            func part(_ number: Int) -> Slice<UnsafeRawBufferPointer> {
                bytes[number * keyBytes..<(number + 1) * keyBytes]
            }
            let ciphers = (
                NoiseCipher(key: SymmetricKey(data: UnsafeRawBufferPointer(rebasing: part(0)))),
                NoiseCipher(key: SymmetricKey(data: UnsafeRawBufferPointer(rebasing: part(1))))
            )
            return (SealedChannel(ciphers, role: role), Array(part(2)))
        }
    }

    /// RFC 5869, 2.3.
    private static func expand(
        _ secret: SymmetricKey, _ purpose: String, _ info: [UInt8] = [], byteCount: Int
    ) -> SymmetricKey {
        HKDF<SHA256>.expand(
            pseudoRandomKey: secret, info: Array(purpose.utf8) + info, outputByteCount: byteCount)
    }
}

/// The stored data of one side that a link needs to resume.
struct Rejoin: Sendable {
    var secret: RejoinSecret
    /// Counts from 1. No number is used twice.
    var attempt: UInt64
    /// The other side's key, and the constant parts of its hello.
    var publicKey: [UInt8]
    var name: String
    var signingKey: [UInt8]?
}

/// The stored secrets of a node's handshakes in circuits: the last one for each conversation. They are only in memory.
struct RejoinTable: Sendable {
    private struct Entry: Sendable {
        var rejoin: Rejoin
        var until: MeshInstant
    }

    private var entries: [ConversationKey: Entry] = [:]
    private var keys: [RejoinID: ConversationKey] = [:]
    /// The expiry of the first secret, or an earlier time.
    private var nextEnd: MeshInstant?

    var count: Int { entries.count }

    /// Stores the secret of a handshake, and replaces the last one.
    mutating func keep(_ rejoin: Rejoin, for key: ConversationKey, now: MeshInstant) {
        forget(key)
        if entries.count >= Limits.rejoins { forgetOldest() }
        let until = now + Limits.rejoinTime
        entries[key] = Entry(rejoin: rejoin, until: until)
        keys[rejoin.secret.id] = key
        nextEnd = nextEnd ?? until
    }

    /// Removes expired secrets, whether they are requested or not: a removed secret reveals no messages.
    mutating func forgetOld(now: MeshInstant) {
        guard let nextEnd, now >= nextEnd else { return }
        for (key, entry) in entries where now >= entry.until { forget(key) }
        self.nextEnd = entries.values.map(\.until).min()
    }

    mutating func forget(_ key: ConversationKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        keys[entry.rejoin.secret.id] = nil
    }

    private mutating func forgetOldest() {
        let oldest = entries.min { ($0.value.until, $0.key) < ($1.value.until, $1.key) }
        if let oldest { forget(oldest.key) }
    }

    /// The initiator's next attempt in a conversation. Nil if it needs a key agreement.
    mutating func next(_ key: ConversationKey, now: MeshInstant) -> Rejoin? {
        guard let entry = entries[key], now < entry.until else {
            forget(key)
            return nil
        }
        entries[key]?.rejoin.attempt += 1
        return entries[key]?.rejoin
    }

    /// Decrypts an initiator's record with the responder's stored secret. Nil if that fails, or if the attempt is not
    /// later than all accepted ones: it is then a replay, and used keys must not be used again.
    mutating func open(
        _ id: RejoinID, attempt: UInt64, _ record: ArraySlice<UInt8>, now: MeshInstant
    ) -> Rejoined? {
        guard let key = keys[id], key.role == .responder, let entry = entries[key], now < entry.until,
            attempt > entry.rejoin.attempt
        else { return nil }
        var (channel, hash) = entry.rejoin.secret.keys(ofAttempt: attempt, as: .responder)
        guard let plaintext = channel.open(record) else { return nil }
        entries[key]?.rejoin.attempt = attempt
        return Rejoined(peer: key.peer, kept: entry.rejoin, channel: channel, hash: hash, plaintext: plaintext)
    }
}

/// An initiator that a responder identifies by its stored secret, and its hello.
struct Rejoined: Sendable {
    var peer: Peer.ID
    var kept: Rejoin
    var channel: SealedChannel
    var hash: [UInt8]
    var plaintext: [UInt8]
}

extension RejoinID {
    static let byteCount = 8
}

extension Hello {
    /// The hello without the parts that the other side has stored.
    var brief: Hello {
        var brief = self
        (brief.name, brief.signingKey, brief.rejoins) = ("", nil, false)
        return brief
    }

    /// The hello with the stored parts of its sender.
    func completed(with kept: Rejoin) -> Hello {
        var hello = self
        (hello.name, hello.signingKey) = (kept.name, kept.signingKey)
        return hello
    }
}
