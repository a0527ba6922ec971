// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// The simulator's access: it compares a node's state with its disk and with other nodes.

extension NodeCore {
    /// The memory use that peers can influence.
    package var footprint: Footprint { context.mesh.footprint }

    package func peer(on id: MeshCore.LinkID) -> Peer? { context.mesh.peer(on: id) }

    /// This node's position in the last conversation with a known peer.
    package func resumption(with peer: Peer.ID) -> Resumption? {
        context.mesh.lastConversation(with: peer).flatMap { context.mesh.conversation($0) }?.resumption
    }

    /// This node's position in the conversation of a link that is up.
    package func resumption(on id: MeshCore.LinkID) -> (ConversationKey, Resumption)? {
        guard let key = context.mesh.key(on: id), let conversation = context.mesh.conversation(key) else { return nil }
        return (key, conversation.resumption)
    }

    /// The number of messages to a linked peer that it has not acknowledged; nil if the peer is not linked.
    package func unacknowledged(to peer: Peer.ID) -> Int? {
        context.mesh.link(to: peer).flatMap { context.mesh.conversation(on: $0) }?.unacknowledged
    }

    /// The protocol's state.
    package var mesh: MeshCore { context.mesh }

    /// Shares the results of signature checks among all nodes of a simulation.
    package mutating func share(_ checked: CheckedSignatures) { context.mesh.share(checked) }

    /// Shares decoded messages among all nodes of a simulation.
    package mutating func share(_ reading: SharedReading) { context.reading = reading }

    /// Whether nothing waits for a step or for the disk.
    package var isAtRest: Bool {
        writing == nil && waiting.isEmpty && waiting.crowdDeadline == nil && held.isEmpty
    }

    package var app: AppFeature { decisions.app }
}
