// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The part of a view that differs between viewers: who looks, and what only they see.
package struct Viewpoint: Hashable, Sendable {
    package let role: NodeView.Role
    package var me: Peer
    package var connection: NodeView.Connection
    /// How often a lost host has been dialled.
    package var attempt = 0
    package var wishes = ShownWishes()
    package var notices = ShownNotices()
    /// Whether the host has said that guests may not skip.
    package var mayNotSkip = false
    /// Why the view has ended.
    package var ended: String?

    package init(_ role: NodeView.Role, me: Peer, connection: NodeView.Connection) {
        self.role = role
        self.me = me
        self.connection = connection
    }

    /// Removes expired wishes and notices. Returns whether anything has changed.
    package mutating func tick(now: MeshInstant) -> Bool {
        let wishesWent = wishes.tick(now: now), noticesWent = notices.tick(now: now)
        return wishesWent || noticesWent
    }
}
