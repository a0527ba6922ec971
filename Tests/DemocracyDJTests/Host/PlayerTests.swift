// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A host with a player")
struct PlayerTests {
    private static let songs = (1...5).map {
        Song(id: "s\($0)", title: "Song \($0)", artist: "", duration: Double(100 * $0))
    }
    private var host = HostFeature(
        local: Example.host, library: SongLibrary(songs), hasPlayer: true, opens: 0, epoch: 1, now: .zero)

    private mutating func handle(_ event: HostFeature.Event, at seconds: Int = 0) -> [HostFeature.Effect] {
        host.handle(event, now: .seconds(seconds))
    }

    private mutating func connect(_ peers: Peer...) {
        for peer in peers { _ = handle(.multipeerEvent(.peerConnected(peer))) }
    }

    private mutating func wish(_ intent: GuestIntent, by peer: Peer) -> [HostFeature.Effect] {
        handle(.multipeerEvent(.messageReceived(.intent(intent), from: peer)))
    }

    @Test("with a library the queue is left to the guests, and music plays without requests")
    func opening() {
        #expect(host.snapshot.nowPlaying?.id == "s1")
        #expect(host.snapshot.queue.isEmpty)
        #expect(host.playback(now: .seconds(3)).elapsed == .seconds(3))
        #expect(host.playback(now: .zero).next?.id == "s2")
    }

    @Test("a song ends when the player reports it, whatever its length")
    mutating func ended() {
        #expect(host.songEnds == nil)
        _ = handle(.tick, at: 1_000)
        #expect(host.snapshot.nowPlaying?.id == "s1")
        #expect(handle(.player(.ended("s2")), at: 1_000).isEmpty, "it does not play")
        _ = handle(.player(.ended("s1")), at: 1_000)
        #expect(host.snapshot.nowPlaying?.id == "s2")
        #expect(host.snapshot.elapsed == 0)
    }

    @Test("a song without sound stops for all, and continues when the sound is back")
    mutating func noSound() {
        _ = handle(.player(.elapsed("s1", .seconds(30))), at: 30)
        #expect(!handle(.player(.waits("s1", at: .seconds(31))), at: 31).isEmpty, "all guests are notified")
        #expect(handle(.player(.waits("s1", at: .seconds(31))), at: 40).isEmpty, "once")
        #expect(!host.snapshot.isPlaying && !host.snapshot.hasSound && host.snapshot.elapsed == 31)
        #expect(host.playback(now: .seconds(90)).elapsed == .seconds(31))
        #expect(host.playback(now: .seconds(90)).isPlaying, "the player goes on trying")
        #expect(!handle(.player(.elapsed("s1", .seconds(31))), at: 95).isEmpty)
        #expect(host.snapshot.isPlaying && host.snapshot.hasSound)
        #expect(host.playback(now: .seconds(96)).elapsed == .seconds(32))
        _ = handle(.player(.waits("s1", at: .seconds(40))), at: 104)
        _ = handle(.command(.skip), at: 110)
        #expect(!host.snapshot.hasSound, "another song makes no loudspeaker")
        #expect(host.playback(now: .seconds(112)).elapsed == .zero)
        _ = handle(.player(.elapsed("s2", .zero)), at: 120)
        #expect(host.snapshot.hasSound && host.playback(now: .seconds(122)).elapsed == .seconds(2))
    }

    @Test("the next song is the queue's first one at that time")
    mutating func next() {
        connect(Example.ana, Example.bob)
        _ = wish(.suggestSong(songID: "s4"), by: Example.ana)
        _ = wish(.suggestSong(songID: "s3"), by: Example.bob)
        #expect(host.playback(now: .zero).next?.id == "s4")
        _ = wish(.vote(songID: "s3"), by: Example.ana)
        _ = wish(.vote(songID: "s3"), by: Example.bob)
        #expect(host.playback(now: .zero).next?.id == "s3")
    }

    @Test("a song that follows itself counts as a new turn, so that the player starts it again")
    mutating func alone() {
        host = HostFeature(
            local: Example.host, library: SongLibrary([Self.songs[0]]), hasPlayer: true, epoch: 1, now: .zero)
        let before = host.playback(now: .zero)
        _ = handle(.player(.ended("s1")))
        #expect(!host.playback(now: .zero).isSame(as: before))
        #expect(host.playback(now: .zero).song == before.song)
    }

    @Test("the player's position of a song counts, and a pause keeps it")
    mutating func elapsed() {
        #expect(handle(.player(.elapsed("s1", .seconds(7))), at: 20).isEmpty)
        #expect(host.playback(now: .seconds(21)).elapsed == .seconds(8))
        _ = handle(.command(.pause), at: 22)
        _ = handle(.player(.elapsed("s1", .seconds(9))), at: 30)
        #expect(host.playback(now: .seconds(40)).elapsed == .seconds(9))
        #expect(handle(.player(.elapsed("s2", .seconds(50))), at: 40).isEmpty)
        #expect(host.playback(now: .seconds(40)).elapsed == .seconds(9))
    }

    @Test("an unplayable song is skipped without another attempt, and the driver and its voters are notified")
    mutating func failed() {
        connect(Example.ana, Example.bob, Example.otherBob)
        _ = wish(.suggestSong(songID: "s3"), by: Example.ana)
        _ = wish(.vote(songID: "s3"), by: Example.bob)
        _ = handle(.command(.skip))
        #expect(host.snapshot.nowPlaying?.id == "s3")
        let effects = handle(.player(.failed("s3")))
        #expect(
            effects.dropLast() == [
                .reject(.vote(songID: "s3"), .cannotBePlayed, to: Example.ana.id),
                .reject(.vote(songID: "s3"), .cannotBePlayed, to: Example.bob.id),
                .notice(Notice(.songFailed(title: "Song 3"))),
            ])
        #expect(host.snapshot.nowPlaying?.id == "s2")
        #expect(wish(.suggestSong(songID: "s3"), by: Example.otherBob).last?.isRejection(.cannotBePlayed) == true)
        #expect(handle(.player(.failed("s3"))).isEmpty, "it does not play any more")
    }

    @Test("if no song can be played, the music stops, without a loop")
    mutating func noneCanBePlayed() {
        for _ in 0..<20 {
            guard let item = host.snapshot.nowPlaying else { break }
            _ = handle(.player(.failed(item.id)))
        }
        #expect(host.snapshot.nowPlaying == nil)
        #expect(host.playback(now: .zero).next == nil)
    }

    @Test("a pause stays a pause when the song is unplayable")
    mutating func failedWhilePaused() {
        _ = handle(.command(.pause))
        _ = handle(.player(.failed("s1")))
        #expect(host.snapshot.nowPlaying?.id == "s2")
        #expect(!host.snapshot.isPlaying)
    }

    @Test("while the library is missing the music waits, keeps its queue, and fails no song")
    mutating func libraryAway() {
        connect(Example.ana)
        _ = wish(.suggestSong(songID: "s3"), by: Example.ana)
        let before = host.snapshot
        #expect(handle(.libraryAway(true), at: 5) == [.broadcast(host.snapshot)])
        #expect(!host.snapshot.isPlaying && !host.playback(now: .seconds(5)).isPlaying)
        #expect(handle(.libraryAway(true), at: 6).isEmpty)
        #expect(handle(.player(.failed("s1")), at: 7).isEmpty)
        #expect(host.playback(now: .seconds(60)).elapsed == .seconds(5))
        #expect(host.savedSession(now: .seconds(60)).isPlaying, "a host that is started again goes on, too")
        _ = handle(.libraryAway(false), at: 60)
        #expect(host.snapshot.isPlaying && host.snapshot.queue == before.queue)
        #expect(host.playback(now: .seconds(62)).elapsed == .seconds(7))
    }

    @Test("a driver's pause stays when the library is back, and play is remembered while it is missing")
    mutating func pauseWhileAway() {
        _ = handle(.command(.pause), at: 5)
        #expect(handle(.libraryAway(true), at: 6).isEmpty)
        #expect(handle(.libraryAway(false), at: 7).isEmpty && !host.snapshot.isPlaying)
        _ = handle(.libraryAway(true), at: 8)
        _ = handle(.command(.play), at: 9)
        #expect(!host.snapshot.isPlaying)
        _ = handle(.libraryAway(false), at: 10)
        #expect(host.snapshot.isPlaying)
    }

    @Test("without a player no song ends while the library is missing")
    mutating func silentLibraryAway() {
        host = HostFeature(local: Example.host, library: SongLibrary(Self.songs), epoch: 1, now: .zero)
        #expect(host.songEnds != nil)
        _ = handle(.libraryAway(true), at: 1)
        #expect(host.songEnds == nil)
    }

    @Test("a library that was empty starts to play when its songs are known")
    mutating func firstSongs() {
        host = HostFeature(local: Example.host, library: SongLibrary([]), hasPlayer: true, epoch: 1, now: .zero)
        #expect(host.snapshot.nowPlaying == nil)
        _ = handle(.library(SongLibrary(Self.songs)), at: 4)
        #expect(host.snapshot.nowPlaying?.id == "s1")
        #expect(handle(.library(SongLibrary(Self.songs)), at: 5).isEmpty, "it is as before")
    }

    @Test("songs that left the library leave the queue; new tags are shown, votes stay, and the current song continues")
    mutating func otherLibrary() {
        connect(Example.ana)
        for song in ["s3", "s4"] { _ = wish(.suggestSong(songID: song), by: Example.ana) }
        _ = wish(.vote(songID: "s4"), by: Example.ana)
        var renamed = Self.songs[3]
        renamed.title = "Another name"
        let effects = handle(.library(SongLibrary([renamed])))
        #expect(effects == [.broadcast(host.snapshot)])
        #expect(host.snapshot.queue.map(\.song) == [renamed])
        #expect(host.snapshot.queue.first?.voters == [Example.ana.id])
        #expect(host.snapshot.nowPlaying?.id == "s1")
    }
}

extension HostFeature.Effect {
    fileprivate func isRejection(_ wanted: RejectionReason) -> Bool {
        if case .reject(_, wanted, to: _) = self { true } else { false }
    }
}
