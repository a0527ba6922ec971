// SPDX-License-Identifier: Apache-2.0

/// The memory use that peers can influence and `Limits` bounds.
package struct Footprint: Hashable, Sendable {
    /// Links in any state.
    package var links = 0
    /// Links in circuits.
    package var innerLinks = 0
    /// Links with a proved peer.
    package var connected = 0
    /// Accepted links with an unfinished handshake.
    package var halfOpenLinks = 0
    /// Remembered peers.
    package var conversations = 0
    /// Messages of the fullest outbox.
    package var outboxMessages = 0
    /// Bytes of the largest outbox.
    package var outboxBytes = 0
    /// Bytes of all outboxes.
    package var allOutboxBytes = 0
    /// Bytes of the largest unit that is being reassembled.
    package var reassemblyBytes = 0
    /// Bytes of unfinished units of guests in circuits.
    package var unfinishedBytes = 0
    /// The number of circuits of the link that has the most circuits.
    package var circuits = 0
    /// Frames about circuits that wait on one link.
    package var circuitFrames = 0
    /// Handshakes with a stored secret to resume.
    package var rejoins = 0
    /// Relayed circuits.
    package var relayedCircuits = 0
    /// Bytes of the host's state that are stored for others.
    package var logBytes = 0
    /// Bytes that wait in all circuits.
    package var circuitBytes = 0
    /// Handshake packets and own frames that wait on one link.
    package var ownFrames = 0
    /// Handshake packets and own frames that wait on one link which ends after them, with the records before them.
    package var lastFrames = 0
}

extension MeshCore {
    /// The current memory use.
    package var footprint: Footprint {
        var footprint = Footprint(
            links: links.count, innerLinks: circuitEnds.count, connected: peerLinks.ofPeer.count,
            halfOpenLinks: halfOpenLinks(),
            conversations: peers.count)
        for conversation in peers.conversations {
            footprint.outboxMessages = max(footprint.outboxMessages, conversation.unacknowledged)
            footprint.outboxBytes = max(footprint.outboxBytes, conversation.unacknowledgedBytes)
            footprint.allOutboxBytes += conversation.unacknowledgedBytes
        }
        footprint.rejoins = rejoins.count
        footprint.relayedCircuits = relayedCircuits
        footprint.logBytes = sharedStates.log.byteCount
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
