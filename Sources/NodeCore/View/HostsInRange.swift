// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The hosts in range, each with the relays to it. Some hosts are heard directly, others only through relays.
struct HostsInRange: Sendable {
    private(set) var hosts: [NodeView.HeardHost] = []

    /// A host is heard, or a relay that leads to it.
    mutating func heard(_ node: HeardNode) -> NodeWatch.Change {
        let (peer, rssi, hops) = (node.host, node.rssi, node.hops)
        let place = hosts.firstIndex { $0.id == peer.id }
        let name = UntrustedText.shown(peer.name)
        var host = place.map { hosts[$0] } ?? NodeView.HeardHost(id: peer.id, name: name, rssi: nil, hops: hops)
        if let relay = node.relay {
            // A relay has less room for the name than the host itself.
            if host.hops > 0 { host.name = name }
            host.relays.removeAll { $0.id == relay }
            host.relays.append(.init(id: relay, hops: hops, room: node.hasRoom, rssi: rssi))
            host.relays = Array(host.relays.suffix(NodeLimits.shownRelays)).sorted {
                ($0.hops, $0.id) < ($1.hops, $1.id)
            }
            if host.hops > 0 { host.hops = host.relays.first?.hops ?? hops }
        } else {
            // Not every node reports which relay it is.
            (host.name, host.rssi, host.hops) = (name, rssi, hops)
        }
        guard let place else {
            hosts.append(host)
            if hosts.count > NodeLimits.shownHosts { hosts.removeFirst() }
            return .now
        }
        guard hosts[place] != host else { return .none }
        hosts[place] = host
        return .soon
    }

    /// Records that a host, or a relay to it, has gone out of range.
    mutating func lost(_ id: Peer.ID, via relay: Peer.ID?) {
        guard let place = hosts.firstIndex(where: { $0.id == id }) else { return }
        var host = hosts[place]
        if let relay { host.relays.removeAll { $0.id == relay } } else { host.rssi = nil }
        let isHeard = host.hops == 0 && relay != nil
        host.hops = isHeard ? 0 : host.relays.first?.hops ?? 0
        if isHeard || !host.relays.isEmpty { hosts[place] = host } else { hosts.remove(at: place) }
    }
}
