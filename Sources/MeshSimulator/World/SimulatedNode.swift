// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSession

/// A node of a world: what it is made of, what it has on disk, and what it knows while it lives.
struct SimulatedNode {
    let index: Int
    let identity: Identity
    let name: String
    let peer: Peer.ID

    /// What outlives a kill.
    var store = Store()
    /// Which life it is in; it begins a new one with each start.
    var life = 0
    /// Nil while it is down.
    var core: MeshCore?
    var hasAdapter = true
    /// Never used twice, whatever happens.
    var lastLink: MeshCore.LinkID = 0
    /// How far its clock is ahead of the world's.
    var clockLead: Duration = .zero

    // What goes with its life.
    var links: [MeshCore.LinkID: SimulatedLink] = [:]
    /// The numbers of what it has to say to others, and which messages they are.
    var numbered: [Peer.ID: [NumberedMessage]] = [:]
    /// What is to be written, in order. The first is being written.
    var writes: [Write] = []
    var policy = ReconnectPolicy()
    var policyTimer: Duration?
    var isBrowsing = false
    /// Grows with each dial; the present one where `isDialling`.
    var dial = 0
    var isDialling = false
    /// Whom it dials: an identifier, or the head of one.
    var dialled: Peer.ID = ""
    /// A guest's link of the present dial.
    var currentLink: MeshCore.LinkID?
    /// The revision of the state update that was last heard on the present link.
    var lastRevision = 0

    var isHost: Bool { index == 0 }

    /// Forgets what goes with a life.
    mutating func die() {
        life += 1
        core = nil
        links = [:]
        numbered = [:]
        writes = []
        policyTimer = nil
        isBrowsing = false
        isDialling = false
        currentLink = nil
        lastRevision = 0
    }
}

/// A link of a node.
struct SimulatedLink {
    var channel: Int
    var end: Int
    /// When its timer is due, by the node's clock.
    var timer: Duration?
    /// Not read before this time, by the node's clock.
    var heldUntil: Duration?
    /// The core has told that it is up.
    var isUp = false
    /// The core has told of its end.
    var hasEnded = false
    /// The core has said that its channel is to be closed.
    var isClosing = false
}
