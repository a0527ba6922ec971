// SPDX-License-Identifier: Apache-2.0

/// A point in a node's time: what has passed since an origin that only its clock knows. It never goes back.
public typealias MeshInstant = Duration

/// Which side of a link a node is. It says nothing about what the application above makes of it: a host may dial.
public enum LinkRole: UInt8, Hashable, Sendable, Codable {
    /// It has dialled.
    case initiator = 0
    /// It was dialled.
    case responder = 1
}

/// Why a link has ended.
public enum LinkEnd: Hashable, Sendable {
    /// We left, and said so.
    case left
    /// The other side left, and said so.
    case goodbye(GoodbyeReason = .unspecified)
    /// The responder did not admit the initiator, or sent it away.
    case refused(RefusalReason)
    /// The same peer came in by a newer link.
    case replaced
    /// The responder has too many handshakes under way.
    case busy
    /// The channel broke: out of reach, or the other program died.
    case linkLost
    /// The channel stands, but nobody answers on it.
    case silent
    /// The channel opened, but nobody finished the handshake.
    case handshakeTimeout
    /// The circuit that it was in is over, by a relay's word.
    case circuit(CircuitEnd)
    /// The other side broke the protocol.
    case misbehaved(Misbehaviour)
}

/// How a peer breaks the protocol.
public enum Misbehaviour: Hashable, Sendable, CaseIterable {
    /// Something else than the handshake packet that is due, or one that is not authentic: damaged, replayed, forged.
    case badHandshake
    /// Another key than the one that this identifier, or the advertised head of it, stands for.
    case changedIdentity
    /// The responder's sealed hello has critical flags that its advertisement did not have: somebody took them out.
    case strippedAdvertisement
    /// An SDU that is no record of this link: in the clear, damaged, replayed or from somebody else.
    case forgedRecord
    /// A frame or a message that lacks what its type needs.
    case malformedFrame
    /// A good frame at the wrong time or from the wrong side.
    case unexpectedFrame
    /// A fragment that overlaps, leaves something out, or goes beyond its end or `Limits.messageBytes`.
    case badFragment
    /// A reliable message while one before it is missing.
    case missingMessage
    /// An acknowledgement of what was never sent.
    case impossibleAcknowledgement
    /// An update of the state, passed on by a relay, that the host has not signed.
    case forgedState
    /// A share that is no element of the group, or with which everybody would agree.
    case badProof
    /// The responder has not proved that it knows what this initiator was told to ask for.
    case unprovenHost
    /// A channel that takes SDUs of less than `Limits.leastSDUBytes`.
    case smallChannel
}
