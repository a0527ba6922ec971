// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("A resumed session")
struct SavedSessionTests {
    private var host = Example.hostFeature()

    /// s1 has played for 30 s; s5 has two votes and s3 one.
    init() {
        for (songID, peer) in [("s5", Example.bob), ("s3", Example.ana), ("s5", Example.ana)] {
            _ = host.handle(Example.intent(.vote(songID: songID), from: peer), now: .seconds(10))
        }
    }

    private func resumed(
        _ songs: [Song] = Example.songs, fairness: Fairness = Fairness(), at now: MeshInstant = .seconds(1_000)
    ) -> HostFeature {
        HostFeature(
            local: Example.host, library: SongLibrary(songs), fairness: fairness,
            resuming: host.savedSession(now: .seconds(30)), epoch: 8, now: now)
    }

    @Test("a resumed session has its song at the same position, its queue in the same order, and its votes")
    func everything() {
        let again = resumed()
        #expect(again.snapshot.queue == host.snapshot.queue)
        #expect(again.snapshot.queue.map(\.id) == ["s5", "s3", "s2", "s4"])
        #expect(again.snapshot.queue[0].voters == [Example.bob.id, Example.ana.id])
        #expect(again.snapshot.nowPlaying == host.snapshot.nowPlaying)
        #expect(again.snapshot.isPlaying)
        // 30 of 101 seconds have passed.
        #expect(again.songEnds == .seconds(1_000 + 71))
        #expect(again.fault == nil)
    }

    @Test("a resumed session is another run: guests accept its state, and no guest is connected yet")
    func newRun() {
        let again = resumed()
        #expect(again.snapshot.supersedes(host.snapshot))
        #expect(again.snapshot.connectedPeers == [])
        #expect(again.deadline == .seconds(1_000) + DJLimits.stateHeartbeat)
    }

    @Test("a resumed session keeps the order of adding: a new song comes last among its equals")
    func orderOfAdding() {
        var again = resumed()
        _ = again.handle(.command(.remove("s2")), now: .seconds(1_000))
        _ = again.handle(.command(.add("s2")), now: .seconds(1_000))
        #expect(again.snapshot.queue.map(\.id) == ["s5", "s3", "s4", "s2"])
        _ = again.handle(Example.intent(.takeBackVote(songID: "s3"), from: Example.ana), now: .seconds(1_000))
        #expect(again.snapshot.queue.map(\.id) == ["s5", "s3", "s4", "s2"])
    }

    @Test("a resumed session knows the played songs")
    func played() {
        var earlier = self
        _ = earlier.host.handle(.command(.skip), now: .seconds(30))
        var again = earlier.resumed()
        let effects = again.handle(Example.intent(.vote(songID: "s1"), from: Example.ana), now: .seconds(1_000))
        #expect(effects.last == .reject(.vote(songID: "s1"), .alreadyPlayed, to: Example.ana.id))
    }

    @Test("a paused session stays paused, at its position")
    func paused() {
        var earlier = self
        _ = earlier.host.handle(.command(.pause), now: .seconds(20))
        var again = earlier.resumed()
        #expect(!again.snapshot.isPlaying)
        _ = again.handle(.command(.play), now: .seconds(2_000))
        #expect(again.songEnds == .seconds(2_000 + 81))
    }

    @Test("songs that the library has lost are left out; if the current one is lost, the next one plays")
    func lostSongs() {
        let again = resumed([Example.songs[1], Example.songs[2]])
        #expect(again.snapshot.nowPlaying?.id == "s3")
        #expect(again.snapshot.queue.map(\.id) == ["s2"])
        #expect(again.songEnds == .seconds(1_000 + 103))
        #expect(again.state.played == ["s3"])
        #expect(again.fault == nil)
    }

    @Test("a resumed session without songs is silent, and one with a new library plays it")
    func otherLibrary() {
        #expect(resumed([]).snapshot.nowPlaying == nil)
        #expect(!resumed([]).snapshot.isPlaying)
        let other = Song(id: "new", title: "New", artist: "", duration: 60)
        #expect(resumed([other]).snapshot.nowPlaying?.id == "new")
    }

    @Test("a resumed session with other policies has its queue in their order")
    func otherPolicies() {
        var queue = EmptyQueue(Fairness(songsInARow: 3))
        for number in 1...4 { queue.suggest(number, by: Example.ana) }
        queue.suggest(5, by: Example.bob)
        for _ in 0..<2 { _ = queue.host.handle(.command(.skip), now: .zero) }
        #expect(queue.order == ["song-3", "song-5", "song-4"])
        let again = HostFeature(
            local: Example.host, library: queue.host.library, fairness: Fairness(songsInARow: 1),
            resuming: queue.host.savedSession(now: .zero), epoch: 2, now: .zero)
        #expect(again.snapshot.queue.map(\.id) == ["song-5", "song-3", "song-4"])
        #expect(again.fault == nil)
    }
}
