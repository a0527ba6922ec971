// SPDX-License-Identifier: Apache-2.0

import Benchmark
import DemocracyDJ
import MeshProtocol

/// The state as a snapshot and as a change, with queues of several lengths. A host's own queue has at most a hundred
/// songs; a thousand show how the cost grows.
func stateBenchmarks() {
    for songs in [10, 100, 1_000] {
        let before = snapshot(songs: songs, revision: 1, voted: songs / 2)
        let after = snapshot(songs: songs, revision: 2, voted: songs / 2 + 1)
        let whole = MeshMessage.stateUpdate(after).encoded
        Benchmark("encode a state of \(songs) songs") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(MeshMessage.stateUpdate(after).encoded) }
        }
        guard let change = HostChange(from: before, to: after) else { fatalError("there is no change") }
        Benchmark("build a vote's change, \(songs) songs") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(HostChange(from: before, to: after)) }
        }
        Benchmark("encode a vote's change, \(songs) songs") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(MeshMessage.stateChange(change).encoded) }
        }
        // A guest rejects a longer queue.
        if songs <= DJLimits.queuedSongs { guestBenchmarks(before, change, whole) }
    }
}

private func guestBenchmarks(_ before: HostSnapshot, _ change: HostChange, _ whole: [UInt8]) {
    let songs = before.queue.count
    Benchmark("decode a state of \(songs) songs") { benchmark in
        for _ in benchmark.scaledIterations {
            guard let message = MeshMessage(encoded: whole) else { fatalError("the state is invalid") }
            blackHole(message)
        }
    }
    Benchmark("apply a vote's change, \(songs) songs") { benchmark in
        for _ in benchmark.scaledIterations {
            guard let applied = before.applying(change) else { fatalError("the change does not fit") }
            blackHole(applied)
        }
    }
}

/// A state in which one song has a vote more than in the previous one.
private func snapshot(songs: Int, revision: UInt64, voted: Int) -> HostSnapshot {
    let guests = (0..<16).map { Peer(id: identity(2 + $0).peerID, name: "Guest \($0)") }
    let queue = (0..<songs).map { number in
        QueueItem(
            song: song(number), addedBy: guests[number % guests.count].id,
            voters: number < voted ? guests.prefix(number % 4 + 1).map(\.id) : [])
    }
    return HostSnapshot(
        epoch: 1, revision: revision, nowPlaying: QueueItem(song: song(songs), addedBy: guests[0].id), isPlaying: true,
        elapsed: 10, queue: queue, connectedPeers: guests)
}
