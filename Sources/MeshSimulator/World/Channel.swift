// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Who is at an end of a channel.
enum Party: Hashable, Sendable {
    /// A node, in one of its lives.
    case node(Int, life: Int)
    /// Somebody who follows one of the world's scripts.
    case hostile(script: Int)
}

/// A channel between two ends: SDUs go both ways, whole and in order, as long as it lives. End 0 has dialled.
struct Channel {
    struct End {
        var party: Party
        /// It was told that the channel is open.
        var isOpen = false
        /// It was told that the channel is closed, or closed it.
        var isClosed = false
        /// A node's number for it.
        var link: MeshCore.LinkID = 0
        /// It is going to look for something to send.
        var willPull = false
        /// A guest's dial that led here.
        var dial = 0

        // What this end has sent.
        var underway: [[UInt8]] = []
        /// When the last of it arrives.
        var lastArrival: Duration = .zero
        /// Nothing that it sends arrives.
        var isDead = false
        /// The first of what it has sent: what somebody in range could have recorded.
        var recording: [[UInt8]] = []
        /// What arrived before the other end was open.
        var early = 0
    }

    var ends: [End]
    /// The node that was dialled, no matter who has answered.
    var dialled = 0
    /// Nothing moves on it any more.
    var isBroken = false
    /// Something has kept it from carrying what it should, or a node's clock has leapt meanwhile: it may go silent.
    var isDisturbed = false
    /// The host's state when its end opened: what its guest is shown over it is no older.
    var stateAtOpen: StateVersion?
    /// Somebody has changed what it carries: that the protocol is broken on it is nobody's fault.
    var isTampered = false

    init(_ dialler: Party, _ acceptor: Party) {
        ends = [End(party: dialler), End(party: acceptor)]
    }

    /// Whether both ends follow the protocol, and nothing comes in between.
    var isHonest: Bool { !isTampered && ends.allSatisfy { $0.node != nil } }
}

extension Channel.End {
    /// The node at this end.
    var node: Int? {
        if case .node(let index, _) = party { index } else { nil }
    }
}
