// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import NodeStore

/// A node's core while it runs. A class, so that to look at something else of a node copies nothing of all that the core
/// knows.
final class RunningCore {
    private var core: NodeCore

    init(_ core: NodeCore) { self.core = core }

    /// Looks at the core, or gives it something, in its place.
    func callAsFunction<Seen>(_ use: (inout NodeCore) -> Seen) -> Seen { use(&core) }
}

/// A node of a world: a `NodeCore`, what it has on disk, and what its people were shown.
struct SimulatedNode {
    let index: Int
    let identity: Identity
    let name: String
    let peer: Peer.ID

    // What outlives a kill.
    var disk = StoredNode()
    /// The disk takes nothing before this time.
    var refusesUntil: Duration = .zero
    /// The disk answers nothing before this time.
    var hangsUntil: Duration = .zero
    /// Which life it is in; it begins a new one with each start.
    var life = 0
    /// Nil while it is down.
    var core: RunningCore?
    var hasAdapter = true
    /// Never used twice, whatever happens.
    var lastLink: MeshCore.LinkID = 0
    /// How far its clock is ahead of the world's: it begins at zero with each life, and leaps.
    var clockLead: Duration = .zero

    // What goes with its life.
    var links: [MeshCore.LinkID: SimulatedLink] = [:]
    /// What is being written.
    var writing: StoreBatch?
    /// What is to be written last of all, once the node ends.
    var final: StoreBatch?
    var isEnding = false
    /// When its deadline is, by its own clock.
    var timer: Duration?
    var isScanning = false
    /// What it advertises where it relays.
    var notice: NodeCore.RelayNotice?
    /// What it says of its last places where it hosts.
    var placesForRelays = false
    /// Circuits that its core wants to have, or was offered: their links are to be begun.
    var circuits: [NodeCore.Opening] = []
    /// The host's state when a link in a circuit was asked for.
    var stateAtOpen: [MeshCore.LinkID: StateVersion] = [:]
    /// The link to the host on which what is being written was decided: what it shows afterwards came by that.
    var linkOfWrite: MeshCore.LinkID?
    /// Whom it dials: an identifier, or the head of one, by the dial's number.
    var dials: [Int: Peer.ID] = [:]
    /// SDUs that it does not read yet: their channels, and the ends that have sent them.
    var unread: [(channel: Int, from: Int)] = []
    /// What people and the player have for it, and it has no room for yet.
    var inputs: [NodeInput] = []
    /// The radio has said that it does not work, and nothing since.
    var isRadioOut = false
    var screen = Screen()

    var isHost: Bool { index == 0 }

    /// Forgets what goes with a life.
    mutating func die() {
        life += 1
        core = nil
        links = [:]
        (writing, final, isEnding) = (nil, nil, false)
        timer = nil
        isScanning = false
        notice = nil
        (circuits, stateAtOpen, linkOfWrite) = ([], [:], nil)
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
    /// It was seen to be up.
    var isUp = false
    /// The core has said that its channel is to be closed.
    var isClosing = false
}

/// What the people at a node were shown in its present life.
struct Screen {
    /// By code, and since when each is on view.
    var notices: [String: (notice: Notice, since: Duration)] = [:]
    var snapshot: HostSnapshot?
    /// The snapshot came over the present link.
    var isCurrent = false
    /// What the first snapshot on a link must not be older than, until the event is over that has brought it.
    var least: StateVersion?
    /// What was told last of each song's wish.
    var wishes: [Song.ID: (kind: Wish.Kind, state: WishState)] = [:]
    var linked: Set<Peer.ID> = []
    /// What is to be heard.
    var playing: Song.ID?
}
