// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshNode
import MeshProtocol
import NodeStore

/// A node of a field: a `NodeCore`, its radio, its disk, and what its person was shown.
struct FieldNode {
    /// A dial that has no channel yet.
    struct Dial {
        let number: Int
        let target: Int?
        let expecting: Peer.ID
        /// The link that is being made.
        var link: Int?
    }

    /// A host's state, and how many of its guests have seen it or a later one.
    struct Shown {
        let at: Int
        var seenBy = 0
        /// When everybody had.
        var seenAt: Int?
    }

    let identity: Identity
    let peer: Peer.ID
    let name: String
    let head: Peer.ID
    let isHost: Bool
    let isRelay: Bool

    /// Nil before it starts, and once it is gone.
    var core: RunningCore?
    var isGone = false
    var disk = StoredNode()
    var writing: StoreBatch?
    /// When its next tick is in the agenda.
    var timer = Int.max
    /// What it was asked beforehand, and the entry of the agenda that it has decided on last that way.
    var turn: NodeTurn?
    var settled = 0
    /// The last window in which something happens to it.
    var concerned = 0
    /// Ticks in a row at one time.
    var spins = 0
    var lastLink: MeshCore.LinkID = 0

    // The radio
    var place: FieldPoint
    var cell = 0
    /// Its links, those that are being made among them: numbers of the field's.
    var links: [Int] = []
    var busyUntil = 0
    /// Which intervals those who have dialled it are advised of.
    var plan = IntervalPlan()
    /// Grows with each scan; nil while it does not scan.
    var scan: Int?
    var scans = 0
    var isAdvertising = false
    /// What it advertises where it relays: five bytes of its host's identifier.
    var notice: NodeCore.RelayNotice?
    /// What it says of its last places where it hosts.
    var placesForRelays = false
    /// When a link came or went last: it advertises eagerly for a while.
    var changedAt = 0
    var dials: [Dial] = []
    /// Whom it has heard, and when last.
    var heard: [Int: Int] = [:]

    /// When it first got to each stage of its way.
    var stages = [Int?](repeating: nil, count: FieldStage.allCases.count)

    // What its person was shown
    var isConnected = false
    var epoch: UInt32 = 0
    var revision: UInt64 = 0
    /// Of a host: all its states, by revision.
    var states: [Shown] = []
    /// How often the connection was lost.
    var losses = 0

    // Votes
    /// Its person has voted, and not taken it back.
    var wants = false
    /// When it was said, when the host has counted it, and when the person was told so; nil while there is none to wait for.
    var castAt: Int?
    var countedAt: Int?
    /// The revision of the host with which it was counted.
    var countedWith: UInt64?
    var confirmedAt: Int?

    init(_ identity: Identity, name: String, isHost: Bool, isRelay: Bool, place: FieldPoint) {
        self.identity = identity
        peer = identity.peerID
        head = Identity.head(of: identity.peerID)
        (self.name, self.isHost, self.isRelay, self.place) = (name, isHost, isRelay, place)
    }
}
