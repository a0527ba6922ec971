// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// An output of a node's links (`NodeLinks`), or of its services for its peers (`NodeNetwork`). The order counts.
enum NetworkAction: Sendable {
    /// For the node's owner.
    case emit(NodeCore.Action)
    /// Decide on this event in the next step.
    case queue(PendingEvent)
    /// Drop the queued messages of a vouched link, which is about to end. Its peer sends them again.
    case dropSaid(on: MeshCore.LinkID)
    /// A message has arrived on a link.
    case received(ReceivedMessage, on: MeshCore.LinkID)
    /// The answer to a guest is about to be sent on a link, and may include the first state.
    case admitted(MeshCore.LinkID)
    /// The link to a peer has ended.
    case gone(Peer.ID)
    /// A guest's link to its host in a circuit is up.
    case circuitUp(MeshCore.LinkID)
    /// A link in a circuit is gone.
    case circuitEnded(MeshCore.LinkID)
    /// A node is heard, and its host may be joined.
    case heard(HeardNode)
    /// Report a relay.
    case report(HeardNode)
    /// The parent needs this node's slot for a relay.
    case askedForRoom(MeshCore.LinkID)
    case tell(Notice)
    /// The host has been gone for too long.
    case gaveUp(Peer)
}
