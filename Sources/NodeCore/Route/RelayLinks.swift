// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A guest's links to relays, the routes behind them, and how long its links in their circuits are up.
struct RelayLinks: Sendable {
    /// A relay that this node has dialled.
    struct Relay: Hashable, Sendable {
        var peer: Peer
        var route: MeshProtocol.Route?
        /// The host of the relay's hello, which agrees with its advertisement.
        var host: Peer.ID?
        /// Signal strength in dBm, if the radio knows it.
        var rssi: Int?
        /// The time since which this node does not use the relay. Nil while one of its links goes over the relay.
        var idleSince: MeshInstant?
        /// When the node checks again whether other nodes still use the relay.
        var looksAgain: MeshInstant?

        /// When the node leaves the relay.
        var deadline: MeshInstant? { looksAgain ?? idleSince.map { $0 + NodeLimits.idleCarrier } }
    }

    private var relays: [MeshCore.LinkID: Relay] = [:]
    /// The time since which a link in a circuit is up.
    private var upSince: [MeshCore.LinkID: MeshInstant] = [:]

    /// The links, in order.
    var links: [MeshCore.LinkID] { relays.keys.sorted() }

    /// The relay on a link.
    subscript(link: MeshCore.LinkID) -> Relay? { relays[link] }

    /// A dialled relay is linked. The circuit for which it was dialled may not be needed any more.
    mutating func linked(_ peer: Peer, _ route: MeshProtocol.Route, on id: MeshCore.LinkID, now: MeshInstant) {
        assert(relays[id] == nil, "a link leads to one relay")
        relays[id] = Relay(peer: peer, route: route, host: route.host, idleSince: now)
    }

    /// A relay reports its route. Returns false if it leads to another host than its hello.
    mutating func reports(_ route: MeshProtocol.Route?, on id: MeshCore.LinkID) -> Bool {
        if let route, let host = relays[id]?.host, host != route.host { return false }
        relays[id]?.route = route
        return true
    }

    mutating func measured(_ rssi: Int?, on id: MeshCore.LinkID) { relays[id]?.rssi = rssi }

    mutating func lost(_ id: MeshCore.LinkID) { relays[id] = nil }

    /// A link to a relay with a route to a host. Relays in a pause do not count.
    func leading(
        to host: Peer.ID, except isLeftAlone: (Peer.ID) -> Bool
    ) -> (link: MeshCore.LinkID, route: MeshProtocol.Route)? {
        for (id, relay) in relays.sorted(by: { $0.key < $1.key }) {
            if let route = relay.route, Identity.mayBeSame(route.host, host), !isLeftAlone(relay.peer.id) {
                return (id, route)
            }
        }
        return nil
    }

    // MARK: Circuits

    /// A circuit opens over the link to a relay.
    mutating func circuitOpened(over carrier: MeshCore.LinkID) {
        relays[carrier]?.idleSince = nil
        relays[carrier]?.looksAgain = nil
    }

    mutating func circuitUp(_ id: MeshCore.LinkID, now: MeshInstant) { upSince[id] = now }

    mutating func circuitClosed(_ id: MeshCore.LinkID) { upSince[id] = nil }

    /// Whether a link in a circuit was up for a while.
    func hasLasted(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        upSince[id].map { now - $0 >= NodeLimits.lastingCircuit } == true
    }

    // MARK: Idle relays

    /// This node does not use a relay any more.
    mutating func isIdle(_ id: MeshCore.LinkID, since now: MeshInstant) {
        if relays[id]?.idleSince == nil { relays[id]?.idleSince = now }
    }

    /// The next time at which a relay may be left.
    var deadline: MeshInstant? {
        relays.isEmpty ? nil : relays.values.lazy.compactMap(\.deadline).min()
    }

    /// The links to relays that were not used for long enough.
    func idle(now: MeshInstant) -> [MeshCore.LinkID] {
        relays.filter { $0.value.deadline.map { now >= $0 } == true }.keys.sorted()
    }

    /// Others still use a link that this node does not use. Returns whether the link stays for these nodes, up to a
    /// time limit.
    mutating func mayWait(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        guard let since = relays[id]?.idleSince, now < since + NodeLimits.followedCarrier else { return false }
        relays[id]?.looksAgain = now + NodeLimits.followedLook
        return true
    }
}
