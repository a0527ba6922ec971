// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A message between two devices that bond, in addition to Bluetooth's own pairing (`docs/protocol.md`, "Pairing").
public enum PairingMessage: Hashable, Sendable {
    /// The first SDU of each side: its name, and whether it has a bond with its peer.
    case hello(name: String, hasBond: Bool)
    /// The pairing has succeeded on this side.
    case verified
    /// This side does not bond, for this reason.
    case no(Reason)

    /// Why a side does not bond.
    public enum Reason: UInt8, Hashable, Sendable, CaseIterable {
        /// A reason that this version does not know.
        case unspecified = 0
        /// The person has said no.
        case refused = 1
        /// The person has not answered.
        case unanswered = 2
        /// The key is too short, or not of Secure Connections.
        case weak = 3
        /// The program was stopped.
        case left = 4
        /// Another device is wanted.
        case notMeant = 5
        /// Several devices want to bond, and it is unclear which one is wanted.
        case several = 6
    }

    private static let version: UInt8 = 1
    private static let bondFlag: UInt8 = 1

    /// The SDU.
    var bytes: [UInt8] {
        switch self {
        case .hello(let name, let hasBond): [1, Self.version, hasBond ? Self.bondFlag : 0] + Array(name.utf8)
        case .verified: [2]
        case .no(let reason): [3, reason.rawValue]
        }
    }

    /// Reads an SDU. Nil for an unknown one. Bytes after a fixed body belong to a later version and are ignored.
    init?(_ sdu: [UInt8]) {
        switch (sdu.first, sdu.count) {
        case (1, 3...(3 + Limits.nameBytes)) where sdu[1] == Self.version:
            let name = NodeName(untrusted: String(decoding: sdu[3...], as: UTF8.self)).text
            self = .hello(name: name, hasBond: sdu[2] & Self.bondFlag != 0)
        case (2, _): self = .verified
        case (3, 2...): self = .no(Reason(rawValue: sdu[1]) ?? .unspecified)
        default: return nil
        }
    }
}
