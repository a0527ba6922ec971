// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Messages whose senders wait for room in the outbox of a peer, in their order.
struct WaitingSends {
    struct Message {
        let number: Int
        let body: [UInt8]
        /// Whether the send fails when the peer's link ends.
        let needsLink: Bool
        let sender: CheckedContinuation<Void, any Error>
    }

    private var queues: [Peer.ID: [Message]] = [:]
    private var lastNumber = 0

    /// Whether a message to a peer waits. A later message must not overtake it.
    func wait(for peer: Peer.ID) -> Bool { queues[peer] != nil }

    /// The peers for which messages wait.
    var peers: [Peer.ID] { Array(queues.keys) }

    /// Returns a number for a message that may have to wait.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func append(_ message: Message, to peer: Peer.ID) { queues[peer, default: []].append(message) }

    /// The first message for a peer.
    func first(for peer: Peer.ID) -> Message? { queues[peer]?.first }

    /// Removes the first message for a peer.
    mutating func removeFirst(for peer: Peer.ID) {
        queues[peer]?.removeFirst()
        if queues[peer]?.isEmpty == true { queues[peer] = nil }
    }

    /// Removes and returns the messages for a peer that satisfy a condition.
    mutating func remove(for peer: Peer.ID, where isRemoved: (Message) -> Bool) -> [Message] {
        let removed = queues[peer, default: []].filter(isRemoved)
        queues[peer]?.removeAll(where: isRemoved)
        if queues[peer]?.isEmpty == true { queues[peer] = nil }
        return removed
    }
}
