// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// What the people at a node saw in its present life, and what they have entered.
struct Screen {
    /// Inputs of people and the player that the node has no room for yet.
    var inputs: [NodeInput] = []
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

    /// Whether a notice shows that the disk accepts no writes.
    var isWithoutStore: Bool { notices.values.contains { $0.notice.clearedBy.contains(.written) } }
}
