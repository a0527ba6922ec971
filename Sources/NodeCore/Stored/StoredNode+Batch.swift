// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Applies a batch to stored state without a disk. The simulator's nodes store their state this way.

extension StoredNode {
    /// Becomes the value that `NodeStore.contents` returns after `NodeStore.write` of this batch. If the store would
    /// throw, throws and changes nothing: for a gap in an outbox, or a queue with a repeated song.
    package mutating func apply(_ batch: StoreBatch) throws(NodeStoreError) {
        var next = self
        for key in batch.forgotten { next.remembered[key] = nil }
        for met in batch.met { next.keep(met.conversation, met.remembered) }
        for receipt in batch.receipts { next.take(receipt) }
        for outgoing in batch.outgoing { try next.take(outgoing) }
        for acknowledged in batch.acknowledged {
            next.remembered[acknowledged.conversation]?.conversation.trim(upTo: acknowledged.upTo)
        }
        if let host = batch.host {
            guard Set(host.queue.map(\.songID)).count == host.queue.count else {
                throw NodeStoreError(.failed, cause: "the queue has a song twice")
            }
            next.host = host
        }
        if let guest = batch.guest { next.guest = guest }
        if let invitations = batch.invitations { next.invitations = invitations }
        if let bans = batch.bans { next.bans = bans }
        if let drivers = batch.drivers { next.drivers = drivers }
        if let drivers = batch.browserDrivers { next.browserDrivers = drivers }
        if let knownHosts = batch.knownHosts { next.knownHosts = knownHosts }
        if let unanswered = batch.unanswered { next.unanswered = unanswered }
        self = next
    }

    /// See `ConversationTables.keep`.
    private mutating func keep(_ key: ConversationKey, _ remembered: MeshCore.Remembered) {
        let durable = remembered.conversation
        var row = self.remembered[key] ?? remembered
        if self.remembered[key]?.conversation.epoch != durable.epoch {
            row = remembered
            row.conversation.outbox = []
            row.conversation.lastNumber = 0
        }
        row.publicKey = remembered.publicKey
        row.conversation.trim(upTo: durable.lastNumber - min(UInt64(durable.outbox.count), durable.lastNumber))
        self.remembered[key] = row
    }

    private mutating func take(_ receipt: StoreBatch.Receipt) {
        keep(receipt.conversation, receipt.remembered)
        guard var conversation = remembered[receipt.conversation]?.conversation else { return }
        let isSameEpoch = conversation.theirEpoch == receipt.epoch
        conversation.accepted = isSameEpoch ? max(conversation.accepted, receipt.number) : receipt.number
        conversation.theirEpoch = receipt.epoch
        remembered[receipt.conversation]?.conversation = conversation
    }

    private mutating func take(_ outgoing: StoreBatch.Outgoing) throws(NodeStoreError) {
        keep(outgoing.conversation, outgoing.remembered)
        guard let last = remembered[outgoing.conversation]?.conversation.lastNumber, outgoing.number > last else {
            return
        }
        guard outgoing.number == last + 1 else {
            throw NodeStoreError(.failed, cause: "message \(outgoing.number) follows \(last) in an outbox")
        }
        remembered[outgoing.conversation]?.conversation.outbox.append(outgoing.body)
        remembered[outgoing.conversation]?.conversation.lastNumber = outgoing.number
    }
}

extension Conversation.Durable {
    /// The peer has all messages up to a number, and these numbers are not used again.
    fileprivate mutating func trim(upTo number: UInt64) {
        let first = lastNumber - UInt64(outbox.count) + 1
        if number >= first { outbox.removeFirst(min(outbox.count, Int(clamping: number - first) + 1)) }
        lastNumber = max(lastNumber, number)
    }
}
