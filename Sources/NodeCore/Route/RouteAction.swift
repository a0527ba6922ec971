// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// The inputs and outputs of the route.

extension Route {
    /// How a host is reached.
    enum Path: Hashable, Sendable {
        /// The host itself is dialled.
        case direct
        /// The relay with this head is dialled.
        case relay(Peer.ID)
        /// A circuit over a link that is up.
        case circuit(CircuitPlace)
    }

    /// Actions, to be performed in this order.
    enum Action: Sendable {
        /// Scan, from the beginning.
        case scan
        case stopScanning
        case dial(Int, head: Peer.ID, expecting: Peer.ID)
        case cancelDial(Int)
        case openCircuit(CircuitPlace, dial: Int, expecting: Peer.ID)
        /// End a link.
        case leave(MeshCore.LinkID)
        /// End the link to this host, if there is one.
        case disconnect(Peer.ID)
        /// A route to the host over this many relays is up: nodes behind this one may use it.
        case lead(hops: Int)
        /// No route is up.
        case down
        /// A node is heard, and its host may be joined.
        case heard(HeardNode)
        /// A host may be joined through a relay that is linked. No radio has heard this relay just now.
        case reachable(HeardNode)
        /// Report a relay.
        case report(HeardNode)
        /// An invitation has failed. The next step decides what follows.
        case failed(InviteFailure)
        /// Report the loss of this host, which no other bearer has replaced.
        case lost(Peer)
        case show(ConnectionState)
        /// The host has been gone for too long.
        case giveUp(Peer)
        /// Ask the person whether to join this host.
        case offer(Peer)
    }

    /// The data of the node that the route reads.
    struct Surroundings: Sendable {
        var mesh: MeshCore
        /// A relay with nodes behind it needs a parent with fewer hops than this while it looks for another.
        var ceiling: Int?
        /// Whether nodes are behind this one.
        var carriesOthers: Bool
        var now: MeshInstant

        var isLinked: Bool { mesh.host != nil }
    }
}
