// SPDX-License-Identifier: Apache-2.0

/// A point in a node's time: the time since an origin that only its clock knows. It never goes back.
public typealias MeshInstant = Duration

/// A node's side of a link. It says nothing about the application's roles: a host may dial.
public enum LinkRole: UInt8, Hashable, Sendable, Codable {
    /// This side has dialled.
    case initiator = 0
    /// This side was dialled.
    case responder = 1
}

/// Why a link has ended.
public enum LinkEnd: Hashable, Sendable {
    /// This side left with a goodbye.
    case left
    /// The other side left with a goodbye.
    case goodbye(GoodbyeReason = .unspecified)
    /// The responder did not admit the initiator, or removed it.
    case refused(RefusalReason)
    /// The same peer has a newer link.
    case replaced
    /// The responder has too many open handshakes.
    case busy
    /// The channel broke: out of range, or the other program died.
    case linkLost
    /// The channel is open, but the peer does not answer.
    case silent
    /// The channel opened, but the handshake was not finished in time.
    case handshakeTimeout
    /// A relay has reported the end of the link's circuit.
    case circuit(CircuitEnd)
    /// The other side has violated the protocol.
    case misbehaved(Misbehaviour)
}

/// A violation of the protocol.
public enum Misbehaviour: Hashable, Sendable, CaseIterable {
    /// Not the expected handshake packet, or one that is not authentic: damaged, replayed or forged.
    case badHandshake
    /// The peer's key does not match its identifier, or the advertised head of it.
    case changedIdentity
    /// The responder's sealed hello has critical flags that its advertisement lacked, so an attacker has removed them.
    case strippedAdvertisement
    /// An SDU that is not a record of this link: unencrypted, damaged, replayed or from another sender.
    case forgedRecord
    /// A frame or message without the data that its type needs.
    case malformedFrame
    /// A valid frame at the wrong time or from the wrong side.
    case unexpectedFrame
    /// A fragment that overlaps, leaves a gap, or exceeds its end or `Limits.messageBytes`.
    case badFragment
    /// A reliable message while an earlier one is missing.
    case missingMessage
    /// An acknowledgement of messages that were never sent.
    case impossibleAcknowledgement
    /// A state update from a relay that the host has not signed.
    case forgedState
    /// A share that is not an element of the group, or one with which every secret would agree.
    case badProof
    /// The responder has not proved that it knows this initiator's secret.
    case unprovenHost
    /// A channel that accepts only SDUs below `Limits.leastSDUBytes`.
    case smallChannel
}
