// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a node has on disk: `MeshCore.Remembered` by peer, and the application's own state.
///
/// What was cast and what was received are different columns of a row: neither takes back what the other has written, as
/// in `NodeStore`.
struct Store {
    struct Row {
        var remembered: MeshCore.Remembered
        var numbered: [NumberedMessage]
    }

    var rows: [Peer.ID: Row] = [:]

    /// Sees to a peer's row. A new one has nothing to say yet: that comes message by message.
    private mutating func keep(_ peer: Peer.ID, _ remembered: MeshCore.Remembered) {
        let count = UInt64(remembered.conversation.outbox.count)
        if rows[peer]?.remembered.conversation.epoch != remembered.conversation.epoch {
            var remembered = remembered
            remembered.conversation.outbox = []
            remembered.conversation.lastNumber -= count
            rows[peer] = Row(remembered: remembered, numbered: [])
        } else {
            trim(peer, upTo: remembered.conversation.lastNumber - count)
        }
    }

    /// What is to be said to a peer.
    mutating func keepCast(_ cast: Write.Cast) {
        keep(cast.peer, cast.remembered)
        for (numbered, body) in cast.messages where numbered.number > lastNumber(for: cast.peer) {
            rows[cast.peer]?.remembered.conversation.lastNumber = numbered.number
            rows[cast.peer]?.remembered.conversation.outbox.append(body)
            rows[cast.peer]?.numbered.append(numbered)
        }
    }

    private func lastNumber(for peer: Peer.ID) -> UInt64 { rows[peer]?.remembered.conversation.lastNumber ?? 0 }

    /// What a peer has need not be kept.
    mutating func trim(_ peer: Peer.ID, upTo number: UInt64) {
        while let first = rows[peer]?.numbered.first, first.number <= number {
            rows[peer]?.numbered.removeFirst()
            rows[peer]?.remembered.conversation.outbox.removeFirst()
        }
        let last = max(number, lastNumber(for: peer))
        rows[peer]?.remembered.conversation.lastNumber = last
    }

    /// What a peer has said.
    mutating func keepReceipt(_ receipt: Write.Receipt) {
        keep(receipt.peer, receipt.remembered)
        rows[receipt.peer]?.remembered.conversation.theirEpoch = receipt.last.epoch
        rows[receipt.peer]?.remembered.conversation.accepted = receipt.last.number
    }
}

/// A message and its number.
struct NumberedMessage: Hashable, Sendable {
    var number: UInt64
    var message: Int
}

/// One transaction: all of it is on disk, or nothing.
enum Write {
    struct Cast {
        var peer: Peer.ID
        /// As it was when they got their numbers.
        var remembered: MeshCore.Remembered
        /// What an application wants to say. It is told that it is taken when this is written, and not before it is
        /// written it leaves.
        var messages: [(numbered: NumberedMessage, body: [UInt8])]
    }

    struct Receipt {
        var peer: Peer.ID
        /// As it was when the last of these arrived.
        var remembered: MeshCore.Remembered
        /// The last of what has arrived.
        var last: ReceivedMessage
        /// Without what nobody in this world has cast.
        var messages: [Int]
    }

    case cast(Cast)
    /// What was acknowledged is taken off the disk.
    case trim(Peer.ID, upTo: UInt64)
    case receipt(Receipt)
}
