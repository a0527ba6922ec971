// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Foundation
import MeshProtocol
import NodeCore
import NodeStore

/// The commit of a vote: its receipt and the change of the queue, as one transaction on the disk of the temporary
/// folder.
func storeBenchmarks() {
    for songs in [10, 100] {
        Benchmark("commit a vote, \(songs) songs", configuration: .init(maxIterations: 500)) { benchmark in
            let folder = FileManager.default.temporaryDirectory.appending(path: "roadmesh-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let store = try NodeStore.open(folder: folder, now: Date()).store
            defer { store.close() }
            try await store.write(batch(songs: songs, number: 1))
            benchmark.startMeasurement()
            for number in benchmark.scaledIterations {
                try await store.write(batch(songs: songs, number: UInt64(number) + 2))
            }
            benchmark.stopMeasurement()
        }
    }
}

private func batch(songs: Int, number: UInt64) -> StoreBatch {
    let guest = identity(2)
    let key = ConversationKey(guest.peerID, as: .responder, .democracyDJ)
    let durable = Conversation.Durable(epoch: 1, lastNumber: 0, outbox: [], theirEpoch: 1, accepted: number)
    let remembered = MeshCore.Remembered(publicKey: guest.publicKey, conversation: durable)
    var batch = StoreBatch()
    batch.receipts = [StoreBatch.Receipt(conversation: key, epoch: 1, number: number, remembered: remembered)]
    let queue = (0..<songs).map { place in
        QueuedRecord(
            songID: "s\(place)", addedBy: guest.peerID, added: Int64(place),
            voters: place == songs / 2 && number.isMultiple(of: 2) ? [guest.peerID] : [])
    }
    batch.host = HostRecord(
        epoch: 1, nowPlaying: "s\(songs)", isPlaying: true, elapsedMilliseconds: 0, queue: queue, played: [],
        lastAskers: [], banned: [])
    return batch
}
