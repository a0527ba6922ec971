// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

/// A host with an empty queue and forty songs.
struct EmptyQueue {
    var host: HostFeature

    init(_ fairness: Fairness) {
        host = HostFeature(
            local: Example.host,
            library: SongLibrary(
                RandomState.songs.map { song in
                    var song = song
                    song.duration += 1
                    return song
                }), fairness: fairness, epoch: 1, now: .zero)
        for item in host.snapshot.queue { _ = host.handle(.command(.remove(item.id)), now: .zero) }
    }

    @discardableResult
    mutating func suggest(_ number: Int, by peer: Peer) -> [HostFeature.Effect] {
        host.handle(Example.intent(.suggestSong(songID: "song-\(number)"), from: peer), now: .zero)
    }

    mutating func skip(by peer: Peer) -> [HostFeature.Effect] {
        let songID = host.snapshot.nowPlaying?.id ?? ""
        return host.handle(Example.intent(.skip(songID: songID), from: peer), now: .zero)
    }

    mutating func join(_ peers: Peer...) {
        for peer in peers { _ = host.handle(.multipeerEvent(.peerConnected(peer)), now: .zero) }
    }

    var order: [Song.ID] { host.snapshot.queue.map(\.id) }
}

@Suite("Fairness between guests")
struct FairnessTests {
    // MARK: openSuggestions

    @Test("openSuggestions, on: one suggestion too many is rejected until one of the guest's songs has left")
    func openSuggestionsOn() {
        var queue = EmptyQueue(Fairness(openSuggestions: 2))
        queue.suggest(1, by: Example.ana)
        queue.suggest(2, by: Example.ana)
        let third = GuestIntent.suggestSong(songID: "song-3")
        #expect(
            queue.suggest(3, by: Example.ana) == [
                .report(third, from: Example.ana, rejected: .tooManySuggestions),
                .reject(third, .tooManySuggestions, to: Example.ana.id),
            ])
        queue.suggest(3, by: Example.bob)
        #expect(queue.order == ["song-1", "song-2", "song-3"])
        // A vote is not a suggestion.
        queue.suggest(3, by: Example.ana)
        #expect(queue.host.snapshot.queue.first?.voters == [Example.ana.id])
        for _ in 0..<2 { _ = queue.host.handle(.command(.skip), now: .zero) }
        queue.suggest(4, by: Example.ana)
        #expect(queue.order == ["song-2", "song-4"])
    }

    @Test("openSuggestions, off: a guest may suggest as many songs as the queue accepts")
    func openSuggestionsOff() {
        var queue = EmptyQueue(Fairness(openSuggestions: nil))
        for number in 1...30 { queue.suggest(number, by: Example.ana) }
        #expect(queue.order.count == 30)
    }

    @Test("openSuggestions does not apply to the person at the head unit")
    func openSuggestionsOfHost() {
        var queue = EmptyQueue(Fairness(openSuggestions: 1))
        for number in 1...5 { _ = queue.host.handle(.command(.add("song-\(number)")), now: .zero) }
        #expect(queue.order.count == 5)
    }

    // MARK: songsInARow

    @Test("songsInARow, on: another guest's song comes in between")
    func songsInARowOn() {
        var queue = EmptyQueue(Fairness(songsInARow: 2))
        for number in 1...4 { queue.suggest(number, by: Example.ana) }
        queue.suggest(5, by: Example.bob)
        #expect(queue.order == ["song-1", "song-2", "song-5", "song-3", "song-4"])
        // Played songs count: after song-1 and song-2 it is Bob's turn.
        for expected in ["song-1", "song-2", "song-5", "song-3", "song-4"] {
            _ = queue.host.handle(.command(.skip), now: .zero)
            #expect(queue.host.snapshot.nowPlaying?.id == expected)
        }
    }

    @Test("songsInARow, off: only votes and the order of adding decide")
    func songsInARowOff() {
        var queue = EmptyQueue(Fairness(songsInARow: nil))
        for number in 1...4 { queue.suggest(number, by: Example.ana) }
        queue.suggest(5, by: Example.bob)
        #expect(queue.order == ["song-1", "song-2", "song-3", "song-4", "song-5"])
    }

    // MARK: majoritySkip

    @Test("majoritySkip, on: more than half of the guests skip a song, with one vote each")
    func majoritySkipOn() {
        var queue = EmptyQueue(Fairness(majoritySkip: true))
        queue.join(Example.ana, Example.bob, Example.otherBob)
        let first = queue.host.snapshot.nowPlaying?.id
        _ = queue.skip(by: Example.ana)
        #expect(queue.host.snapshot.skipVoters == [Example.ana.id])
        #expect(queue.skip(by: Example.ana).last == .send(queue.host.snapshot, to: Example.ana.id))
        #expect(queue.host.snapshot.nowPlaying?.id == first)
        _ = queue.skip(by: Example.bob)
        #expect(queue.host.snapshot.nowPlaying?.id != first)
        #expect(queue.host.snapshot.skipVoters == [])
    }

    @Test("majoritySkip: half is not enough, until another guest leaves")
    func halfIsNotEnough() {
        var queue = EmptyQueue(Fairness(majoritySkip: true))
        queue.join(Example.ana, Example.bob)
        let first = queue.host.snapshot.nowPlaying?.id
        _ = queue.skip(by: Example.ana)
        #expect(queue.host.snapshot.nowPlaying?.id == first)
        let effects = queue.host.handle(.multipeerEvent(.peerDisconnected(Example.bob)), now: .zero)
        #expect(queue.host.snapshot.nowPlaying?.id != first)
        #expect(effects == [.broadcast(queue.host.snapshot)])
    }

    @Test("majoritySkip: a guest that leaves takes its vote to skip along")
    func skipVoterLeaves() {
        var queue = EmptyQueue(Fairness(majoritySkip: true))
        queue.join(Example.ana, Example.bob, Example.otherBob)
        let first = queue.host.snapshot.nowPlaying?.id
        _ = queue.skip(by: Example.ana)
        _ = queue.host.handle(.multipeerEvent(.peerDisconnected(Example.ana)), now: .zero)
        #expect(queue.host.snapshot.skipVoters == [])
        _ = queue.skip(by: Example.bob)
        #expect(queue.host.snapshot.nowPlaying?.id == first)
    }

    @Test("majoritySkip: a late vote skips no other song")
    func lateSkip() {
        var queue = EmptyQueue(Fairness(majoritySkip: true))
        queue.join(Example.ana)
        let late = GuestIntent.skip(songID: "song-0")
        _ = queue.host.handle(.command(.skip), now: .zero)
        let present = queue.host.snapshot
        let effects = queue.host.handle(Example.intent(late, from: Example.ana), now: .zero)
        #expect(effects.last == .reject(late, .notPlaying, to: Example.ana.id))
        #expect(queue.host.snapshot == present)
    }

    @Test("majoritySkip: guests choose the song after a pause, and do not end the pause")
    func skipWhilePaused() {
        var queue = EmptyQueue(Fairness(majoritySkip: true))
        queue.join(Example.ana)
        let first = queue.host.snapshot.nowPlaying?.id
        _ = queue.host.handle(.command(.pause), now: .zero)
        _ = queue.skip(by: Example.ana)
        #expect(queue.host.snapshot.nowPlaying?.id != first)
        #expect(!queue.host.snapshot.isPlaying)
        _ = queue.host.handle(.command(.play), now: .zero)
        #expect(queue.host.snapshot.isPlaying)
    }

    @Test("majoritySkip, off: a guest gets the answer that only the driver can skip")
    func majoritySkipOff() {
        var queue = EmptyQueue(Fairness())
        queue.join(Example.ana)
        let before = queue.host.snapshot
        let intent = GuestIntent.skip(songID: before.nowPlaying?.id ?? "")
        #expect(queue.skip(by: Example.ana).last == .reject(intent, .skippingNotAllowed, to: Example.ana.id))
        #expect(queue.host.snapshot == before)
    }

    @Test(
        "voteOnly: a suggestion is refused with the reason, one of a queued song is a vote, and the driver adds songs"
    )
    func voteOnly() {
        var fairness = Fairness()
        fairness.voteOnly = true
        var host = HostFeature(
            local: Example.host, library: SongLibrary(Example.songs), fairness: fairness, opens: 1, epoch: 1, now: .zero
        )
        let (queued, other) = (Example.songs[1].id, Example.songs[2].id)
        func suggest(_ song: Song.ID) -> [HostFeature.Effect] {
            host.handle(
                .multipeerEvent(.messageReceived(.intent(.suggestSong(songID: song)), from: Example.ana)), now: .zero)
        }
        let refused = suggest(other)
        #expect(refused.last == .reject(.suggestSong(songID: other), .votingOnly, to: Example.ana.id))
        _ = suggest(queued)
        #expect(host.snapshot.queue.map(\.id) == [queued] && host.snapshot.queue.first?.voters == [Example.ana.id])
        _ = host.handle(.command(.add(other)), now: .zero)
        #expect(host.snapshot.queue.map(\.id) == [queued, other])
    }
}
