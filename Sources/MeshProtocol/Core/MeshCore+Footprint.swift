// SPDX-License-Identifier: Apache-2.0

/// What a node keeps in memory, where a peer has a hand in it: what `Limits` bounds.
package struct Footprint: Hashable, Sendable {
    /// Links, whatever their state.
    package var links = 0
    /// Those of them that are in circuits.
    package var innerLinks = 0
    /// Links whose peer is proved.
    package var connected = 0
    /// Links that were accepted and whose handshake is not finished.
    package var halfOpenLinks = 0
    /// Peers that are remembered.
    package var conversations = 0
    /// Messages of the fullest outbox.
    package var outboxMessages = 0
    /// Bytes of the largest outbox.
    package var outboxBytes = 0
    /// Bytes of all outboxes.
    package var allOutboxBytes = 0
    /// Bytes of the largest unit that is being put together.
    package var reassemblyBytes = 0
    /// Bytes of units that guests have begun in circuits and not finished.
    package var unfinishedBytes = 0
    /// Circuits of the link with the most.
    package var circuits = 0
    /// Frames about circuits that wait to leave on one link.
    package var circuitFrames = 0
    /// Handshakes of which something is kept for who comes back.
    package var rejoins = 0
    /// Circuits that are passed on.
    package var relayedCircuits = 0
    /// What is kept of the host's state for others.
    package var logBytes = 0
    /// Bytes that wait in all circuits.
    package var circuitBytes = 0
    /// Handshake packets and frames of the link's own that wait to leave on one link.
    package var ownFrames = 0
    /// The same on one that ends when they have left, with the records that go first.
    package var lastFrames = 0
}

extension MeshCore {
    /// What this node keeps in memory.
    package var footprint: Footprint {
        var footprint = Footprint(
            links: links.count, innerLinks: innerLinks.count, connected: linkOfPeer.count,
            halfOpenLinks: halfOpenLinks(),
            conversations: conversations.count)
        for conversation in conversations.values {
            footprint.outboxMessages = max(footprint.outboxMessages, conversation.unacknowledged)
            footprint.outboxBytes = max(footprint.outboxBytes, conversation.unacknowledgedBytes)
            footprint.allOutboxBytes += conversation.unacknowledgedBytes
        }
        footprint.rejoins = rejoins.count
        footprint.relayedCircuits = relayedCircuits
        footprint.logBytes = log.byteCount
        for link in links.values {
            let units = link.machine.reassemblers.values.reduce(0) { max($0, $1.byteCount) }
            footprint.reassemblyBytes = max(footprint.reassemblyBytes, units)
            if link.place != nil, link.machine.role == .responder {
                footprint.unfinishedBytes += link.machine.unfinishedBytes
            }
            let frames = link.machine.packets.count + link.machine.control.count
            if link.machine.hasEnded {
                footprint.lastFrames = max(footprint.lastFrames, frames)
            } else {
                footprint.ownFrames = max(footprint.ownFrames, frames)
            }
            footprint.circuits = max(footprint.circuits, link.circuits.count)
            footprint.circuitBytes += link.circuits.queuedBytes
            footprint.circuitFrames = max(footprint.circuitFrames, link.circuits.waitingFrames)
        }
        return footprint
    }
}
