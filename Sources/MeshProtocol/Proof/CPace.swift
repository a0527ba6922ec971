// SPDX-License-Identifier: Apache-2.0

import Crypto

/// CPace (draft-irtf-cfrg-cpace, CPACE-RISTR255-SHA512). Two sides that share a short secret agree on a key. A side
/// without the secret learns only whether its one guess was right.
///
/// This is one side of one run. It draws no random bytes: its owner provides the scalar, a new one for each run.
struct CPace: Sendable {
    /// The side. The initiator's share comes first in the agreed data.
    enum Side: Sendable {
        case initiator
        case responder
    }

    /// The share that this side sends.
    let share: RistrettoElement
    private let side: Side
    private let scalar: RistrettoElement.Scalar
    private let session: [UInt8]

    /// A run with a secret. Both sides know `channel` (CI) and `session` (sid), which identify the sides and this run.
    /// Nil for an invalid scalar, which does not occur by chance.
    init?(_ side: Side, secret: [UInt8], channel: [UInt8], session: [UInt8], scalar: RistrettoElement.Scalar) {
        let generator = RistrettoElement(
            uniform: Self.hash(Self.generatorString(secret: secret, channel: channel, session: session)))
        guard let share = generator.multiplied(by: scalar) else { return nil }
        (self.side, self.share, self.scalar, self.session) = (side, share, scalar, session)
    }

    /// The result once each side has the other's share: the key, and the proofs that each side sends.
    struct Agreement: Sendable {
        /// The shared key (ISK), 64 bytes.
        let key: [UInt8]
        /// The initiator's proof, 64 bytes.
        let initiatorProof: [UInt8]
        /// The responder's proof, 64 bytes.
        let responderProof: [UInt8]
    }

    /// Agrees with the other side. `associated` is the data that each side has sent with its share (ADa, ADb). Nil if
    /// the other share is not an element, or one that gives the identity with every scalar. The run has then failed.
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
        // Key confirmation ("Key confirmation" in the draft): each side over its own message.
        let confirming = SymmetricKey(data: Self.hash(Array("CPaceMac".utf8) + session + key))
        return Agreement(
            key: key, initiatorProof: Array(HMAC<SHA512>.authenticationCode(for: said.0, using: confirming)),
            responderProof: Array(HMAC<SHA512>.authenticationCode(for: said.1, using: confirming)))
    }

    // MARK: Parts

    private static let domain = "CPaceRistretto255"
    private static let hashBlockBytes = SHA512.blockByteCount

    /// The secret fills only the first block of the hash, padded with zeros.
    static func generatorString(secret: [UInt8], channel: [UInt8], session: [UInt8]) -> [UInt8] {
        let begin = lengthed([Array(domain.utf8), secret])
        let zeros = [UInt8](repeating: 0, count: max(0, hashBlockBytes - 1 - begin.count))
        return begin + lengthed([zeros, channel, session])
    }

    /// Strings of bytes, each after its length (LEB128).
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
