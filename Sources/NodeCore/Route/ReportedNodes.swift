// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The hosts that were reported to people, and the relays to them. The same host through another relay is reported
/// again.
package struct ReportedNodes: Sendable {
    /// The reported nodes. The key is the head of the node that would be dialled.
    private var nodes: [Peer.ID: HeardNode] = [:]

    package init() {}

    /// A host is heard, itself or through a relay. `isNew`: report it, since it was not reported like this before.
    /// `former` is the host to which the same relay has led until now.
    package mutating func heard(_ heard: HeardNode) -> (isNew: Bool, former: HeardNode?) {
        var node = heard
        let known = nodes[node.id]
        guard known != nil || nodes.count < NodeLimits.heardNodes else { return (false, nil) }
        // A link to a relay reports the host without a name.
        if node.host.name.isEmpty, let known, known.host.id == node.host.id { node.host.name = known.host.name }
        node.bearer = node.bearer ?? known?.bearer
        nodes[node.id] = node
        let isNew = known.map { !Self.isSame($0, node) } ?? true
        return (isNew, known.flatMap { $0.host.id == node.host.id ? nil : $0 })
    }

    /// Whether this node was reported with the same data.
    package func knows(_ heard: HeardNode) -> Bool {
        guard var node = nodes[heard.id] else { return false }
        if heard.bearer == nil { node.bearer = nil }
        return Self.isSame(node, heard)
    }

    /// A node is not heard any more. Returns the reported data of the node.
    package mutating func unheard(_ head: Peer.ID) -> HeardNode? { nodes.removeValue(forKey: head) }

    /// A host is gone, and so are all relays to it.
    package mutating func gone(_ host: Peer.ID) -> [HeardNode] {
        let gone = nodes.filter { $0.value.host.id == host }
        for key in gone.keys { nodes[key] = nil }
        return gone.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The hosts that are heard themselves or through a relay, by their heads.
    package var hosts: [Peer] {
        Dictionary(nodes.values.map { ($0.host.id, $0.host) }) { one, other in one.name.isEmpty ? other : one }
            .values.sorted { $0.id < $1.id }
    }

    /// Whether a host is heard, itself or through a relay.
    package func contains(_ host: Peer.ID) -> Bool { nodes.values.contains { $0.host.id == host } }

    /// Whether two reports look the same to people. The signal changes with every advertisement.
    private static func isSame(_ one: HeardNode, _ other: HeardNode) -> Bool {
        one.host == other.host && one.relay == other.relay && one.hops == other.hops
            && (one.relay == nil || one.hasRoom == other.hasRoom) && one.bearer == other.bearer
    }
}
