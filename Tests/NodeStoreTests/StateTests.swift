// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("The stored state of a host and of a guest")
    struct StateTests {
        @Test("a host that starts again finds its last written state, whatever came before it", arguments: 1...12)
        func host(seed: UInt64) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var dice = Dice(seed: seed)
            var store = try shelf.open()
            var record = Sample.anyHost(&dice)
            for _ in 0..<40 {
                try await store.write(.with { $0.host = record })
                #expect(try store.contents().host == record)
                if dice.chance(25) {
                    store.close()
                    store = try shelf.open()
                }
                record = Sample.next(record, &dice)
            }
            store.close()
        }

        @Test("a guest that starts again finds its last written state, whatever came before it", arguments: 1...8)
        func guest(seed: UInt64) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var dice = Dice(seed: seed)
            var store = try shelf.open()
            for _ in 0..<40 {
                let record = Sample.anyGuest(&dice)
                try await store.write(.with { $0.guest = record })
                #expect(try store.contents().guest == record)
                if dice.chance(25) {
                    store.close()
                    store = try shelf.open()
                }
            }
            store.close()
        }

        @Test("a node that was never a host or a guest has no state of either")
        func nothing() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let contents = try shelf.open().contents()
            #expect(contents == StoredNode(remembered: [:], host: nil, guest: nil))
        }

        @Test(
            "one more vote in a queue of a hundred songs adds one row, and changes one if its song overtakes another"
        )
        func oneMoreVote() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            var record = Sample.host(songs: 100, votes: 10)
            try await store.write(.with { $0.host = record })
            record.queue[50].voters.append("one more")
            #expect(try await changes(in: store) { try await store.write(.with { $0.host = record }) } == 1)
            record.queue[60].voters.append("one more")
            record.queue.insert(record.queue.remove(at: 60), at: 10)
            #expect(try await changes(in: store) { try await store.write(.with { $0.host = record }) } == 2)
            #expect(try await changes(in: store) { try await store.write(.with { $0.host = record }) } == 0)
            #expect(try store.contents().host == record)
        }

        /// The rows that `body` changes.
        private func changes(in store: NodeStore, _ body: () async throws -> Void) async throws -> Int {
            let before = try await store.database.read { $0.totalChangesCount }
            try await body()
            return try await store.database.read { $0.totalChangesCount } - before
        }

        @Test("nothing of a batch that cannot be written is written, and the next batch is")
        func allOrNothing() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var store = try shelf.open()
            let before = Sample.host(songs: 5, votes: 2)
            try await store.write(.with { $0.host = before })
            var impossible = before
            impossible.isPlaying = false
            impossible.queue.append(impossible.queue[0])
            let guest = GuestRecord(wishes: [WishRecord(songID: "s", kind: "vote")])
            let bad = StoreBatch.with {
                $0.host = impossible
                $0.guest = guest
                $0.met = [
                    StoreBatch.Met(conversation: Sample.key(1), remembered: Sample.remembered(1, .init(epoch: 4)))
                ]
            }
            await #expect { try await store.write(bad) } throws: { ($0 as? NodeStoreError)?.code == .failed }
            #expect(try store.contents() == StoredNode(remembered: [:], host: before, guest: nil))
            // The store does not count it as written either.
            var after = before
            after.isPlaying = false
            after.queue[1].voters.append("x")
            try await store.write(
                .with {
                    $0.host = after
                    $0.guest = guest
                })
            store.close()
            store = try shelf.open()
            #expect(try store.contents() == StoredNode(remembered: [:], host: after, guest: guest))
        }

        @Test("batches of many tasks are all written, each in one piece")
        func manyWriters() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        let wishes = (0...number).map { WishRecord(songID: "\($0)", kind: "vote") }
                        try await store.write(
                            .with { $0.guest = GuestRecord(hostEpoch: UInt32(number), wishes: wishes) })
                        let seen = try store.contents().guest
                        #expect(seen?.wishes.count == (seen?.hostEpoch).map { Int($0) + 1 })
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("a write with a cancelled task is still written")
        func cancelled() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.write(.with { $0.guest = GuestRecord(hostEpoch: 5) })
            }
            try await task.value
            #expect(try store.contents().guest == GuestRecord(hostEpoch: 5))
        }

        @Test("a closed store reports this, and an empty batch costs nothing")
        func closed() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            store.close()
            try await store.write(StoreBatch())
            await #expect(throws: NodeStoreError.self) { try await store.write(.with { $0.guest = GuestRecord() }) }
            #expect(throws: NodeStoreError.self) { try store.contents() }
        }
    }
}
