// SPDX-License-Identifier: Apache-2.0

import CSodium
import Crypto

/// One direction of a secured link: ChaCha20-Poly1305 with a key and a counter that is never sent (the Noise Protocol
/// Framework, revision 34, 5.1 "CipherState" and 12.3 "ChaChaPoly").
///
/// Both sides count, so what was sealed opens once and in its order: a replay, a gap and a change all fail alike.
public struct NoiseCipher: Sendable {
    /// Bytes that sealing adds at the end.
    public static let tagBytes = Int(CSODIUM_TAG_BYTES)

    /// After this many messages the key becomes another one, on both sides (11.3, "Rekey"): who gets hold of a key
    /// cannot read what came before.
    static let messagesPerKey: UInt64 = 1 << 16

    private var key: SymmetricKey
    private var counter: UInt64 = 0

    init(key: SymmetricKey) {
        precondition(key.bitCount == 8 * CSODIUM_KEY_BYTES, "a key of ChaCha20-Poly1305 has 32 bytes")
        precondition(Self.hasStarted, "this system gives no random numbers")
        self.key = key
    }

    /// libsodium has looked at the processor, once.
    private static let hasStarted = csodium_start() == 0

    /// Encrypts the plaintext and appends the tag, which vouches for the `authenticating` bytes too. They do not
    /// travel.
    public mutating func seal(_ plaintext: [UInt8], authenticating: [UInt8] = []) -> [UInt8] {
        // Noise keeps the last value of the counter for itself.
        precondition(counter < .max, "a link ends long before its counter does")
        let sealed = sealed(plaintext, authenticating: authenticating, counter: counter)
        count()
        return sealed
    }

    /// The plaintext, or nil where the bytes are not what the other side sealed next. Nothing has changed then: what
    /// it did seal next still opens.
    public mutating func open(_ sealed: ArraySlice<UInt8>, authenticating: [UInt8] = []) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, counter < .max else { return nil }
        var isAuthentic = false
        // Room for one byte at least: an array of none is one that all threads share, and this initializer writes to it.
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

    /// What is sealed or opened, and the key, where they are.
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

    /// Noise's REKEY (4.2): the first 32 bytes that the key makes of 32 zeros with the last nonce there is.
    mutating func rekey() {
        let zeros = [UInt8](repeating: 0, count: Int(CSODIUM_KEY_BYTES))
        key = SymmetricKey(data: sealed(zeros, authenticating: [], counter: .max).prefix(zeros.count))
    }
}
