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

    /// A notice.
    public init(host: Peer, hops: UInt8, hasRoom: Bool) {
        (self.host, self.hops, self.hasRoom) = (host, hops, hasRoom)
    }
}
