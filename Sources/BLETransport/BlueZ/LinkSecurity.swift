// SPDX-License-Identifier: Apache-2.0

/// How the link below a channel is encrypted, as the kernel tells it (BT_SECURITY of the socket).
struct LinkSecurity: Hashable, Sendable {
    /// 1 not at all, 2 with a key that anybody in the middle could have, 3 with one of legacy pairing that was compared or
    /// typed, 4 with one of LE Secure Connections that was.
    var level: UInt8
    /// Bytes of the key, 0 where the link is not encrypted.
    var keyBytes: Int

    /// The level of a bond that counts.
    static let bondLevel: UInt8 = 4
    /// A whole key. Two controllers may agree on as little as 7 bytes (Core specification, Vol 3, Part H, 2.3.4), and
    /// somebody in between can see to it that they do (KNOB). Not every kernel's own gate looks at that.
    static let wholeKeyBytes = 16

    /// Whether a bond that counts encrypts the link.
    var isOfBond: Bool { level >= Self.bondLevel && keyBytes >= Self.wholeKeyBytes }
}
