// SPDX-License-Identifier: Apache-2.0

import Crypto

/// One direction of a secured link: ChaCha20-Poly1305 with a key and a counter that is never sent (the Noise Protocol
/// Framework, revision 34, 5.1 "CipherState" and 12.3 "ChaChaPoly").
///
/// Both sides count, so what was sealed opens once and in its order: a replay, a gap and a change all fail alike.
public struct NoiseCipher: Sendable {
    /// Bytes that sealing adds at the end.
    public static let tagBytes = 16

    /// After this many messages the key becomes another one, on both sides (11.3, "Rekey"): who gets hold of a key
    /// cannot read what came before.
    static let messagesPerKey: UInt64 = 1 << 16

    private var key: SymmetricKey
    private var counter: UInt64 = 0

    init(key: SymmetricKey) {
        self.key = key
    }

    /// Encrypts the plaintext and appends the tag, which vouches for the `authenticating` bytes too. They do not
    /// travel.
    public mutating func seal(_ plaintext: [UInt8], authenticating: [UInt8] = []) -> [UInt8] {
        guard let nonce = nonce(),
            let box = try? ChaChaPoly.seal(plaintext, using: key, nonce: nonce, authenticating: authenticating)
        else { preconditionFailure("a link ends long before its counter does") }
        count()
        // As one block of memory, and not element by element.
        return box.combined.withUnsafeBytes { Array($0.dropFirst(Self.nonceBytes)) }
    }

    /// The plaintext, or nil where the bytes are not what the other side sealed next. Nothing has changed then: what
    /// it did seal next still opens.
    public mutating func open(_ sealed: ArraySlice<UInt8>, authenticating: [UInt8] = []) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, counter < .max,
            let box = try? ChaChaPoly.SealedBox(combined: nonceBytes + sealed),
            let plaintext = try? ChaChaPoly.open(box, using: key, authenticating: authenticating)
        else { return nil }
        count()
        return plaintext.withUnsafeBytes { Array($0) }
    }

    private mutating func count() {
        counter += 1
        if counter.isMultiple(of: Self.messagesPerKey) { rekey() }
    }

    /// Noise's REKEY (4.2): the first 32 bytes that the key makes of 32 zeros with the last nonce there is.
    mutating func rekey() {
        guard let last = try? ChaChaPoly.Nonce(data: [0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)),
            let box = try? ChaChaPoly.seal([UInt8](repeating: 0, count: 32), using: key, nonce: last)
        else { preconditionFailure("32 zeros can be sealed with any key") }
        key = SymmetricKey(data: box.ciphertext)
    }

    private static let nonceBytes = 12

    /// Four zero bytes, then the counter with its low byte first.
    private var nonceBytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.nonceBytes) { bytes, count in
            bytes.initialize(repeating: 0)
            UnsafeMutableRawBufferPointer(bytes).storeBytes(of: counter.littleEndian, toByteOffset: 4, as: UInt64.self)
            count = Self.nonceBytes
        }
    }

    /// Noise keeps the last value of the counter for itself.
    private func nonce() -> ChaChaPoly.Nonce? { counter < .max ? try? ChaChaPoly.Nonce(data: nonceBytes) : nil }
}
