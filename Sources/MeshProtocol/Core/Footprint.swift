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
