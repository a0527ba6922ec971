// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A handshake of the Noise Protocol Framework (revision 34, 5.3 "HandshakeState"): two nodes prove their static keys to
/// each other and agree on the keys of their link.
///
/// It is pure: it draws no random bytes, so its owner brings the ephemeral key, a fresh one for every handshake.
/// The initiator writes first, then both take turns until `isComplete`; `split` then gives the link's ciphers.
///
/// What a peer sends can only end a handshake. It is over with the first message that is not authentic, and gives
/// nothing but nil from then on. Before `isComplete` a payload is only as good as its place in the pattern: the first of
/// XX is neither secret nor authentic, and the first of IK can be a replay.
public struct NoiseHandshake: Sendable {
    /// Who knows whose static key before, and what is sent in which message.
    public enum Pattern: Hashable, Sendable {
        /// Neither knows the other: three messages, `Noise_XX_25519_ChaChaPoly_SHA256`.
        case xx
        /// The initiator knows the responder: two messages, `Noise_IK_25519_ChaChaPoly_SHA256`.
        case ik
    }

    /// Who began.
    public enum Role: Hashable, Sendable {
        /// It writes the first message.
        case initiator
        /// It reads the first message.
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

    /// A handshake before its first message, or nil where a key is no valid key: each has 32 bytes, and `remoteStatic`
    /// is the public key that the initiator of IK knows, and nobody else. Only equal prologues, byte for byte, shake hands.
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

    /// The other side's public static key, 32 bytes. It is nil until a message has brought it, whole and authentic.
    public var remoteStatic: [UInt8]? { remoteStaticKey?.bytes }

    /// Whether every message was written and read.
    public var isComplete: Bool { !isOver && messagesDone == pattern.messages.count }

    /// A hash of everything that was sent and agreed on: when complete, the same on both sides and on no other link.
    public var handshakeHash: [UInt8] { symmetric.hash }

    /// The next message, with a payload. It is nil if the handshake is over, which it also is when the other side's key
    /// is a point of low order, with which there is nothing to agree on. Writing out of turn is a trap.
    public mutating func write(payload: [UInt8]) -> [UInt8]? {
        guard !isOver else { return nil }
        precondition(isTurn(of: role), "the other side writes the next message, or nobody does")
        return step { $0.message(payload: payload) }
    }

    /// The payload of the other side's next message, or nil where that is not authentic or too short, and the
    /// handshake is over. A message out of turn gives nil too, and changes nothing.
    public mutating func read(_ message: ArraySlice<UInt8>) -> [UInt8]? {
        guard !isOver, isTurn(of: role.other) else { return nil }
        return step { $0.payload(of: message) }
    }

    /// The ciphers of the two directions, when complete. They begin at zero with each call: one call a handshake.
    public func split() -> (initiatorToResponder: NoiseCipher, responderToInitiator: NoiseCipher) {
        precondition(isComplete, "a handshake has its keys when it is complete")
        return symmetric.split()
    }

    /// A secret that only the two sides know and no record is sealed with, when complete: the third output of the HKDF that gives the
    /// ciphers their keys (4.3).
    func exportSecret() -> SymmetricKey {
        precondition(isComplete, "a handshake has its keys when it is complete")
        return symmetric.exportSecret()
    }
}

extension NoiseHandshake {
    private func isTurn(of writer: Role) -> Bool {
        messagesDone < pattern.messages.count && writer == (messagesDone.isMultiple(of: 2) ? .initiator : .responder)
    }

    /// One message, whole or not at all: what a refused message brought along is not kept.
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

    /// Mixes in what a token's two keys agree on. It is false for a point of low order, which agrees on zero with every
    /// key: Noise leaves it to us to refuse that (12.1), and a static key that nobody needs to hold proves nothing.
    private mutating func mixAgreement(_ token: NoiseToken) -> Bool {
        let ownKey = token.usesStatic(of: role) ? staticKey : ephemeralKey
        guard let remoteKey = token.usesStatic(of: role.other) ? remoteStaticKey : remoteEphemeralKey,
            let secret = try? ownKey.sharedSecretFromKeyAgreement(with: remoteKey)
        else { return false }
        return secret.withUnsafeBytes { bytes in
            // swift-crypto, as CryptoKit does, gives out the zeros as if they were a secret. All bytes are looked at, so
            // that the time this takes tells nothing about one.
            guard bytes.reduce(0, |) != 0 else { return false }
            symmetric.mixKey(bytes)
            return true
        }
    }

    private static let keyBytes = 32
}

/// What a message is made of, by Noise's names (7.1). Of two letters the first says which key the initiator brings to an
/// agreement and the second which the responder does: `e` an ephemeral one, `s` a static one.
private enum NoiseToken {
    case e
    case s
    case ee
    case es
    case se
    case ss

    /// Whether a side brings its static key to this agreement.
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

    /// The messages, the initiator's first (7.5). Of IK the responder's static key is known before.
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
