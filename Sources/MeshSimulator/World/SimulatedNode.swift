// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A node of a world: a `NodeLoop`, its disk, and its screen.
struct SimulatedNode {
    let index: Int
    let identity: Identity
    let name: String
    let peer: Peer.ID
    var advertisement: Advertisement

    // State that survives a kill.
    var disk = StoredNode()
    /// The disk refuses all writes before this time.
    var refusesUntil: Duration = .zero
    /// The disk does not answer before this time.
    var hangsUntil: Duration = .zero
    /// The number of the node's current life. Each start begins a new one.
    var life = 0
    /// Nil while it is down.
    var core: RunningNode?
    var hasAdapter = true
    /// The latest link of the node's former lives.
    var lastLink: MeshCore.LinkID = 0
    /// The time by which its clock is ahead of the world's clock. It begins at zero with each life, and jumps.
    var clockLead: Duration = .zero

    // State that ends with its life.
    var links: [MeshCore.LinkID: SimulatedLink] = [:]
    /// The write in progress.
    var writing: StoreBatch?
    /// The last write, once the node ends.
    var final: StoreBatch?
    /// The node's deadline, by its own clock.
    var timer: Duration?
    var isScanning = false
    /// The host's state when a link in a circuit was requested.
    var stateAtOpen: [MeshCore.LinkID: StateVersion] = [:]
    /// The link to the host at the time of the current write's decision. States shown after the write came over this
    /// link.
    var linkOfWrite: MeshCore.LinkID?
    /// The peers that the node dials, by dial number. A peer may be known only by the head of its identifier.
    var dials: [Int: Peer.ID] = [:]
    /// SDUs that it does not read yet: their channels, and the ends that have sent them.
    var unread: [(channel: Int, from: Int)] = []
    /// Inputs of people and the player that it has no room for yet.
    var inputs: [NodeInput] = []
    /// The radio's last report is that it does not work.
    var isRadioOut = false
    var screen = Screen()

    init(_ index: Int, _ identity: Identity) {
        (self.index, self.identity, peer) = (index, identity, identity.peerID)
        name = index == 0 ? "Car" : "Guest \(index)"
        advertisement = Advertisement(identity, name: name, isHost: index == 0)
    }

    var isHost: Bool { index == 0 }
    var isEnding: Bool { core?.loop.hasEnded == true }

    /// Forgets the state that ends with a life.
    mutating func die() {
        life += 1
        lastLink = core?.loop.lastLink ?? lastLink
        core = nil
        links = [:]
        (writing, final) = (nil, nil)
        timer = nil
        isScanning = false
        advertisement.notice = nil
        (stateAtOpen, linkOfWrite) = ([:], nil)
        dials = [:]
        unread = []
        inputs = []
        isRadioOut = false
        screen = Screen()
    }
}

/// A link of a node.
struct SimulatedLink {
    var channel: Int
    var end: Int
    /// The link was seen to be up.
    var isUp = false
    /// The core has closed the channel.
    var isClosing = false
}

/// What the people at a node saw in its present life.
struct Screen {
    /// Notices by code, and the time since which each is shown.
    var notices: [String: (notice: Notice, since: Duration)] = [:]
    var snapshot: HostSnapshot?
    /// The snapshot came over the present link.
    var isCurrent = false
    /// The oldest allowed version of the first snapshot on a link, until its event has ended.
    var least: StateVersion?
    /// The last reported state of each song's wish.
    var wishes: [Song.ID: (kind: Wish.Kind, state: WishState)] = [:]
    var linked: Set<Peer.ID> = []
    /// The song that plays.
    var playing: Song.ID?
}
