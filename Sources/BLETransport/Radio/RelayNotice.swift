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
    /// Whether the host asks for a PIN, or something else that has to be proved.
    public var asksForPIN: Bool

    /// A notice.
    public init(host: Peer, hops: UInt8, hasRoom: Bool, asksForPIN: Bool = false) {
        (self.host, self.hops, self.hasRoom, self.asksForPIN) = (host, hops, hasRoom, asksForPIN)
    }
}
