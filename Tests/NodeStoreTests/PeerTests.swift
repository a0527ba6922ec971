// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing

@testable import MeshProtocol
@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("Remembered peers")
    struct PeerTests {
        private let ana = Sample.key(1)

        private func remembered(
            epoch: UInt32 = 5, lastNumber: UInt64 = 0, outbox: [[UInt8]] = [], theirEpoch: UInt32 = 0,
            accepted: UInt64 = 0
        ) -> MeshCore.Remembered {
            MeshCore.Remembered(
                publicKey: Sample.peer(1).key,
                conversation: Conversation.Durable(
                    epoch: epoch, lastNumber: lastNumber, outbox: outbox, theirEpoch: theirEpoch, accepted: accepted))
        }

        @Test("messages to a peer as its guest, as its host, and in another service are stored separately")
        func keys() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let chess = try ServiceType("chess")
            let keys = [
                ana, ConversationKey(ana.peer, as: .responder, .democracyDJ),
                ConversationKey(ana.peer, as: .initiator, chess),
            ]
            let said = (UInt8(1)...).prefix(keys.count).map { remembered(lastNumber: 1, outbox: [[$0]]) }
            try await store.write(
                .with {
                    for (key, known) in zip(keys, said) {
                        let body = known.conversation.outbox[0]
                        $0.outgoing.append(.init(conversation: key, number: 1, body: body, remembered: known))
                    }
                })
            #expect(try store.contents().remembered == Dictionary(uniqueKeysWithValues: zip(keys, said)))
            try await store.write(
                .with {
                    $0.forget(keys[1])
                    $0.acknowledged = [.init(conversation: keys[2], upTo: 1)]
                })
            #expect(try store.contents().remembered == [ana: said[0], keys[2]: remembered(lastNumber: 1)])
            store.close()
        }

        @Test(
            "a node that loses its power at any time remembers what it has written, and nothing else",
            arguments: 1...10)
        func powerCuts(seed: UInt64) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var dice = Dice(seed: seed)
            var store = try shelf.open()
            var ours = Conversation(epoch: 9, holdsUntilStored: true)
            ours.begin(with: Resumption(epoch: 77, first: 4, theirEpoch: 0, delivered: 0))
            var batch = StoreBatch()
            var theirs: UInt64 = 3
            try await store.write(.with { $0.met = [.init(conversation: ana, remembered: Sample.remembered(1, ours))] })
            for _ in 0..<200 {
                switch dice.below(7) {
                case 0, 1:
                    let body = dice.bytes(dice.below(20))
                    guard case .queued(let number) = ours.send(body, as: .reliable) else { continue }
                    let now = Sample.remembered(1, ours)
                    batch.outgoing.append(.init(conversation: ana, number: number, body: body, remembered: now))
                case 2:
                    while ours.nextReliable() != nil {}
                    let first = ours.resumption.first
                    guard ours.unacknowledged > ours.held else { continue }
                    let number = first + UInt64(dice.below(ours.unacknowledged - ours.held))
                    #expect(ours.acknowledge(upTo: number) == .acknowledged)
                    batch.acknowledged.append(.init(conversation: ana, upTo: number))
                case 3:
                    theirs += 1
                    _ = ours.receive(MessageUnit(.reliable, number: theirs, body: []))
                    let now = Sample.remembered(1, ours)
                    batch.receipts.append(.init(conversation: ana, epoch: 77, number: theirs, remembered: now))
                case 4, 5:
                    try await store.write(batch)
                    if let last = batch.outgoing.last { _ = ours.stored(upTo: last.number) }
                    if let last = batch.receipts.last { _ = ours.accept(upTo: last.number, of: 77) }
                    batch = StoreBatch()
                    #expect(try store.contents().remembered[ana]?.conversation == ours.durable)
                default:
                    // The power is cut. Nothing is lost that was sent, or acknowledged by either side.
                    store = try shelf.open()
                    let found = try #require(try store.contents().remembered[ana])
                    let restored = Conversation(restoring: found.conversation, holdsUntilStored: true)
                    var again = try #require(restored)
                    let withdrawn = ours.withdrawHeld()
                    #expect(withdrawn == batch.outgoing.count)
                    #expect(again.durable.lastNumber == ours.durable.lastNumber)
                    #expect(again.durable.accepted == ours.durable.accepted)
                    #expect(again.durable.outbox.suffix(ours.unacknowledged) == ours.durable.outbox[...])
                    // The peer reports what it has received.
                    let delivered = ours.resumption.first - 1
                    theirs = again.durable.accepted
                    again.begin(with: Resumption(epoch: 77, first: theirs + 1, theirEpoch: 9, delivered: delivered))
                    #expect(again.durable.outbox == ours.durable.outbox)
                    batch = .with { $0.acknowledged = [.init(conversation: ana, upTo: delivered)] }
                    ours = again
                }
            }
        }

        @Test("sent and received messages are stored separately")
        func apart() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let old = remembered(theirEpoch: 8, accepted: 2)
            try await store.write(.with { $0.met = [.init(conversation: ana, remembered: old)] })
            try await store.write(
                .with { $0.receipts = [.init(conversation: ana, epoch: 8, number: 6, remembered: old)] })
            // This write was prepared before the receipt.
            let said = remembered(lastNumber: 1, outbox: [[1]], theirEpoch: 8, accepted: 2)
            try await store.write(
                .with {
                    $0.met = [.init(conversation: ana, remembered: old)]
                    $0.outgoing = [.init(conversation: ana, number: 1, body: [1], remembered: said)]
                })
            let both = remembered(lastNumber: 1, outbox: [[1]], theirEpoch: 8, accepted: 6)
            #expect(try store.contents().remembered == [ana: both])
            // The peer has started again, and counts from 1.
            try await store.write(
                .with { $0.receipts = [.init(conversation: ana, epoch: 11, number: 1, remembered: old)] })
            let anew = remembered(lastNumber: 1, outbox: [[1]], theirEpoch: 11, accepted: 1)
            #expect(try store.contents().remembered == [ana: anew])
        }

        @Test("a peer with a message before its first record is stored with the core's state of it")
        func firstReceipt() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let known = remembered(lastNumber: 7, outbox: [[1], [2]], theirEpoch: 8, accepted: 2)
            try await store.write(
                .with { $0.receipts = [.init(conversation: ana, epoch: 8, number: 3, remembered: known)] })
            // The messages of the outbox are written separately.
            let kept = remembered(lastNumber: 5, theirEpoch: 8, accepted: 3)
            #expect(try store.contents().remembered == [ana: kept])
        }

        @Test(
            "numbers that the peer has are not used again, even if it acknowledged them without a message of ours"
        )
        func numbersAhead() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(.with { $0.met = [.init(conversation: ana, remembered: remembered())] })
            try await store.write(.with { $0.acknowledged = [.init(conversation: ana, upTo: 5)] })
            #expect(try store.contents().remembered[ana]?.conversation.lastNumber == 5)
            // A message with one of these numbers that was not written yet must not be sent any more.
            let late = StoreBatch.Outgoing(
                conversation: ana, number: 1, body: [1], remembered: remembered(lastNumber: 5))
            try await store.write(.with { $0.outgoing = [late] })
            #expect(try store.contents().remembered[ana] == remembered(lastNumber: 5))
        }

        @Test("a message is not written if the one before it was never written")
        func gap() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let known = remembered(lastNumber: 2, outbox: [[1], [2]])
            let second = StoreBatch.Outgoing(conversation: ana, number: 2, body: [2], remembered: known)
            await #expect(throws: NodeStoreError.self) { try await store.write(.with { $0.outgoing = [second] }) }
            #expect(try store.contents().remembered.isEmpty)
        }

        @Test("nothing is left of a forgotten peer, and a new meeting starts another conversation")
        func forgotten() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let said = StoreBatch.Outgoing(
                conversation: ana, number: 1, body: [1], remembered: remembered(lastNumber: 1, outbox: [[1]]))
            try await store.write(.with { $0.outgoing = [said] })
            var batch = StoreBatch.with { $0.acknowledged = [.init(conversation: ana, upTo: 1)] }
            batch.forget(ana)
            #expect(batch.acknowledged.isEmpty)
            try await store.write(batch)
            #expect(try store.contents().remembered.isEmpty)
            #expect(try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox") } == 0)
            try await store.write(.with { $0.outgoing = [said] })
            // Forgotten and met again before anything was written.
            batch = StoreBatch.with { $0.outgoing = [said] }
            batch.forget(ana)
            batch.met = [.init(conversation: ana, remembered: remembered(epoch: 6, theirEpoch: 3, accepted: 4))]
            try await store.write(batch)
            #expect(try store.contents().remembered == [ana: remembered(epoch: 6, theirEpoch: 3, accepted: 4)])
            // Another epoch has the same effect without a command to forget.
            try await store.write(.with { $0.met = [.init(conversation: ana, remembered: remembered(epoch: 7))] })
            #expect(try store.contents().remembered == [ana: remembered(epoch: 7)])
        }

        @Test(
            "an impossible conversation is left out, and the others are kept",
            arguments: [
                "UPDATE conversation SET epoch = 0 WHERE peer = ?",
                "UPDATE conversation SET lastNumber = 9 WHERE peer = ?",
                "UPDATE conversation SET accepted = 9223372036854775807 WHERE peer = ?",
                "UPDATE conversation SET service = 'Democracy DJ' WHERE peer = ?",
                "DELETE FROM outbox WHERE number = 2 AND conversation = (SELECT id FROM conversation WHERE peer = ?)",
                """
                UPDATE outbox SET body = zeroblob(70000)
                    WHERE number = 1 AND conversation = (SELECT id FROM conversation WHERE peer = ?)
                """,
            ])
        func impossible(change: String) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var store = try shelf.open()
            let bodies: [[UInt8]] = [[1], [2], [3]]
            let known = remembered(lastNumber: 3, outbox: bodies)
            let other = Sample.remembered(2, Conversation(epoch: 2))
            try await store.write(
                .with {
                    $0.met = [.init(conversation: Sample.key(2), remembered: other)]
                    $0.outgoing = (1...3).map {
                        .init(conversation: ana, number: $0, body: bodies[Int($0) - 1], remembered: known)
                    }
                })
            #expect(try store.contents().remembered[ana] == known)
            try await store.database.write { [ana] in try $0.execute(sql: change, arguments: [ana.peer]) }
            store.close()
            let opened = try shelf.opened()
            store = opened.store
            #expect(opened.setAside == nil)
            #expect(try store.contents().remembered == [Sample.key(2): other])
            // Met again, it is new.
            try await store.write(.with { $0.met = [.init(conversation: ana, remembered: remembered(epoch: 12))] })
            #expect(try store.contents().remembered[ana] == remembered(epoch: 12))
        }
    }
}
