// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The route to a host that a relay advertises.
public struct RelayNotice: Hashable, Sendable {
    /// The host that guests reach through the relay.
    public var host: Peer
    /// Hops from this relay to the host, at least 1.
    public var hops: UInt8
    /// Whether the relay accepts further guests.
    public var hasRoom: Bool
    /// Whether the relay reserves its last slots for relays.
    public var placesForRelays: Bool
    /// Whether the host asks for a PIN or another proof.
    public var asksForPIN: Bool

    /// A notice.
    public init(
        host: Peer, hops: UInt8, hasRoom: Bool, placesForRelays: Bool = false, asksForPIN: Bool = false
    ) {
        (self.host, self.hops, self.hasRoom) = (host, hops, hasRoom)
        (self.placesForRelays, self.asksForPIN) = (placesForRelays, asksForPIN)
    }
}
