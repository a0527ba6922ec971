// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("The store in memory that the simulator uses")
    struct BatchTests {
        @Test(
            "all batches give the same contents in memory as on the disk, and are refused alike", arguments: 1...12)
        func sameContents(seed: UInt64) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var dice = Dice(seed: seed)
            var store = try shelf.open()
            var memory = StoredNode()
            var refused = 0
            for _ in 0..<60 {
                let batch = anyBatch(after: memory, &dice)
                let before = memory
                let isTaken = (try? memory.apply(batch)) != nil
                let isWritten = (try? await store.write(batch)) != nil
                #expect(isTaken == isWritten)
                if !isTaken {
                    refused += 1
                    #expect(memory == before)
                }
                #expect(try store.contents() == memory)
                if dice.chance(10) {
                    store.close()
                    store = try shelf.open()
                }
            }
            #expect((1..<40).contains(refused) && !memory.remembered.isEmpty)
            store.close()
        }

        /// Each field has a value, often about the same peers, and sometimes one that no store accepts.
        private func anyBatch(after memory: StoredNode, _ dice: inout Dice) -> StoreBatch {
            var batch = StoreBatch()
            for _ in 0..<dice.below(3) where dice.chance(30) { batch.forget(anyKey(&dice)) }
            for _ in 0..<dice.below(3) {
                let (key, known) = anyRemembered(&dice)
                batch.met.append(.init(conversation: key, remembered: known))
            }
            for _ in 0..<dice.below(4) {
                let (key, known) = anyRemembered(&dice)
                batch.receipts.append(
                    .init(
                        conversation: key, epoch: UInt32(dice.below(3)), number: UInt64(dice.below(9)),
                        remembered: known))
            }
            for _ in 0..<dice.below(5) {
                let (key, known) = anyRemembered(&dice)
                // The outbox after the batch so far, so that most numbers are consecutive.
                var so = memory
                try? so.apply(batch)
                try? so.apply(
                    .with { $0.receipts = [.init(conversation: key, epoch: 0, number: 0, remembered: known)] })
                let last = so.remembered[key]?.conversation.lastNumber ?? 0
                let number = dice.chance(95) ? last + UInt64(dice.below(2)) : last + 2
                batch.outgoing.append(
                    .init(conversation: key, number: number, body: dice.bytes(dice.below(20)), remembered: known))
            }
            for _ in 0..<dice.below(3) {
                batch.acknowledged.append(.init(conversation: anyKey(&dice), upTo: UInt64(dice.below(9))))
            }
            if dice.chance(40) { batch.host = Sample.anyHost(&dice) }
            if dice.chance(5), let item = batch.host?.queue.first { batch.host?.queue.append(item) }
            if dice.chance(40) { batch.guest = Sample.anyGuest(&dice) }
            return batch
        }

        private func anyKey(_ dice: inout Dice, of number: Int? = nil) -> ConversationKey {
            ConversationKey(
                Sample.peer(number ?? dice.below(4)).id, as: dice.chance(50) ? .initiator : .responder, .democracyDJ)
        }

        private func anyRemembered(_ dice: inout Dice) -> (ConversationKey, MeshCore.Remembered) {
            let number = dice.below(4)
            let last = dice.below(7)
            return (
                anyKey(&dice, of: number),
                MeshCore.Remembered(
                    publicKey: Sample.peer(number).key,
                    conversation: Conversation.Durable(
                        epoch: UInt32(1 + dice.below(5) / 4), lastNumber: UInt64(last),
                        outbox: (0..<dice.below(last + 1)).map { _ in [] }, theirEpoch: UInt32(dice.below(3)),
                        accepted: UInt64(dice.below(9))))
            )
        }
    }
}
