// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The routes to hosts that were shown. A host that is heard directly and each relay to it are separate routes.
struct WaysInRange: Sendable {
    /// A route to a host.
    struct Way: Hashable, Sendable {
        /// The host, with its head as the identifier.
        var host: Peer
        /// The number of hops; 0 if the host is heard directly.
        var hops: Int
        var relay: HeardRelay?
        /// The bearer on which it was heard, if known.
        var bearer: Bearer?
    }

    /// The routes, by the head of the node to dial: the host or the relay. The radio's table bounds the number.
    private var ways: [Peer.ID: Way] = [:]

    /// A host was heard, directly or through a relay. `isNew` is true if the route was not shown in this form before.
    /// `former` is the route of the same relay to another host.
    mutating func heard(_ heard: Way) -> (isNew: Bool, former: Way?) {
        var way = heard
        let key = way.relay?.id ?? way.host.id
        let known = ways[key]
        // A link to a relay reports the host without its name.
        if way.host.name.isEmpty, let known, known.host.id == way.host.id { way.host.name = known.host.name }
        way.bearer = way.bearer ?? known?.bearer
        ways[key] = way
        return (known != way, known.flatMap { $0.host.id == way.host.id ? nil : $0 })
    }

    /// Whether this route was shown in this form.
    func knows(_ heard: Way) -> Bool {
        guard var way = ways[heard.relay?.id ?? heard.host.id] else { return false }
        if heard.bearer == nil { way.bearer = nil }
        return way == heard
    }

    /// Removes and returns the route through a node that is not heard any more.
    mutating func unheard(_ head: Peer.ID) -> Way? { ways.removeValue(forKey: head) }

    /// Removes and returns all routes to a host.
    mutating func gone(_ host: Peer.ID) -> [Way] {
        let gone = ways.filter { $0.value.host.id == host }
        for key in gone.keys { ways[key] = nil }
        return gone.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The hosts of all routes.
    var hosts: [Peer] {
        Dictionary(ways.values.map { ($0.host.id, $0.host) }) { one, other in one.name.isEmpty ? other : one }
            .values.sorted { $0.id < $1.id }
    }

    /// Whether there is a route to a host.
    func contains(_ host: Peer.ID) -> Bool { ways.values.contains { $0.host.id == host } }
}

extension RelayScanResult {
    /// The route through this relay to its host.
    var way: WaysInRange.Way {
        WaysInRange.Way(
            host: Peer(id: Identity.head(of: host.id), name: host.name), hops: hops,
            relay: HeardRelay(id: Identity.head(of: relay.id), hasRoom: hasRoom))
    }
}
