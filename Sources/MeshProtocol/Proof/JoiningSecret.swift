// SPDX-License-Identifier: Apache-2.0

import Crypto

/// What a node that joins has been told, by a person or with a picture, and proves to know (`docs/protocol.md`, "Challenges").
public struct JoiningSecret: Hashable, Sendable {
    /// Names the invitation that it belongs to, `Limits.invitationBytes`; empty for a PIN.
    public var invitation: [UInt8]
    /// The secret itself: a PIN's digits, or random bytes.
    public var bytes: [UInt8]
    /// The host that it is for, where that is known: nobody else is asked, and its key says who it is.
    public var host: Peer.ID?

    /// A PIN: `Limits.pinDigits` digits. Nil for anything else.
    public init?(pin: String) {
        guard pin.utf8.count == Limits.pinDigits, pin.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        (invitation, bytes) = ([], Array(pin.utf8))
    }

    /// A PIN that a random number from 0 chooses.
    public init(random number: UInt32) {
        let digits = String(number % 1_000_000)
        let zeros = String(repeating: "0", count: Limits.pinDigits - digits.count)
        (invitation, bytes) = ([], Array((zeros + digits).utf8))
    }

    /// A PIN's digits; nil for an invitation.
    public var pin: String? { invitation.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil }

    /// An invitation's secret.
    public init(invitation: [UInt8], bytes: [UInt8], host: Peer.ID?) {
        (self.invitation, self.bytes, self.host) = (invitation, bytes, host)
    }
}

/// What is proved on a link, in numbers.
enum Proof {
    /// The kind of the challenges.
    static let kind: UInt8 = 1

    /// A run on one link: it is bound to both keys, and to everything that was said in its handshake.
    static func run(
        _ side: CPace.Side, _ secret: JoiningSecret, initiator: [UInt8], responder: [UInt8], handshakeHash: [UInt8],
        ephemeral: [UInt8]
    ) -> CPace? {
        let channel = CPace.lengthed([Array("RoadMesh".utf8), initiator, responder, secret.invitation])
        // The link's own random key, for another purpose: it is drawn for this link alone, and nothing else of it is ever sent than
        // its public key.
        let random = HKDF<SHA512>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: ephemeral), info: Array("RoadMesh proof".utf8), outputByteCount: 64)
        let scalar = RistrettoElement.Scalar(uniform: random.withUnsafeBytes { Array($0) })
        return CPace(side, secret: secret.bytes, channel: channel, session: handshakeHash, scalar: scalar)
    }
}
