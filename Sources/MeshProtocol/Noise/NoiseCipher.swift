// SPDX-License-Identifier: Apache-2.0

import CSodium
import Crypto

/// One direction of a secured link: ChaCha20-Poly1305 with a key and a counter that is never sent (the Noise Protocol
/// Framework, revision 34, 5.1 "CipherState" and 12.3 "ChaChaPoly").
///
/// Both sides count, so a ciphertext can be decrypted only once and in order. A replay, a gap and a change all fail in
/// the same way.
public struct NoiseCipher: Sendable {
    /// Bytes that encryption adds at the end.
    public static let tagBytes = Int(CSODIUM_TAG_BYTES)

    /// Number of messages after which both sides replace the key (11.3, "Rekey"). An attacker with a key cannot read
    /// earlier messages.
    static let messagesPerKey: UInt64 = 1 << 16

    private var key: SymmetricKey
    private var counter: UInt64 = 0

    init(key: SymmetricKey) {
        precondition(key.bitCount == 8 * CSODIUM_KEY_BYTES, "a key of ChaCha20-Poly1305 has 32 bytes")
        precondition(Self.hasStarted, "this system gives no random numbers")
        self.key = key
    }

    /// Lets libsodium detect the processor's features, once.
    private static let hasStarted = csodium_start() == 0

    /// Encrypts the plaintext and appends the tag, which also authenticates the `authenticating` bytes. The result does
    /// not contain these bytes.
    public mutating func seal(_ plaintext: [UInt8], authenticating: [UInt8] = []) -> [UInt8] {
        // Noise reserves the last value of the counter.
        precondition(counter < .max, "a link ends long before its counter does")
        let sealed = sealed(plaintext, authenticating: authenticating, counter: counter)
        count()
        return sealed
    }

    /// The plaintext. Nil if the bytes are not the next ciphertext of the other side. In this case the state is
    /// unchanged, and the right one can still be decrypted.
    public mutating func open(_ sealed: ArraySlice<UInt8>, authenticating: [UInt8] = []) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, counter < .max else { return nil }
        var isAuthentic = false
        // Capacity of at least one byte: all threads share the empty array, and this initializer writes to it.
        let capacity = max(1, sealed.count - Self.tagBytes)
        let plaintext = [UInt8](unsafeUninitializedCapacity: capacity) { plaintext, count in
            isAuthentic = withBytes(of: sealed) { sealed, key in
                csodium_open(
                    plaintext.baseAddress, sealed.baseAddress, UInt(sealed.count), authenticating,
                    UInt(authenticating.count), counter, key) == 0
            }
            count = isAuthentic ? sealed.count - Self.tagBytes : 0
        }
        guard isAuthentic else { return nil }
        count()
        return plaintext
    }

    private func sealed(_ plaintext: [UInt8], authenticating: [UInt8], counter: UInt64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: plaintext.count + Self.tagBytes) { sealed, count in
            withBytes(of: plaintext[...]) { plaintext, key in
                csodium_seal(
                    sealed.baseAddress, plaintext.baseAddress, UInt(plaintext.count), authenticating,
                    UInt(authenticating.count), counter, key)
            }
            count = plaintext.count + Self.tagBytes
        }
    }

    /// Calls `body` with pointers to the bytes and the key, without a copy.
    private func withBytes<Result>(
        of bytes: ArraySlice<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, UnsafePointer<UInt8>) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            key.withUnsafeBytes { key in
                guard let key = key.assumingMemoryBound(to: UInt8.self).baseAddress else {
                    preconditionFailure("a key has bytes")
                }
                return body(bytes, key)
            }
        }
    }

    private mutating func count() {
        counter += 1
        if counter.isMultiple(of: Self.messagesPerKey) { rekey() }
    }

    /// Noise's REKEY (4.2): the first 32 bytes of the encryption of 32 zeros with the key and the highest nonce.
    mutating func rekey() {
        let zeros = [UInt8](repeating: 0, count: Int(CSODIUM_KEY_BYTES))
        key = SymmetricKey(data: sealed(zeros, authenticating: [], counter: .max).prefix(zeros.count))
    }
}
