// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The ways to hosts that people were told of: a host that is heard itself, and each relay to it, is a way of its own.
struct WaysInRange: Sendable {
    /// A way to a host.
    struct Way: Hashable, Sendable {
        /// The host, by its head.
        var host: Peer
        /// 0 where it is heard itself.
        var hops: Int
        var relay: HeardRelay?
        /// What it was heard on, where that is known.
        var bearer: Bearer?
    }

    /// By the head of who would be dialled: the host, or the relay. The radio's own table bounds it.
    private var ways: [Peer.ID: Way] = [:]

    /// A host is heard, itself or through a relay. `isNew`: it is to be told, since it was not told like that before. `former` is
    /// where the same relay has led until now.
    mutating func heard(_ heard: Way) -> (isNew: Bool, former: Way?) {
        var way = heard
        let key = way.relay?.id ?? way.host.id
        let known = ways[key]
        // A link to a relay tells of its host without a name.
        if way.host.name.isEmpty, let known, known.host.id == way.host.id { way.host.name = known.host.name }
        way.bearer = way.bearer ?? known?.bearer
        ways[key] = way
        return (known != way, known.flatMap { $0.host.id == way.host.id ? nil : $0 })
    }

    /// Whether people were told of this way as it is.
    func knows(_ heard: Way) -> Bool {
        guard var way = ways[heard.relay?.id ?? heard.host.id] else { return false }
        if heard.bearer == nil { way.bearer = nil }
        return way == heard
    }

    /// Somebody is not heard any more. The way that is lost.
    mutating func unheard(_ head: Peer.ID) -> Way? { ways.removeValue(forKey: head) }

    /// A host is gone, and all ways to it with it.
    mutating func gone(_ host: Peer.ID) -> [Way] {
        let gone = ways.filter { $0.value.host.id == host }
        for key in gone.keys { ways[key] = nil }
        return gone.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The hosts that any way leads to, by their heads.
    var hosts: [Peer] {
        Dictionary(ways.values.map { ($0.host.id, $0.host) }) { one, other in one.name.isEmpty ? other : one }
            .values.sorted { $0.id < $1.id }
    }

    /// Whether any way leads to a host.
    func contains(_ host: Peer.ID) -> Bool { ways.values.contains { $0.host.id == host } }
}

extension RelayScanResult {
    /// The way to a host that this relay is.
    var way: WaysInRange.Way {
        WaysInRange.Way(
            host: Peer(id: Identity.head(of: host.id), name: host.name), hops: hops,
            relay: HeardRelay(id: Identity.head(of: relay.id), hasRoom: hasRoom))
    }
}
