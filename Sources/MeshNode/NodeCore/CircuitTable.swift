// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The links in circuits, and the linked relays.
struct CircuitTable: Sendable {
    struct Relay: Hashable, Sendable {
        var peer: Peer
        var route: Route?
        /// The host to which circuits lead, from the relay's hello. Its advertisement has named the same host.
        var host: Peer.ID?
        /// Signal strength in dBm, if the radio has reported it.
        var rssi: Int?
        /// Since when this node does not use it; nil while a link goes over it.
        var idleSince: MeshInstant?
        /// When the node checks again whether others still use it.
        var looksAgain: MeshInstant?

        /// When the node leaves it.
        var deadline: MeshInstant? { looksAgain ?? idleSince.map { $0 + NodeLimits.idleCarrier } }
    }

    private var places: [MeshCore.LinkID: CircuitPlace] = [:]
    /// Since when each link in a circuit is up.
    private var upSince: [MeshCore.LinkID: MeshInstant] = [:]
    private(set) var relays: [MeshCore.LinkID: Relay] = [:]
    /// The last route that was reported to the children: its first link, and the number of its relays.
    private var told: (carrier: MeshCore.LinkID, hops: Int)?
    /// Links in circuits that are not read at present.
    var held: Set<MeshCore.LinkID> = []
    /// The time and the link for the next state request to the host, unless the state arrives first. Incoming state
    /// postpones it, but not beyond `latest`. `asked` counts the requests so far.
    var wantsState: (link: MeshCore.LinkID, at: MeshInstant, latest: MeshInstant, asked: Int)?
    /// The host's message about a state that has not arrived yet, and how long it waits for that state.
    var heartbeat: (link: MeshCore.LinkID, message: ReceivedMessage, until: MeshInstant, latest: MeshInstant)?

    /// Whether there are links in circuits.
    var hasInner: Bool { !places.isEmpty }

    var inner: [MeshCore.LinkID] { places.keys.sorted() }

    func place(of id: MeshCore.LinkID) -> CircuitPlace? { places[id] }

    mutating func opened(_ id: MeshCore.LinkID, _ place: CircuitPlace) {
        places[id] = place
        relays[place.carrier]?.idleSince = nil
        relays[place.carrier]?.looksAgain = nil
    }

    mutating func closed(_ id: MeshCore.LinkID) {
        places[id] = nil
        upSince[id] = nil
        held.remove(id)
        if wantsState?.link == id { wantsState = nil }
        if heartbeat?.link == id { heartbeat = nil }
    }

    /// Whether a request or a message waits for the state.
    var waitsForState: Bool { wantsState != nil || heartbeat != nil }

    /// State arrives from the relay, even if slowly. A request to the host would slow it down further, because the
    /// host's answer takes the same links, once for each guest instead of once for all.
    mutating func stateComes(now: MeshInstant) {
        let patience = now + NodeLimits.relayedState
        if let wants = wantsState { wantsState?.at = max(wants.at, min(patience, wants.latest)) }
        if let heartbeat { self.heartbeat?.until = max(heartbeat.until, min(patience, heartbeat.latest)) }
    }

    /// The number of relays on a link, and the relay that is the parent of the guest at its end.
    func way(of id: MeshCore.LinkID) -> (relays: Int, via: Peer.ID?) {
        guard let place = places[id] else { return (0, nil) }
        guard let relay = relays[place.carrier] else { return (place.hops, place.passed.first) }
        return (relay.route.map { Int($0.hops) } ?? place.hops, relay.peer.id)
    }

    mutating func isUp(_ id: MeshCore.LinkID, since now: MeshInstant) { upSince[id] = now }

    /// Whether a link in a circuit was up for a minimum time.
    func hasLasted(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        upSince[id].map { now - $0 >= NodeLimits.lastingCircuit } == true
    }

    // MARK: Relays

    /// A dialled relay is linked. The circuit through it may no longer be wanted.
    mutating func linked(_ peer: Peer, _ route: Route, on id: MeshCore.LinkID, now: MeshInstant) {
        relays[id] = Relay(peer: peer, route: route, host: route.host, idleSince: now)
    }

    /// Whether a relay still has a route to the host in its hello.
    func keepsHost(_ route: Route, on id: MeshCore.LinkID) -> Bool { relays[id]?.host.map { $0 == route.host } ?? true }

    mutating func leads(_ route: Route?, on id: MeshCore.LinkID) { relays[id]?.route = route }

    mutating func measured(_ rssi: Int?, on id: MeshCore.LinkID) { relays[id]?.rssi = rssi }

    mutating func lost(_ id: MeshCore.LinkID) { relays[id] = nil }

    mutating func isIdle(_ id: MeshCore.LinkID, since now: MeshInstant) {
        if relays[id]?.idleSince == nil { relays[id]?.idleSince = now }
    }

    /// Records the route that the children know. The carrier is nil for a direct route or a lost one.
    mutating func tells(_ carrier: MeshCore.LinkID?, hops: Int) { told = carrier.map { ($0, hops) } }

    /// Whether the children know this route.
    func isTold(_ carrier: MeshCore.LinkID, hops: Int) -> Bool { told.map { $0 == (carrier, hops) } == true }

    /// A linked relay on the route to a host, except those to avoid.
    func leading(to host: Peer.ID, except isLeftAlone: (Peer.ID) -> Bool) -> (link: MeshCore.LinkID, route: Route)? {
        for (id, relay) in relays.sorted(by: { $0.key < $1.key }) {
            if let route = relay.route, Identity.mayBeSame(route.host, host), !isLeftAlone(relay.peer.id) {
                return (id, route)
            }
        }
        return nil
    }

    var deadline: MeshInstant? {
        var first = earliest(wantsState?.at, heartbeat?.until)
        for relay in relays.values {
            first = earliest(first, relay.deadline)
        }
        return first
    }

    /// The links to relays that were unused for long enough.
    func idle(now: MeshInstant) -> [MeshCore.LinkID] {
        relays.filter { $0.value.deadline.map { now >= $0 } == true }.keys.sorted()
    }

    /// Keeps an unused link for the nodes that still use it, up to a maximum time.
    mutating func mayWait(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        guard let since = relays[id]?.idleSince, now < since + NodeLimits.followedCarrier else { return false }
        relays[id]?.looksAgain = now + NodeLimits.followedLook
        return true
    }
}
