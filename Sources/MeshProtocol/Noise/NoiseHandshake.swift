// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A handshake of the Noise Protocol Framework (revision 34, 5.3 "HandshakeState"): two nodes prove their static keys
/// to each other and agree on the keys of their link.
///
/// It draws no random bytes, so its owner provides the ephemeral key, a new one for every handshake. The initiator
/// writes first, then both take turns until `isComplete`. `split` then returns the link's ciphers.
///
/// A peer's message can only end a handshake. The first message that is not authentic ends it, and all later calls
/// return nil. Before `isComplete` a payload is only as trustworthy as its position in the pattern: the first payload
/// of XX is neither secret nor authentic, and the first of IK can be a replay.
public struct NoiseHandshake: Sendable {
    /// Which static keys are known in advance, and what each message contains.
    public enum Pattern: Hashable, Sendable {
        /// Neither side knows the other: three messages, `Noise_XX_25519_ChaChaPoly_SHA256`.
        case xx
        /// The initiator knows the responder: two messages, `Noise_IK_25519_ChaChaPoly_SHA256`.
        case ik
    }

    /// The side of a handshake.
    public enum Role: Hashable, Sendable {
        /// The initiator writes the first message.
        case initiator
        /// The responder reads the first message.
        case responder
    }

    private let pattern: Pattern
    private let role: Role
    private let staticKey: Curve25519.KeyAgreement.PrivateKey
    private let ephemeralKey: Curve25519.KeyAgreement.PrivateKey
    private var remoteStaticKey: Curve25519.KeyAgreement.PublicKey?
    private var remoteEphemeralKey: Curve25519.KeyAgreement.PublicKey?
    private var symmetric: NoiseSymmetricState
    private var messagesDone = 0
    private var isOver = false

    /// A handshake before its first message. Nil if a key is invalid. Each key has 32 bytes. `remoteStatic` is the
    /// public key that only the initiator of IK knows. The handshake fails unless both prologues are equal, byte for
    /// byte.
    public init?(
        _ pattern: Pattern, as role: Role, prologue: [UInt8], staticKey: [UInt8], ephemeralKey: [UInt8],
        remoteStatic: [UInt8]? = nil
    ) {
        let knowsResponder = pattern == .ik && role == .initiator
        guard knowsResponder == (remoteStatic != nil),
            let staticKey = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: staticKey),
            let ephemeralKey = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: ephemeralKey)
        else { return nil }
        if let remoteStatic {
            guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: remoteStatic) else { return nil }
            remoteStaticKey = key
        }
        self.pattern = pattern
        self.role = role
        self.staticKey = staticKey
        self.ephemeralKey = ephemeralKey
        symmetric = NoiseSymmetricState(protocolName: pattern.protocolName)
        symmetric.mixHash(prologue[...])
        if pattern == .ik {
            symmetric.mixHash(remoteStatic?[...] ?? staticKey.publicKey.bytes[...])
        }
    }

    /// The other side's public static key, 32 bytes. Nil until a message has delivered it, complete and authentic.
    public var remoteStatic: [UInt8]? { remoteStaticKey?.bytes }

    /// Whether all messages were written and read.
    public var isComplete: Bool { !isOver && messagesDone == pattern.messages.count }

    /// A hash of everything that was sent and agreed. When complete, it is the same on both sides, and different on
    /// every other link.
    public var handshakeHash: [UInt8] { symmetric.hash }

    /// The next message, with a payload. Nil if the handshake has ended, which also happens if the other side's key is
    /// a point of low order, with which no agreement is possible. Do not call it out of turn; this traps.
    public mutating func write(payload: [UInt8]) -> [UInt8]? {
        guard !isOver else { return nil }
        precondition(isTurn(of: role), "the other side writes the next message, or nobody does")
        return step { $0.message(payload: payload) }
    }

    /// The payload of the other side's next message. Nil if the message is not authentic or too short, which ends the
    /// handshake. A message out of turn also gives nil, and changes nothing.
    public mutating func read(_ message: ArraySlice<UInt8>) -> [UInt8]? {
        guard !isOver, isTurn(of: role.other) else { return nil }
        return step { $0.payload(of: message) }
    }

    /// The ciphers of the two directions, when complete. They begin at zero with each call, so call it once.
    public func split() -> (initiatorToResponder: NoiseCipher, responderToInitiator: NoiseCipher) {
        precondition(isComplete, "a handshake has its keys when it is complete")
        return symmetric.split()
    }

    /// A secret that only the two sides know and that encrypts no record, when complete: the third output of the HKDF
    /// that gives the ciphers their keys (4.3).
    func exportSecret() -> SymmetricKey {
        precondition(isComplete, "a handshake has its keys when it is complete")
        return symmetric.exportSecret()
    }
}

extension NoiseHandshake {
    private func isTurn(of writer: Role) -> Bool {
        messagesDone < pattern.messages.count && writer == (messagesDone.isMultiple(of: 2) ? .initiator : .responder)
    }

    /// Handles one message completely or not at all: a refused message leaves no data behind.
    private mutating func step(_ body: (inout NoiseHandshake) -> [UInt8]?) -> [UInt8]? {
        var next = self
        guard let bytes = body(&next) else {
            isOver = true
            return nil
        }
        next.messagesDone += 1
        self = next
        return bytes
    }

    private mutating func message(payload: [UInt8]) -> [UInt8]? {
        var message: [UInt8] = []
        for token in pattern.messages[messagesDone] {
            switch token {
            case .e:
                let key = ephemeralKey.publicKey.bytes
                symmetric.mixHash(key[...])
                message += key
            case .s: message += symmetric.encryptAndHash(staticKey.publicKey.bytes)
            case .ee, .es, .se, .ss: guard mixAgreement(token) else { return nil }
            }
        }
        return message + symmetric.encryptAndHash(payload)
    }

    private mutating func payload(of message: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = message
        for token in pattern.messages[messagesDone] {
            switch token {
            case .e:
                guard let key = rest.takeFirst(Self.keyBytes) else { return nil }
                symmetric.mixHash(key)
                remoteEphemeralKey = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: key)
            case .s:
                guard let sealed = rest.takeFirst(Self.keyBytes + symmetric.tagBytes),
                    let key = symmetric.decryptAndHash(sealed)
                else { return nil }
                remoteStaticKey = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: key)
            case .ee, .es, .se, .ss: guard mixAgreement(token) else { return nil }
            }
        }
        return symmetric.decryptAndHash(rest)
    }

    /// Mixes in the agreement of a token's two keys. False for a point of low order, which gives zero with every key.
    /// Noise leaves it to the implementation to refuse that (12.1). A static key that no side needs to know proves
    /// nothing.
    private mutating func mixAgreement(_ token: NoiseToken) -> Bool {
        let ownKey = token.usesStatic(of: role) ? staticKey : ephemeralKey
        guard let remoteKey = token.usesStatic(of: role.other) ? remoteStaticKey : remoteEphemeralKey,
            let secret = try? ownKey.sharedSecretFromKeyAgreement(with: remoteKey)
        else { return false }
        return secret.withUnsafeBytes { bytes in
            // swift-crypto, like CryptoKit, returns the zeros as if they were a secret. This checks all bytes, so that
            // its time reveals nothing about a secret.
            guard bytes.reduce(0, |) != 0 else { return false }
            symmetric.mixKey(bytes)
            return true
        }
    }

    private static let keyBytes = 32
}

/// A part of a message, by Noise's names (7.1). In a pair, the first letter is the initiator's key in an agreement and
/// the second the responder's: `e` for an ephemeral one, `s` for a static one.
private enum NoiseToken {
    case e
    case s
    case ee
    case es
    case se
    case ss

    /// Whether a side uses its static key in this agreement.
    func usesStatic(of role: NoiseHandshake.Role) -> Bool {
        switch self {
        case .e, .s, .ee: false
        case .es: role == .responder
        case .se: role == .initiator
        case .ss: true
        }
    }
}

extension NoiseHandshake.Pattern {
    fileprivate var protocolName: String {
        switch self {
        case .xx: "Noise_XX_25519_ChaChaPoly_SHA256"
        case .ik: "Noise_IK_25519_ChaChaPoly_SHA256"
        }
    }

    /// The messages, the initiator's first (7.5). In IK the responder's static key is known in advance.
    fileprivate var messages: [[NoiseToken]] {
        switch self {
        case .xx: [[.e], [.e, .ee, .s, .es], [.s, .se]]
        case .ik: [[.e, .es, .s, .ss], [.e, .ee, .se]]
        }
    }
}

extension NoiseHandshake.Role {
    fileprivate var other: Self { self == .initiator ? .responder : .initiator }
}

extension Curve25519.KeyAgreement.PublicKey {
    fileprivate var bytes: [UInt8] { Array(rawRepresentation) }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func takeFirst(_ count: Int) -> ArraySlice<UInt8>? {
        guard self.count >= count else { return nil }
        defer { removeFirst(count) }
        return prefix(count)
    }
}
