// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What the features hear of the network: peers, messages and events, and nothing of a radio.
public enum MultipeerEvent: Hashable, Sendable {
    /// A host is in range.
    case peerDiscovered(Peer)
    /// A host is not heard any more.
    case peerLost(Peer)
    /// A link to a peer is up.
    case peerConnected(Peer)
    /// A link to a peer is gone.
    case peerDisconnected(DisconnectedPeer)
    /// A message has arrived.
    case messageReceived(MeshMessage, from: Peer)
    /// A message is safe with its receiver, for good.
    case messageDelivered(MeshMessage, to: Peer.ID)
    /// A message could not be sent, to whom and why.
    case sendFailed(MeshMessage, SendError)
    /// The radio is gone, or everybody was lost at once.
    case networkUnavailable
    /// The session is over for good.
    case sessionInvalidated

    /// A link to a peer is gone, and why.
    public static func peerDisconnected(_ peer: Peer, reason: DisconnectReason = .linkLost) -> Self {
        .peerDisconnected(DisconnectedPeer(peer: peer, reason: reason))
    }
}

/// A peer whose link is gone, and why. It reads like the peer itself.
@dynamicMemberLookup
public struct DisconnectedPeer: Hashable, Sendable {
    /// Who.
    public let peer: Peer
    /// Why.
    public let reason: DisconnectReason

    /// What the peer is called, and by what.
    public subscript<Value>(dynamicMember member: KeyPath<Peer, Value> & Sendable) -> Value { peer[keyPath: member] }
}

extension [Peer] {
    /// Removes the peer with this identifier, where it is there. Returns it.
    @discardableResult
    public mutating func remove(id: Peer.ID) -> Peer? {
        firstIndex { $0.id == id }.map { remove(at: $0) }
    }
}

/// Why a message could not be sent.
public struct SendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What stood in the way.
    public enum Cause: String, Hashable, Sendable {
        /// There is no link, and the message does not wait for one.
        case noLink
        /// As much waits for this peer as its conversation takes.
        case full
        /// The disk does not take it.
        case notStored
    }

    /// Who does not get it.
    public let peer: Peer
    /// What stood in the way.
    public let cause: Cause

    /// A failure.
    public init(_ cause: Cause, to peer: Peer) {
        self.cause = cause
        self.peer = peer
    }

    /// The cause, and for whom.
    public var description: String { "\(cause.rawValue): \(peer)" }
}

/// Why a link is gone, in `docs/using.md`'s terms.
public enum DisconnectReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The peer left and said so, or we did.
    case goodbye
    /// The link broke: a tunnel, or the other program died.
    case linkLost
    /// The host does not want this guest.
    case refused
    /// The same peer came back by a newer link.
    case replaced
}

extension DisconnectReason {
    /// What the end of a link means to people.
    public init(_ end: LinkEnd) {
        switch end {
        case .left, .goodbye: self = .goodbye
        case .refused: self = .refused
        case .replaced: self = .replaced
        case .busy, .linkLost, .silent, .circuit, .handshakeTimeout, .misbehaved: self = .linkLost
        }
    }
}
