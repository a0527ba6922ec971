// SPDX-License-Identifier: Apache-2.0

/// The links of a node by the peers at their ends.
struct PeerLinks: Sendable {
    typealias LinkID = MeshCore.LinkID

    /// The link to each connected peer.
    private var ofPeer: [Peer.ID: LinkID] = [:]
    /// The link to each node behind this one.
    private var ofChild: [Peer.ID: LinkID] = [:]
    /// The link to the host that this node has joined.
    private(set) var toHost: LinkID?

    // MARK: Questions

    /// The connected peers.
    var peers: [Peer.ID] { Array(ofPeer.keys) }

    /// Number of connected peers.
    var count: Int { ofPeer.count }

    /// The nodes behind this one.
    var children: some Collection<Peer.ID> { ofChild.keys }

    /// The links to the nodes behind this one, in order.
    var toChildren: [LinkID] { ofChild.values.sorted() }

    /// All links to peers and to nodes behind this one, in order.
    var all: [LinkID] { (Array(ofPeer.values) + Array(ofChild.values)).sorted() }

    /// The link to a peer.
    func link(to peer: Peer.ID) -> LinkID? { ofPeer[peer] }

    /// The link that carries a conversation. A peer has at most one, in either role.
    func link(of key: ConversationKey, _ links: LinkSlots) -> LinkID? {
        ofPeer[key.peer].flatMap { links.conversation(on: $0) == key ? $0 : nil }
    }

    /// The link to the next node on the route to the host.
    func uplink(_ links: LinkSlots) -> LinkID? { toHost.map { links.carrier(of: $0) ?? $0 } }

    /// The peers that are connected in circuits, or those with channels of their own.
    func connected(inCircuits: Bool, _ links: LinkSlots) -> [Peer.ID] {
        ofPeer.filter { (links.carrier(of: $0.value) != nil) == inCircuits }.map(\.key)
    }

    /// Number of peers that are connected in circuits on a link.
    func count(over carrier: LinkID, _ links: LinkSlots) -> Int {
        ofPeer.values.count { links.carrier(of: $0) == carrier }
    }

    // MARK: Events

    /// A link to a peer is up.
    mutating func connected(_ peer: Peer.ID, on id: LinkID, as role: LinkRole) {
        ofPeer[peer] = id
        if role == .initiator { toHost = id }
    }

    /// A link to a node behind this one is up.
    mutating func childConnected(_ peer: Peer.ID, on id: LinkID) { ofChild[peer] = id }

    /// A link has ended, with this peer, if one was proved. Returns whether it was the link to a connected peer.
    mutating func ended(_ id: LinkID, with peer: Peer.ID?) -> Bool {
        if toHost == id { toHost = nil }
        guard let peer else { return false }
        if ofChild[peer] == id { ofChild[peer] = nil }
        guard ofPeer[peer] == id else { return false }
        ofPeer[peer] = nil
        return true
    }
}
