// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What of a view is not the same for everybody: who looks, and what is told to them alone.
package struct Viewpoint: Hashable, Sendable {
    package let role: NodeView.Role
    package var me: Peer
    package var connection: NodeView.Connection
    /// How often a lost host has been dialled.
    package var attempt = 0
    package var wishes = ShownWishes()
    package var notices = ShownNotices()
    /// Whether the host has said that guests do not skip.
    package var mayNotSkip = false
    /// Why there is nothing more to see.
    package var ended: String?

    package init(_ role: NodeView.Role, me: Peer, connection: NodeView.Connection) {
        self.role = role
        self.me = me
        self.connection = connection
    }

    /// Lets time pass; whether that has changed anything.
    package mutating func tick(now: MeshInstant) -> Bool {
        let wishesWent = wishes.tick(now: now), noticesWent = notices.tick(now: now)
        return wishesWent || noticesWent
    }
}
