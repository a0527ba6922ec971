// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a relay says of itself over the air: where its circuits lead.
public struct RelayNotice: Hashable, Sendable {
    /// The host that its guests reach through it.
    public var host: Peer
    /// Hops from this relay to the host, at least 1.
    public var hops: UInt8
    /// Whether it takes further guests.
    public var hasRoom: Bool
    /// Whether its last places are for nodes that relay.
    public var placesForRelays: Bool
    /// Whether the host asks for a PIN, or something else that has to be proved.
    public var asksForPIN: Bool

    /// A notice.
    public init(
        host: Peer, hops: UInt8, hasRoom: Bool, placesForRelays: Bool = false, asksForPIN: Bool = false
    ) {
        (self.host, self.hops, self.hasRoom) = (host, hops, hasRoom)
        (self.placesForRelays, self.asksForPIN) = (placesForRelays, asksForPIN)
    }
}
