// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A secret that a person or a QR code has given to a joining node, and that the node proves (`docs/protocol.md`,
/// "Challenges").
public struct JoiningSecret: Hashable, Sendable {
    /// Identifies its invitation, `Limits.invitationBytes`. Empty for a PIN.
    public var invitation: [UInt8]
    /// The secret itself: a PIN's digits, or random bytes.
    public var bytes: [UInt8]
    /// The host of the secret, if it is known. The node joins no other host, and recognises this one by its key.
    public var host: Peer.ID?

    /// A PIN: `Limits.pinDigits` digits. Nil for anything else.
    public init?(pin: String) {
        guard pin.utf8.count == Limits.pinDigits, pin.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        (invitation, bytes) = ([], Array(pin.utf8))
    }

    /// The PIN for a random number from 0.
    public init(random number: UInt32) {
        let digits = String(number % 1_000_000)
        let zeros = String(repeating: "0", count: Limits.pinDigits - digits.count)
        (invitation, bytes) = ([], Array((zeros + digits).utf8))
    }

    /// A PIN's digits. Nil for an invitation.
    public var pin: String? { invitation.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil }

    /// An invitation's secret.
    public init(invitation: [UInt8], bytes: [UInt8], host: Peer.ID?) {
        (self.invitation, self.bytes, self.host) = (invitation, bytes, host)
    }
}

/// Constants and calculation of a proof on a link.
enum Proof {
    /// The kind of challenge for a proof.
    static let kind: UInt8 = 1

    /// A run on one link. It is bound to both keys and to the whole handshake.
    static func run(
        _ side: CPace.Side, _ secret: JoiningSecret, initiator: [UInt8], responder: [UInt8], handshakeHash: [UInt8],
        ephemeral: [UInt8]
    ) -> CPace? {
        let channel = CPace.lengthed([Array("RoadMesh".utf8), initiator, responder, secret.invitation])
        // Derived from the link's own random key for another purpose. That key is used for this link alone, and only
        // its public key is ever sent.
        let random = HKDF<SHA512>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: ephemeral), info: Array("RoadMesh proof".utf8), outputByteCount: 64)
        let scalar = RistrettoElement.Scalar(uniform: random.withUnsafeBytes { Array($0) })
        return CPace(side, secret: secret.bytes, channel: channel, session: handshakeHash, scalar: scalar)
    }
}
