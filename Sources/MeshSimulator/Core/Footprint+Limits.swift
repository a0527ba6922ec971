// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension Footprint {
    /// The quantities that peers have raised above their limits, in words. The node has this many channels, and may be
    /// connected with this many peers.
    func excess(channels: Int, peers: Int) -> [String] {
        let amounts = [
            // When a channel or circuit is gone, nothing of its link may remain.
            ("links", links - innerLinks, channels),
            ("circuits of a link", circuits, Limits.relayedCircuits),
            ("circuits that are passed on", relayedCircuits, Limits.relayedCircuits),
            ("handshakes that are kept", rejoins, Limits.rejoins),
            ("frames about circuits", circuitFrames, Limits.relayedCircuits + Limits.circuitRefusals),
            ("connected peers", connected, peers),
            ("half-open handshakes", halfOpenLinks, Limits.halfOpenLinks + Limits.halfOpenLinksOfKnown),
            ("conversations", conversations, Limits.conversations),
            ("messages of an outbox", outboxMessages, Limits.outboxMessages),
            ("bytes of an outbox", outboxBytes, Limits.outboxBytes),
            ("bytes of all outboxes", allOutboxBytes, Limits.allOutboxBytes),
            ("bytes of a unit", reassemblyBytes, Limits.unitBytes),
            // Each side sends two handshake packets. Of a link's own frames, the newest acknowledgement, ping and pong
            // wait, with an answer, a final frame and some refusals.
            ("frames of a link's own", ownFrames, Limits.circuitRefusals + 5),
            // Data in circuits are sent before the goodbye.
            ("last frames of a link", lastFrames, Limits.lastRecords + Limits.circuitRefusals + 5),
        ]
        return amounts.filter { $0.1 > $0.2 }.map { "\($0.1) \($0.0), and \($0.2) is the limit" }
    }
}
