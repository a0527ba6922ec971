// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What the features hear of the network: peers, messages and events, and nothing of a radio.
public enum MultipeerEvent: Hashable, Sendable {
    /// A host is in earshot.
    case peerDiscovered(Peer)
    /// A host is not heard any more.
    case peerLost(Peer)
    /// A link to a peer is up.
    case peerConnected(Peer)
    /// A link to a peer is gone.
    case peerDisconnected(Peer, reason: DisconnectReason = .linkLost)
    /// A message has arrived.
    case messageReceived(MeshMessage, from: Peer)
    /// A message is safe with its receiver, for good.
    case messageDelivered(MeshMessage, to: Peer.ID)
    /// A message could not be sent.
    case sendFailed(MeshMessage, to: Peer)
    /// The radio is gone, or everybody was lost at once.
    case networkUnavailable
    /// The session is over for good.
    case sessionInvalidated
}

/// Why a link is gone, in `docs/using.md`'s terms.
public enum DisconnectReason: String, Hashable, Sendable, Codable {
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
        case .busy, .linkLost, .silent, .handshakeTimeout, .misbehaved: self = .linkLost
        }
    }
}
