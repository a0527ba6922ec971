// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a node keeps of its links in circuits, and of the relays that it is linked with.
struct CircuitTable: Sendable {
    /// A relay that this node has dialled.
    struct Relay: Hashable, Sendable {
        var peer: Peer
        var route: Route?
        /// Where circuits lead, as its hello says: its advertisement said the same.
        var host: Peer.ID?
        /// Signal strength in dBm, where the radio has told.
        var rssi: Int?
        /// Since when it is of no use; nil while a link goes over it.
        var idleSince: MeshInstant?
        /// When it is looked again whether others still go over it.
        var looksAgain: MeshInstant?

        /// When it is left.
        var deadline: MeshInstant? { looksAgain ?? idleSince.map { $0 + NodeLimits.idleCarrier } }
    }

    private var places: [MeshCore.LinkID: CircuitPlace] = [:]
    /// Since when a link in a circuit is up.
    private var upSince: [MeshCore.LinkID: MeshInstant] = [:]
    private(set) var relays: [MeshCore.LinkID: Relay] = [:]
    /// What those behind this node were told of last: the link that the way to the host begins with, and the relays on it.
    private var told: (carrier: MeshCore.LinkID, hops: Int)?
    /// Links in circuits that are not read at present.
    var held: Set<MeshCore.LinkID> = []
    /// The link on which the host is to be asked for its state, where that has not come by then; not later than `latest`, however
    /// much comes; and how often it was asked.
    var wantsState: (link: MeshCore.LinkID, at: MeshInstant, latest: MeshInstant, asked: Int)?
    /// What the host has said of a state that has not come yet, and until when it is waited for.
    var heartbeat: (link: MeshCore.LinkID, message: ReceivedMessage, until: MeshInstant, latest: MeshInstant)?

    /// Whether there is any.
    var hasInner: Bool { !places.isEmpty }

    /// The links in circuits, in order.
    var inner: [MeshCore.LinkID] { places.keys.sorted() }

    /// The circuit that a link is in.
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

    /// Whether there is something to do once state comes, or does not.
    var waitsForState: Bool { wantsState != nil || heartbeat != nil }

    /// State comes from the relay, if slowly. The host is not asked meanwhile: what it would send has to come the same way, once for
    /// each guest and not once for all, and would make it slower still.
    mutating func stateComes(now: MeshInstant) {
        let patience = now + NodeLimits.relayedState
        if let wants = wantsState { wantsState?.at = max(wants.at, min(patience, wants.latest)) }
        if let heartbeat { self.heartbeat?.until = max(heartbeat.until, min(patience, heartbeat.latest)) }
    }

    /// How many relays a link goes through, and which of them the guest at one of its ends hangs on.
    func way(of id: MeshCore.LinkID) -> (relays: Int, via: Peer.ID?) {
        guard let place = places[id] else { return (0, nil) }
        guard let relay = relays[place.carrier] else { return (place.hops, place.passed.first) }
        return (relay.route.map { Int($0.hops) } ?? place.hops, relay.peer.id)
    }

    mutating func isUp(_ id: MeshCore.LinkID, since now: MeshInstant) { upSince[id] = now }

    /// Whether a link in a circuit was up for a while.
    func hasLasted(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        upSince[id].map { now - $0 >= NodeLimits.lastingCircuit } == true
    }

    // MARK: Relays

    /// A relay that was dialled is linked. Who wanted a circuit there may not want it any more.
    mutating func linked(_ peer: Peer, _ route: Route, on id: MeshCore.LinkID, now: MeshInstant) {
        relays[id] = Relay(peer: peer, route: route, host: route.host, idleSince: now)
    }

    /// Whether a relay still leads to the host of its hello.
    func keepsHost(_ route: Route, on id: MeshCore.LinkID) -> Bool { relays[id]?.host.map { $0 == route.host } ?? true }

    mutating func leads(_ route: Route?, on id: MeshCore.LinkID) { relays[id]?.route = route }

    mutating func measured(_ rssi: Int?, on id: MeshCore.LinkID) { relays[id]?.rssi = rssi }

    mutating func lost(_ id: MeshCore.LinkID) { relays[id] = nil }

    mutating func isIdle(_ id: MeshCore.LinkID, since now: MeshInstant) {
        if relays[id]?.idleSince == nil { relays[id]?.idleSince = now }
    }

    /// Those behind this node are told of a way; no link: of one without relays, or that there is none.
    mutating func tells(_ carrier: MeshCore.LinkID?, hops: Int) { told = carrier.map { ($0, hops) } }

    /// Whether those behind this node know of this way.
    func isTold(_ carrier: MeshCore.LinkID, hops: Int) -> Bool { told.map { $0 == (carrier, hops) } == true }

    /// The link to a relay that leads to a host, other than those that are left alone.
    func leading(to host: Peer.ID, except isLeftAlone: (Peer.ID) -> Bool) -> (link: MeshCore.LinkID, route: Route)? {
        for (id, relay) in relays.sorted(by: { $0.key < $1.key }) {
            if let route = relay.route, Identity.mayBeSame(route.host, host), !isLeftAlone(relay.peer.id) {
                return (id, route)
            }
        }
        return nil
    }

    /// When something is due.
    var deadline: MeshInstant? {
        var first = earliest(wantsState?.at, heartbeat?.until)
        for relay in relays.values {
            first = earliest(first, relay.deadline)
        }
        return first
    }

    /// The links to relays that were of no use for long enough.
    func idle(now: MeshInstant) -> [MeshCore.LinkID] {
        relays.filter { $0.value.deadline.map { now >= $0 } == true }.keys.sorted()
    }

    /// Others still go over a link that is of no use to this node: it waits for them a little longer, if not for ever.
    mutating func mayWait(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        guard let since = relays[id]?.idleSince, now < since + NodeLimits.followedCarrier else { return false }
        relays[id]?.looksAgain = now + NodeLimits.followedLook
        return true
    }
}
