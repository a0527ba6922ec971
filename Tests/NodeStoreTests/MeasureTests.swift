// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import NodeCore
@testable import NodeStore

/// The cost of a vote on the disk of temporary files: `ROADMESH_MEASURE=1 TMPDIR=…` prints it.
private let isMeasured = ProcessInfo.processInfo.environment["ROADMESH_MEASURE"] != nil

extension StoreTests {
    @Suite("Measuring the store", .serialized, .enabled(if: isMeasured))
    struct MeasureTests {
        @Test("durable batches a second, each with a vote that a host receives", arguments: [1, 16])
        func votes(perBatch: Int) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            var record = Sample.host(songs: 100, votes: 8)
            try await store.write(.with { $0.host = record })
            let remembered = Sample.remembered(1, .init(epoch: 4))
            let batches = 500
            var number: UInt64 = 0
            let start = ContinuousClock.now
            for _ in 0..<batches {
                let batch = StoreBatch.with { batch in
                    for guest in 0..<perBatch {
                        number += 1
                        let song = Int(number) % record.queue.count
                        record.queue[song].voters.append("voter \(number)")
                        let key = Sample.key(guest)
                        batch.receipts.append(
                            .init(conversation: key, epoch: 7, number: number, remembered: remembered))
                    }
                    batch.host = record
                }
                try await store.write(batch)
            }
            let time = (ContinuousClock.now - start) / .seconds(1)
            let rate = (Double(batches) / time).formatted(.number.precision(.fractionLength(0)))
            print("\(perBatch) votes a batch: \(rate) batches a second")
            #expect(try store.contents().host == record)
            store.close()
        }

        @Test("durable batches a second, each with a vote that a guest casts")
        func casts() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let peer = Sample.key(1)
            let start = ContinuousClock.now
            let batches: UInt64 = 500
            for number in 1...batches {
                let batch = StoreBatch.with {
                    let remembered = Sample.remembered(1, .init(epoch: 4))
                    let body = [UInt8](repeating: 1, count: 24)
                    $0.outgoing = [.init(conversation: peer, number: number, body: body, remembered: remembered)]
                    if number > 1 { $0.acknowledged = [.init(conversation: peer, upTo: number - 1)] }
                    $0.guest = GuestRecord(host: peer.peer, wishes: [WishRecord(songID: "\(number)", kind: "vote")])
                }
                try await store.write(batch)
            }
            let rate = Double(batches) / ((ContinuousClock.now - start) / .seconds(1))
            print("a cast vote a batch: \(rate.formatted(.number.precision(.fractionLength(0)))) batches a second")
            #expect(try store.contents().remembered[peer]?.conversation.outbox.count == 1)
            store.close()
        }
    }
}
