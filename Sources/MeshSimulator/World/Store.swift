// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a node has on disk: `MeshCore.Remembered` by peer, and the application's own state.
///
/// What was cast and what was received are different columns of a row: neither takes back what the other has written.
struct Store {
    struct Row {
        var remembered: MeshCore.Remembered
        var numbered: [NumberedMessage]
    }

    var rows: [Peer.ID: Row] = [:]

    /// What is to be said to a peer.
    mutating func keepOutbox(_ remembered: MeshCore.Remembered, _ numbered: [NumberedMessage], for peer: Peer.ID) {
        guard var row = rows[peer] else {
            rows[peer] = Row(remembered: remembered, numbered: numbered)
            return
        }
        row.remembered.conversation.epoch = remembered.conversation.epoch
        row.remembered.conversation.lastNumber = remembered.conversation.lastNumber
        row.remembered.conversation.outbox = remembered.conversation.outbox
        row.numbered = numbered
        rows[peer] = row
    }

    /// What a peer has said.
    mutating func keepReceipt(_ receipt: Write.Receipt) {
        var row = rows[receipt.peer] ?? Row(remembered: receipt.remembered, numbered: receipt.numbered)
        row.remembered.conversation.theirEpoch = receipt.remembered.conversation.theirEpoch
        row.remembered.conversation.accepted = receipt.last.number
        rows[receipt.peer] = row
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
        /// What an application wants to say. It is told that it is taken when this is written, and not before it is
        /// written it leaves.
        var messages: [(message: Int, body: [UInt8])]
    }

    struct Receipt {
        var peer: Peer.ID
        /// As it was when the last of these arrived.
        var remembered: MeshCore.Remembered
        var numbered: [NumberedMessage]
        /// The last of what has arrived.
        var last: ReceivedMessage
        /// Without what nobody in this world has cast.
        var messages: [Int]
    }

    case cast(Cast)
    /// What was acknowledged is taken off the disk.
    case trim(Peer.ID)
    case receipt(Receipt)
}
