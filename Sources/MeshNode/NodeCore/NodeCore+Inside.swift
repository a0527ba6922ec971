// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// What the simulator looks at: it checks what a node knows against what its disk and others have.

extension NodeCore {
    /// What a peer has a hand in.
    package var footprint: Footprint { context.mesh.footprint }

    /// The peer of a link that is up.
    package func peer(on id: MeshCore.LinkID) -> Peer? { context.mesh.peer(on: id) }

    /// Where this node stands with a peer that it has met, in the conversation that was used last.
    package func resumption(with peer: Peer.ID) -> Resumption? {
        context.mesh.lastConversation(with: peer).flatMap { context.mesh.conversation($0) }?.resumption
    }

    /// Where it stands in the conversation on a link that is up.
    package func resumption(on id: MeshCore.LinkID) -> (ConversationKey, Resumption)? {
        guard let key = context.mesh.key(on: id), let conversation = context.mesh.conversation(key) else { return nil }
        return (key, conversation.resumption)
    }

    /// Messages to a linked peer that it has not acknowledged; nil where it is not linked.
    package func unacknowledged(to peer: Peer.ID) -> Int? {
        context.mesh.link(to: peer).flatMap { context.mesh.conversation(on: $0) }?.unacknowledged
    }

    /// The protocol's part.
    package var mesh: MeshCore { context.mesh }

    /// Has signatures checked once for all nodes of a simulation.
    package mutating func share(_ checked: CheckedSignatures) { context.mesh.share(checked) }

    /// Has messages read once for all nodes of a simulation.
    package mutating func share(_ reading: SharedReading) { context.reading = reading }

    /// Whether nothing waits for a step or for the disk.
    package var isAtRest: Bool {
        writing == nil && waiting.isEmpty && waiting.crowdDeadline == nil && held.isEmpty
    }

    /// The features.
    package var app: AppFeature { decisions.app }
}
