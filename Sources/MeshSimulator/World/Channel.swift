// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The party at an end of a channel.
enum Party: Hashable, Sendable {
    /// A node, in one of its lives.
    case node(Int, life: Int)
    /// An attacker that follows one of the world's scripts.
    case hostile(script: Int)
}

/// A channel between two ends. SDUs go both ways, complete and in order, while it lives. End 0 has dialled.
struct Channel {
    struct End {
        var party: Party
        /// This end has learned that the channel is open.
        var isOpen = false
        /// This end has learned that the channel is closed, or has closed it.
        var isClosed = false
        /// The node's number of the link.
        var link: MeshCore.LinkID = 0
        /// The node is about to look for data to send.
        var willPull = false
        /// The guest's dial that opened the channel.
        var dial = 0

        // SDUs that this end has sent.
        var underway: [[UInt8]] = []
        /// Arrival time of the last SDU in transit.
        var lastArrival = 0
        /// Nothing that it sends arrives.
        var isDead = false
        /// Its first SDUs, which an attacker in range could have recorded.
        var recording: [[UInt8]] = []
        /// Number of SDUs that arrived before the other end was open.
        var early = 0
    }

    var ends: [End]
    /// The node that was dialled, regardless of which party has answered.
    var dialled = 0
    /// The channel carries nothing any more.
    var isBroken = false
    /// A fault has affected the channel, or a node's clock has jumped, so the channel may fall silent.
    var isDisturbed = false
    /// The host's state when its end opened. The guest sees no older state over this channel.
    var stateAtOpen: StateVersion?
    /// An attacker has changed its data, so a violation of the protocol on it is not a node's fault.
    var isTampered = false

    init(_ dialler: Party, _ acceptor: Party) {
        ends = [End(party: dialler), End(party: acceptor)]
    }

    /// Whether both ends follow the protocol, and no attacker changes the data.
    var isHonest: Bool { !isTampered && ends.allSatisfy { $0.node != nil } }
}

extension Channel.End {
    /// The node at this end.
    var node: Int? {
        if case .node(let index, _) = party { index } else { nil }
    }
}
