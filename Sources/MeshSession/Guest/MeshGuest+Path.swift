// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The links that form a guest's route to its host.
struct GuestPath {
    /// The link to the host. If `carrier` is set, this link runs in a circuit.
    private(set) var link: MeshCore.LinkID?
    /// The link to the relay next to this node.
    private(set) var carrier: MeshCore.LinkID?
    /// The relay at the carrier's other end, and its hops to the host.
    private(set) var relay: (peer: Peer, hops: Int)?

    mutating func carrierConnected(_ id: MeshCore.LinkID, _ peer: Peer, hops: Int) {
        (carrier, relay) = (id, (peer, hops))
    }

    mutating func connected(_ id: MeshCore.LinkID) { link = id }

    mutating func carrierEnded() { (link, carrier, relay) = (nil, nil, nil) }
}

/// The route from a guest to its host.
public struct MeshPath: Hashable, Sendable {
    /// The relay next to the guest. Nil if the host itself is next to it.
    public var relay: Peer?
    /// Number of links: 1 to the host itself, and 1 more for each relay.
    public var hops: Int
    /// Signal strength of the first link in dBm. Nil if the radio does not report it.
    public var rssi: Int?

    /// Creates a route.
    public init(relay: Peer? = nil, hops: Int, rssi: Int? = nil) {
        (self.relay, self.hops, self.rssi) = (relay, hops, rssi)
    }
}

extension MeshGuest {
    /// The present route to the host. Nil without a link to the host.
    public func path() async -> MeshPath? {
        guard let link = route.link else { return nil }
        let rssi = await endpoint.signalStrength(of: route.carrier ?? link)
        return MeshPath(relay: route.relay?.peer, hops: 1 + (route.relay?.hops ?? 0), rssi: rssi)
    }

    /// The round trip to the host, measured with a ping of the protocol. Nil if there is no link to it, or no answer in
    /// time.
    public func ping(within time: Duration = SessionLimits.answer) async -> Duration? {
        guard let link = route.link else { return nil }
        return await endpoint.ping(link, within: time)
    }

    /// The round trip to the node after `hop` links of the route, from 1. The node after the last link is the host. Nil
    /// if there is no such node at present, or no answer in time.
    public func ping(hop: Int, within time: Duration = SessionLimits.answer) async -> Duration? {
        guard let carrier = route.carrier, let relay = route.relay else {
            return hop == 1 ? await ping(within: time) : nil
        }
        if hop == relay.hops + 1 { return await ping(within: time) }
        guard (1...relay.hops).contains(hop), let host else { return nil }
        // The relay next to this node answers pings. Relays behind it answer only requests for circuits.
        if hop == 1 { return await endpoint.ping(carrier, within: time) }
        return await endpoint.probe(relay: hop, towards: host.id, over: carrier, within: time)
    }

    /// A relay has accepted this node. Opens a circuit through the relay to the host.
    func openCircuit(on id: MeshCore.LinkID, of relay: Peer, _ lead: Route?) async {
        route.carrierConnected(id, relay, hops: Int(lead?.hops ?? 0))
        guard let lead, machine.isWanted(lead.host) else { return await endpoint.leave(id) }
        await endpoint.openCircuit(to: lead.host, over: id, hops: Int(lead.hops))
    }

    /// The link to the host has ended. Ends the carrier, which is of no further use.
    func leaveCarrier() async {
        let carrier = route.carrier
        route.carrierEnded()
        if let carrier { await endpoint.leave(carrier) }
    }
}
