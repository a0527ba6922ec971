// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// The links by their peers.
    struct PeerLinks: Sendable {
        /// The link to each connected peer.
        var ofPeer: [Peer.ID: LinkID] = [:]
        /// The link to each node behind this one.
        var ofChild: [Peer.ID: LinkID] = [:]
        /// The link to the host that this node has joined.
        var toHost: LinkID?
    }
}
