// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DemocracyDJ

@Suite("A guest's recent states")
struct RecentStatesTests {
    @Test("the number of recent states is limited, and their songs have continued since")
    func longAgo() throws {
        let item = QueueItem(song: Example.songs[0], addedBy: "host")
        let states = (0...DJLimits.recentStates + 1).map { place in
            HostSnapshot(
                epoch: 1, revision: UInt64(place + 1), nowPlaying: item, isPlaying: true, queue: [], connectedPeers: [])
        }
        // Something other than the progress changes: a change of the progress alone is the driver's.
        var last = states[states.count - 1]
        last.queue = [QueueItem(song: Example.songs[1], addedBy: "host")]
        var recent = RecentStates()
        for state in states.dropLast() { recent.append(state, at: .zero) }
        let changes = try (0...1).map { try #require(HostChange(from: states[$0], to: last)) }
        #expect(recent.applying(changes[0], at: .zero) == nil)
        #expect(recent.applying(changes[1], at: .zero) == last)
        #expect(recent.applying(changes[1], at: .seconds(3))?.elapsed == 3)
    }
}
