// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What of a view is not the same for everybody: who looks, and what is told to them alone.
struct Viewpoint: Hashable, Sendable {
    let role: PageView.Role
    var me: Peer
    var connection: PageView.Connection
    /// How often a lost host has been dialled.
    var attempt = 0
    var wishes = ShownWishes()
    var notices = ShownNotices()
    /// Whether the host has said that guests do not skip.
    var mayNotSkip = false
    /// Why there is nothing more to see.
    var ended: String?

    init(_ role: PageView.Role, me: Peer, connection: PageView.Connection) {
        self.role = role
        self.me = me
        self.connection = connection
    }

    /// Lets time pass; whether that has changed anything.
    mutating func tick(now: MeshInstant) -> Bool {
        let wishesWent = wishes.tick(now: now), noticesWent = notices.tick(now: now)
        return wishesWent || noticesWent
    }
}
