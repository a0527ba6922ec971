// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A node of a field: a `NodeLoop`, its radio, its disk, and its screen.
struct FieldNode {
    /// A dial without a channel so far.
    struct Dial {
        let number: Int
        let target: Int?
        let expecting: Peer.ID
        /// The link that the dial is creating.
        var link: Int?
    }

    /// A host's state, and the number of its guests that have seen this state or a later one.
    struct Shown {
        let at: Int
        var seenBy = 0
        /// When all guests had seen it.
        var seenAt: Int?
    }

    let identity: Identity
    let peer: Peer.ID
    let name: String
    let isHost: Bool
    let isRelay: Bool

    /// Nil before it starts, and once it is gone.
    var core: RunningNode?
    var isGone = false
    var disk = StoredNode()
    var writing: StoreBatch?
    /// The time of the node's next tick on the agenda.
    var timer = Int.max
    /// The node's turn, which decides in advance, and the last entry of the agenda that was decided this way.
    var turn: NodeTurn?
    var settled = 0
    /// The last window with an event of this node.
    var concerned = 0
    /// Ticks in a row at one time.
    var spins = 0

    // The radio
    var place: FieldPoint
    var cell = 0
    /// The links of the node, by number in the field, including links that are being created.
    var links: [Int] = []
    var busyUntil = 0
    /// The intervals that the node advises to the nodes that have dialled it.
    var plan = IntervalPlan()
    /// The current scan. Each scan has a higher number; nil without one.
    var scan: Int?
    var scans = 0
    var isAdvertising = false
    var advertisement: Advertisement
    /// When a link last opened or closed. It advertises fast for some time after that.
    var changedAt = 0
    var dials: [Dial] = []
    /// The nodes that this node has received advertisements of, and when it last received one of each.
    var heard: [Int: Int] = [:]

    /// When the node first reached each stage.
    var stages = [Int?](repeating: nil, count: FieldStage.allCases.count)

    // The screen of its person
    var isConnected = false
    var epoch: UInt32 = 0
    var revision: UInt64 = 0
    /// A host's states, by revision.
    var states: [Shown] = []
    /// Number of lost connections.
    var losses = 0

    // Votes
    /// Whether the node's person has voted, and has not removed the vote.
    var wants = false
    /// When the vote was cast, when the host counted it, and when the person saw that. Nil without an open vote.
    var castAt: Int?
    var countedAt: Int?
    /// The host's revision that counted it.
    var countedWith: UInt64?
    var confirmedAt: Int?

    init(_ identity: Identity, name: String, isHost: Bool, isRelay: Bool, place: FieldPoint) {
        self.identity = identity
        peer = identity.peerID
        advertisement = Advertisement(identity, name: name, isHost: isHost)
        (self.name, self.isHost, self.isRelay, self.place) = (name, isHost, isRelay, place)
    }
}
