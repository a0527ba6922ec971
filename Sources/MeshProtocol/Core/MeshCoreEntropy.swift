// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// The random bytes that a link needs.
    public struct Entropy: Hashable, Sendable {
        /// A private key of 32 bytes, for this link alone.
        public var ephemeralKey: [UInt8] { Array(bytes[..<32]) }
        /// Identifies a new numbering; not 0.
        public var epoch: UInt32 {
            max(1, bytes[32...].reduce(0) { $0 << 8 | UInt32($1) })
        }

        /// Number of random bytes.
        public static let byteCount = 36
        private let bytes: [UInt8]

        /// Entropy from this many random bytes.
        public init(_ bytes: [UInt8]) {
            precondition(bytes.count == Self.byteCount, "the entropy of a link has a fixed size")
            self.bytes = bytes
        }
    }
}
