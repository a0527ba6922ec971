// SPDX-License-Identifier: Apache-2.0

import CSodium

/// The group ristretto255 (RFC 9496): all arithmetic that a PIN needs, and the only file that knows whose it is.
///
/// Elements are kept encoded, 32 bytes each. What a peer sends need not be one: `multiplied` says so.
struct RistrettoElement: Hashable, Sendable {
    /// Its canonical encoding, as far as it is one.
    let bytes: [UInt8]

    static let byteCount = Int(CSODIUM_ELEMENT_BYTES)

    /// What a peer has sent. Nil where it has another length.
    init?(encoded bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The element that 64 uniform bytes stand for, such as a hash.
    init(uniform: [UInt8]) {
        precondition(uniform.count == CSODIUM_UNIFORM_BYTES, "an element is derived from 64 bytes")
        var element = [UInt8](repeating: 0, count: Self.byteCount)
        csodium_element(&element, uniform)
        bytes = element
    }

    /// The element times a scalar. Nil where this is no element, or the product is the identity.
    func multiplied(by scalar: Scalar) -> RistrettoElement? {
        var product = [UInt8](repeating: 0, count: Self.byteCount)
        guard csodium_multiply(&product, scalar.bytes, bytes) == 0 else { return nil }
        return RistrettoElement(encoded: product)
    }

    /// A number by the order of the group.
    struct Scalar: Sendable {
        let bytes: [UInt8]

        /// A scalar of 64 uniform bytes.
        init(uniform: [UInt8]) {
            precondition(uniform.count == CSODIUM_UNIFORM_BYTES, "a scalar is reduced from 64 bytes")
            var scalar = [UInt8](repeating: 0, count: Int(CSODIUM_SCALAR_BYTES))
            csodium_scalar(&scalar, uniform)
            bytes = scalar
        }

        /// A scalar of its 32 bytes, least significant first.
        init?(encoded bytes: [UInt8]) {
            guard bytes.count == CSODIUM_SCALAR_BYTES else { return nil }
            self.bytes = bytes
        }
    }
}

/// Whether two proofs are the same, in a time that does not tell where they differ.
func isSameProof(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && csodium_equal(one, other, UInt(one.count)) == 1
}
