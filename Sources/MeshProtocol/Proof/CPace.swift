// SPDX-License-Identifier: Apache-2.0

import Crypto

/// CPace (draft-irtf-cfrg-cpace, CPACE-RISTR255-SHA512): two sides that have a short secret in common agree on a key, and one that
/// has it not learns nothing but whether its one guess was right.
///
/// One side of one run. It is pure: its owner brings the scalar, a fresh one for each run.
struct CPace: Sendable {
    /// Which side it is: the initiator's share stands first in what both agree on.
    enum Side: Sendable {
        case initiator
        case responder
    }

    /// What this side sends.
    let share: RistrettoElement
    private let side: Side
    private let scalar: RistrettoElement.Scalar
    private let session: [UInt8]

    /// A run with a secret; `channel` (CI) and `session` (sid) are known to both sides and stand for who they are and for this run.
    /// Nil where the scalar is no good, which chance does not bring about.
    init?(_ side: Side, secret: [UInt8], channel: [UInt8], session: [UInt8], scalar: RistrettoElement.Scalar) {
        let generator = RistrettoElement(
            uniform: Self.hash(Self.generatorString(secret: secret, channel: channel, session: session)))
        guard let share = generator.multiplied(by: scalar) else { return nil }
        (self.side, self.share, self.scalar, self.session) = (side, share, scalar, session)
    }

    /// What both sides know once each has the other's share: what each sends to prove that.
    struct Agreement: Sendable {
        /// The shared key (ISK), 64 bytes.
        let key: [UInt8]
        /// What the initiator proves itself with, 64 bytes.
        let initiatorProof: [UInt8]
        /// What the responder proves itself with, 64 bytes.
        let responderProof: [UInt8]
    }

    /// Agrees with the other side. `associated` is what either side has said with its share (ADa, ADb). Nil where its share is no
    /// element, or one that agrees on the identity with every scalar: such a run is over.
    func agree(
        with other: RistrettoElement, associated: (initiator: [UInt8], responder: [UInt8]) = ([], [])
    ) -> Agreement? {
        guard let secret = other.multiplied(by: scalar) else { return nil }
        let (first, second) = side == .initiator ? (share, other) : (other, share)
        let said = (
            Self.lengthed([first.bytes, associated.initiator]), Self.lengthed([second.bytes, associated.responder])
        )
        let label = Array("\(Self.domain)_ISK".utf8)
        let key = Self.hash(Self.lengthed([label, session, secret.bytes]) + said.0 + said.1)
        // Key confirmation ("Key confirmation" in the draft): each side over what it has sent.
        let confirming = SymmetricKey(data: Self.hash(Array("CPaceMac".utf8) + session + key))
        return Agreement(
            key: key, initiatorProof: Array(HMAC<SHA512>.authenticationCode(for: said.0, using: confirming)),
            responderProof: Array(HMAC<SHA512>.authenticationCode(for: said.1, using: confirming)))
    }

    // MARK: Parts

    private static let domain = "CPaceRistretto255"
    private static let hashBlockBytes = SHA512.blockByteCount

    /// The secret fills the hash's first block alone, with zeros behind it.
    static func generatorString(secret: [UInt8], channel: [UInt8], session: [UInt8]) -> [UInt8] {
        let begin = lengthed([Array(domain.utf8), secret])
        let zeros = [UInt8](repeating: 0, count: max(0, hashBlockBytes - 1 - begin.count))
        return begin + lengthed([zeros, channel, session])
    }

    /// Strings of bytes, each behind its length (LEB128).
    static func lengthed(_ parts: [[UInt8]]) -> [UInt8] {
        var writer = WireWriter()
        for part in parts {
            writer.varint(UInt64(part.count))
            writer.append(part)
        }
        return writer.bytes
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA512.hash(data: bytes)) }
}
