// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The common state of a handshake: a hash of everything that was sent, and a key that includes every agreement (the
/// Noise Protocol Framework, revision 34, 5.2 "SymmetricState", with SHA-256).
struct NoiseSymmetricState: Sendable {
    private(set) var hash: [UInt8]
    private var chainingKey: SymmetricKey
    /// Nil before the first agreement. Until then data are sent unencrypted.
    private var cipher: NoiseCipher?

    /// Begins with the protocol's name. It has the length of a hash, so Noise uses it unchanged.
    init(protocolName: String) {
        hash = Array(protocolName.utf8)
        precondition(hash.count == SHA256.byteCount, "a name of another length would have to be padded or hashed")
        chainingKey = SymmetricKey(data: hash)
    }

    /// Bytes that `encryptAndHash` adds, and `decryptAndHash` removes, at this point.
    var tagBytes: Int { cipher == nil ? 0 : NoiseCipher.tagBytes }

    mutating func mixKey(_ secret: UnsafeRawBufferPointer) {
        let keys = derive(from: secret)
        chainingKey = keys.first
        cipher = NoiseCipher(key: keys.second)
    }

    mutating func mixHash(_ data: ArraySlice<UInt8>) {
        var next = SHA256()
        next.update(data: hash)
        next.update(data: data)
        hash = Array(next.finalize())
    }

    mutating func encryptAndHash(_ plaintext: [UInt8]) -> [UInt8] {
        let sealed = cipher?.seal(plaintext, authenticating: hash) ?? plaintext
        mixHash(sealed[...])
        return sealed
    }

    /// The plaintext. Nil if the bytes are not authentic.
    mutating func decryptAndHash(_ sealed: ArraySlice<UInt8>) -> [UInt8]? {
        guard let plaintext = cipher == nil ? Array(sealed) : cipher?.open(sealed, authenticating: hash) else {
            return nil
        }
        mixHash(sealed)
        return plaintext
    }

    /// The ciphers of the two directions, the initiator's first.
    func split() -> (NoiseCipher, NoiseCipher) {
        let keys = derive(from: UnsafeRawBufferPointer(start: nil, count: 0))
        return (NoiseCipher(key: keys.first), NoiseCipher(key: keys.second))
    }

    /// A secret in addition to the keys of the two directions: the third output of the HKDF that gives these keys.
    func exportSecret() -> SymmetricKey {
        let (extracted, _, second) = outputs(from: UnsafeRawBufferPointer(start: nil, count: 0))
        return Self.code(using: extracted) { code in
            second.withUnsafeBytes { code.update(data: $0) }
            code.update(data: [3])
        }
    }

    private func derive(from secret: UnsafeRawBufferPointer) -> (first: SymmetricKey, second: SymmetricKey) {
        let (_, first, second) = outputs(from: secret)
        return (first, second)
    }

    /// Noise's HKDF with two outputs (4.3) and the key that they are derived from. It equals RFC 5869's HKDF with the
    /// chaining key as the salt and without information. It is built from HMAC here, so that no key is ever in an
    /// array: a `SymmetricKey` is wiped when it is released.
    private func outputs(
        from secret: UnsafeRawBufferPointer
    ) -> (extracted: SymmetricKey, first: SymmetricKey, second: SymmetricKey) {
        let extracted = Self.code(using: chainingKey) { $0.update(data: secret) }
        let first = Self.code(using: extracted) { $0.update(data: [1]) }
        let second = Self.code(using: extracted) { code in
            first.withUnsafeBytes { code.update(data: $0) }
            code.update(data: [2])
        }
        return (extracted, first, second)
    }

    private static func code(using key: SymmetricKey, of feed: (inout HMAC<SHA256>) -> Void) -> SymmetricKey {
        var code = HMAC<SHA256>(key: key)
        feed(&code)
        return SymmetricKey(data: code.finalize())
    }
}
