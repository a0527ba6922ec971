// SPDX-License-Identifier: Apache-2.0

import CSodium

/// The group ristretto255 (RFC 9496): all arithmetic of a proof. Only this file knows which library computes it.
///
/// Elements are stored encoded, 32 bytes each. A peer's bytes may not be an element; `multiplied` checks this.
struct RistrettoElement: Hashable, Sendable {
    /// The canonical encoding of the element.
    let bytes: [UInt8]

    static let byteCount = Int(CSODIUM_ELEMENT_BYTES)

    /// The bytes of a peer. Nil with another length.
    init?(encoded bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The element for 64 uniform bytes, such as a hash.
    init(uniform: [UInt8]) {
        precondition(uniform.count == CSODIUM_UNIFORM_BYTES, "an element is derived from 64 bytes")
        var element = [UInt8](repeating: 0, count: Self.byteCount)
        csodium_element(&element, uniform)
        bytes = element
    }

    /// The element times a scalar. Nil if this is not an element, or the product is the identity.
    func multiplied(by scalar: Scalar) -> RistrettoElement? {
        var product = [UInt8](repeating: 0, count: Self.byteCount)
        guard csodium_multiply(&product, scalar.bytes, bytes) == 0 else { return nil }
        return RistrettoElement(encoded: product)
    }

    /// A number modulo the order of the group.
    struct Scalar: Sendable {
        let bytes: [UInt8]

        /// A scalar from 64 uniform bytes.
        init(uniform: [UInt8]) {
            precondition(uniform.count == CSODIUM_UNIFORM_BYTES, "a scalar is reduced from 64 bytes")
            var scalar = [UInt8](repeating: 0, count: Int(CSODIUM_SCALAR_BYTES))
            csodium_scalar(&scalar, uniform)
            bytes = scalar
        }

        /// A scalar from its 32 bytes, least significant first.
        init?(encoded bytes: [UInt8]) {
            guard bytes.count == CSODIUM_SCALAR_BYTES else { return nil }
            self.bytes = bytes
        }
    }
}

/// Whether two proofs are equal, in constant time.
func isSameProof(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && csodium_equal(one, other, UInt(one.count)) == 1
}
