// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A node's identity: a Curve25519 key that is created at the first start and stored.
public struct Identity: Sendable {
    private let key: Curve25519.KeyAgreement.PrivateKey

    /// Length of the stored form, in bytes.
    public static let storedBytes = 32

    /// Bytes of an identifier.
    public static let idBytes = 16

    /// Bytes of an identifier that fit an advertisement: its head. A scan response has more (`docs/protocol.md`,
    /// "Advertisement").
    public static let headBytes = 4

    /// Digits of a head, which people see and compare.
    public static let headDigits = 2 * headBytes

    /// The head of an identifier. The head of a head is the same head.
    public static func head(of id: Peer.ID) -> Peer.ID {
        // Bytes are faster than characters. The result is the same only if all bytes are ASCII, as those of an
        // identifier are: other characters may combine with the next one.
        let bytes = id.utf8.prefix(headDigits + 1)
        guard bytes.count > headDigits, bytes.allSatisfy({ $0 < 0x80 }) else { return String(id.prefix(headDigits)) }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    /// The digits of a text that is an identifier or the beginning of one: 8 to 32 hexadecimal digits. No name may have
    /// this form. Nil for any other text.
    public static func digits(in text: some StringProtocol) -> Peer.ID? {
        let digits = text.lowercased()
        let isHex = digits.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        return isHex && (headDigits...2 * idBytes).contains(digits.utf8.count) ? digits : nil
    }

    /// Whether two identifiers may be equal. Each may be cut to its first digits.
    public static func mayBeSame(_ one: Peer.ID, _ other: Peer.ID) -> Bool {
        one.hasPrefix(other) || other.hasPrefix(one)
    }

    /// Creates an identity. This is the only place in this module that draws random bytes, and only for a node's first
    /// start.
    public static func make() -> Identity {
        Identity(key: Curve25519.KeyAgreement.PrivateKey())
    }

    /// A stored identity. Nil if the bytes are not a key.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == Self.storedBytes,
            let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.init(key: key)
    }

    private init(key: Curve25519.KeyAgreement.PrivateKey) {
        self.key = key
    }

    /// The private key's 32 bytes. They are secret and are stored only in the state folder, with mode 0600.
    public var stored: [UInt8] { Array(key.rawRepresentation) }

    /// The public key's 32 bytes.
    public var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// The key with which this node signs as a host (`docs/protocol.md`, "The state, once for each link"). It is
    /// derived from the identity, so that it need not be stored.
    var signingKey: Curve25519.Signing.PrivateKey? {
        let secret = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Array("RoadMesh state signing".utf8),
            outputByteCount: StateSignature.keyBytes)
        return secret.withUnsafeBytes { try? Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    }

    /// The peer identifier: the first 16 bytes of the public key's SHA-256, as 32 hexadecimal digits.
    public var peerID: String { Self.peerID(publicKey: publicKey) }

    /// The peer identifier of a public key.
    public static func peerID(publicKey: [UInt8]) -> String {
        var hash = SHA256()
        publicKey.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Hex.text(hash.finalize().prefix(idBytes))
    }
}
