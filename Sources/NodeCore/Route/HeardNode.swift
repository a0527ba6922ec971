// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A host or a relay that was heard, with what it advertises.
public struct HeardNode: Hashable, Sendable {
    /// The host: the node itself, or the host to which circuits through the relay lead. Its identifier is a head, or as
    /// much as a relay has advertised.
    public var host: Peer
    /// The head of the relay's identifier. Nil for the host itself.
    public var relay: Peer.ID?
    /// Links from the relay to the host, 1 or more. 0 for the host itself.
    public var hops: Int
    /// Signal strength in dBm, if the radio knows it.
    public var rssi: Int?
    /// Whether a relay accepts another node.
    public var hasRoom: Bool
    /// Whether the node's last slots are for nodes that relay.
    public var placesForRelays: Bool
    /// Whether this node supports the version and the critical flags of the heard node.
    public var isUnderstood: Bool
    /// Whether the host asks for a PIN.
    public var asksForPIN: Bool
    /// The bearer on which it was heard, if known.
    public var bearer: BearerKind?

    /// A host that was heard itself.
    public init(
        _ host: Peer, rssi: Int? = nil, isUnderstood: Bool = true, asksForPIN: Bool = false,
        placesForRelays: Bool = false, bearer: BearerKind? = nil
    ) {
        self.init(
            host, relay: nil, hops: 0, rssi: rssi, hasRoom: true, placesForRelays: placesForRelays,
            isUnderstood: isUnderstood, asksForPIN: asksForPIN, bearer: bearer)
    }

    /// A host that was heard through a relay. `relay` is the relay's identifier or its head. It is nil if a report
    /// leaves it out.
    public init(
        _ host: Peer, relay: Peer.ID?, hops: Int, rssi: Int? = nil, hasRoom: Bool = true, placesForRelays: Bool = false,
        isUnderstood: Bool = true, asksForPIN: Bool = false, bearer: BearerKind? = nil
    ) {
        self.host = host
        self.relay = relay.map { Identity.head(of: $0) }
        self.hops = hops
        self.rssi = rssi
        self.hasRoom = hasRoom
        self.placesForRelays = placesForRelays
        self.isUnderstood = isUnderstood
        self.asksForPIN = asksForPIN
        self.bearer = bearer
    }

    /// The head of the node that is dialled.
    var id: Peer.ID { relay ?? host.id }

    /// The host by its head, as people and features know it before it is linked.
    package var named: HeardNode {
        var node = self
        node.host.id = Identity.head(of: host.id)
        return node
    }
}
