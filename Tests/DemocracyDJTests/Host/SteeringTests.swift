// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("A driver who controls the queue")
struct SteeringTests {
    /// s1 plays; s2 to s5 wait.
    var host = Example.hostFeature(Fairness(songsInARow: nil))

    private mutating func command(_ command: HostFeature.Command, at seconds: Double = 0) -> [HostFeature.Effect] {
        host.handle(.command(command), now: .seconds(seconds))
    }

    private mutating func vote(_ song: Song.ID, by guests: Peer...) {
        for guest in guests { _ = host.handle(Example.intent(.vote(songID: song), from: guest), now: .zero) }
    }

    private mutating func connect(_ guests: Peer...) {
        for guest in guests { _ = host.handle(.multipeerEvent(.peerConnected(guest)), now: .zero) }
    }

    private var queue: [Song.ID] { host.snapshot.queue.map(\.id) }

    private func notice(_ effects: [HostFeature.Effect]) -> String? {
        effects.compactMap { if case .notice(let notice) = $0 { notice.code } else { nil } }.first
    }

    // MARK: Positions

    @Test("a position that the driver sets stays, and votes order the other songs around it")
    mutating func held() {
        _ = command(.move("s4", to: 1))
        #expect(queue == ["s2", "s4", "s3", "s5"])
        vote("s5", by: Example.ana, Example.bob)
        vote("s3", by: Example.ana)
        #expect(queue == ["s5", "s4", "s3", "s2"], "s4 stays second, without a vote")
        _ = command(.skip)
        #expect(queue == ["s4", "s3", "s2"], "as the queue goes on, so does its place")
        vote("s2", by: Example.ana, Example.bob)
        #expect(queue == ["s4", "s2", "s3"])
    }

    @Test("the song chosen as next plays next, whatever the votes, and may come from the library")
    mutating func next() {
        vote("s3", by: Example.ana, Example.bob)
        _ = command(.playNext("s5"))
        #expect(queue.first == "s5")
        vote("s3", by: Example.otherBob)
        #expect(queue.first == "s5")
        _ = command(.remove("s4"))
        _ = command(.playNext("s4"))
        #expect(queue == ["s4", "s5", "s3", "s2"])
        #expect(notice(command(.playNext("s1"))) == "notQueued", "it plays")
        #expect(notice(command(.playNext("s9"))) == "unknownSong")
        #expect(notice(command(.move("s9", to: 0))) == "notQueued")
    }

    @Test("positions beyond the queue are its ends", arguments: [(-3, 0), (0, 0), (99, 3)])
    mutating func ends(wanted: Int, place: Int) {
        _ = command(.move("s3", to: wanted))
        #expect(queue.firstIndex(of: "s3") == place)
    }

    @Test("positions that the driver has set and the volume survive a restart")
    mutating func restart() {
        host = HostFeature(
            local: Example.host, library: Example.library, fairness: Fairness(songsInARow: nil), hasPlayer: true,
            epoch: 7, now: .zero)
        _ = command(.move("s5", to: 1))
        _ = command(.volume(40))
        var later = HostFeature(
            local: Example.host, library: Example.library, fairness: Fairness(songsInARow: nil), hasPlayer: true,
            resuming: host.savedSession(now: .zero), epoch: 8, now: .zero)
        #expect(later.snapshot.queue.map(\.id) == ["s2", "s5", "s3", "s4"])
        #expect(later.steering.volume == 40 && later.playback(now: .zero).volume == 40)
        _ = later.handle(Example.intent(.vote(songID: "s4"), from: Example.ana), now: .zero)
        #expect(later.snapshot.queue.map(\.id) == ["s4", "s5", "s2", "s3"])
    }

    @Test("a song that the driver has moved is pinned for all, until it is unpinned or plays")
    mutating func pins() throws {
        vote("s3", by: Example.ana, Example.bob)
        let before = host.snapshot
        _ = command(.move("s5", to: 0))
        var guest = before
        func follow(_ guest: inout HostSnapshot, _ state: HostSnapshot) throws {
            let change = try #require(HostChange(from: guest, to: state))
            let arrived = MeshMessage(encoded: MeshMessage.stateChange(change).encoded)
            guard case .stateChange(let change)? = arrived else { return }
            guest = try #require(guest.applying(change))
            #expect(guest == state)
        }
        try follow(&guest, host.snapshot)
        #expect(guest.queue.map(\.isPinned) == [true, false, false, false])
        let whole = MeshMessage(encoded: MeshMessage.stateUpdate(host.snapshot).encoded)
        #expect(whole == .stateUpdate(host.snapshot))
        _ = command(.unpin("s5"))
        try follow(&guest, host.snapshot)
        #expect(guest.queue.map(\.id) == ["s3", "s2", "s4", "s5"] && !guest.queue.contains { $0.isPinned })
        #expect(notice(command(.unpin("s5"))) == "notPinned" && notice(command(.unpin("s1"))) == "notQueued")
        _ = command(.playNext("s4"))
        try follow(&guest, host.snapshot)
        _ = command(.skip)
        try follow(&guest, host.snapshot)
        #expect(guest.nowPlaying?.id == "s4" && guest.nowPlaying?.isPinned == false)
    }

    // MARK: Undo

    @Test("a removed song comes back to its position with its votes")
    mutating func undoRemove() {
        vote("s4", by: Example.ana, Example.bob)
        vote("s3", by: Example.ana)
        let before = host.snapshot.queue
        _ = command(.remove("s4"))
        #expect(queue == ["s3", "s2", "s5"])
        #expect(host.steering.undo == .remove(title: "Song 4"))
        _ = command(.undo)
        #expect(host.snapshot.queue == before)
        #expect(host.steering.undo == nil)
        #expect(notice(command(.undo)) == "nothingToUndo")
    }

    @Test("a pinned song also comes back to its position")
    mutating func undoHeld() {
        _ = command(.move("s5", to: 1))
        _ = command(.remove("s5"))
        vote("s4", by: Example.ana)
        _ = command(.undo)
        #expect(queue == ["s4", "s5", "s2", "s3"])
    }

    @Test("a vote that was taken back while its song was out of the queue stays taken back")
    mutating func takenBackMeanwhile() {
        vote("s4", by: Example.ana, Example.bob)
        _ = command(.remove("s4"))
        _ = host.handle(Example.intent(.takeBackVote(songID: "s4"), from: Example.ana), now: .zero)
        _ = command(.undo)
        #expect(host.snapshot.item("s4")?.voters == [Example.bob.id])
    }

    @Test(
        "a vote that was taken back after its song was there again, queued or playing, does not come back",
        arguments: [true, false])
    mutating func takenBackWhenBack(isPlaying: Bool) {
        connect(Example.ana, Example.bob)
        vote("s4", by: Example.ana, Example.bob)
        _ = command(.remove("s4"))
        _ = host.handle(Example.intent(.suggestSong(songID: "s4"), from: Example.bob), now: .zero)
        if isPlaying {
            _ = command(.playNext("s4"))
            _ = command(.skip)
        }
        _ = host.handle(Example.intent(.takeBackVote(songID: "s4"), from: Example.ana), now: .zero)
        _ = command(.undo)
        #expect(host.snapshot.item("s4")?.voters.contains(Example.ana.id) == false)
    }

    @Test("a song that was suggested again in the meantime gets its former votes, each once")
    mutating func suggestedMeanwhile() {
        connect(Example.ana, Example.bob)
        vote("s4", by: Example.ana, Example.bob)
        _ = command(.remove("s4"))
        _ = host.handle(Example.intent(.suggestSong(songID: "s4"), from: Example.bob), now: .zero)
        vote("s4", by: Example.bob)
        _ = command(.undo)
        #expect(queue.count { $0 == "s4" } == 1)
        #expect(Set(host.snapshot.item("s4")?.voters ?? []) == [Example.ana.id, Example.bob.id])
        #expect(host.snapshot.item("s4")?.votes == 2)
    }

    @Test("a cleared queue is restored, in its order and with its votes")
    mutating func undoClear() {
        vote("s4", by: Example.ana)
        _ = command(.move("s3", to: 1))
        let before = host.snapshot.queue
        _ = command(.clear)
        #expect(host.snapshot.queue.isEmpty && host.steering.undo == .clear)
        #expect(notice(command(.clear)) == "emptyList")
        _ = command(.undo)
        #expect(host.snapshot.queue == before)
    }

    @Test("a moved song goes back to its position, and is ordered by votes again")
    mutating func undoMove() {
        _ = command(.move("s5", to: 0))
        #expect(queue == ["s5", "s2", "s3", "s4"] && host.steering.undo == .move(title: "Song 5"))
        _ = command(.move("s5", to: 2))
        _ = command(.undo)
        #expect(queue == ["s5", "s2", "s3", "s4"])
        _ = command(.undo)
        #expect(queue == ["s2", "s3", "s4", "s5"])
        vote("s4", by: Example.ana)
        vote("s5", by: Example.ana, Example.bob)
        #expect(queue == ["s5", "s4", "s2", "s3"], "it is held no longer")
    }

    @Test("a song chosen as next goes back; one from the library is removed, unless others vote for it")
    mutating func undoNext() {
        _ = command(.playNext("s4"))
        _ = command(.undo)
        #expect(queue == ["s2", "s3", "s4", "s5"])
        for isWanted in [false, true] {
            _ = command(.remove("s3"))
            _ = command(.playNext("s3"))
            if isWanted { vote("s3", by: Example.ana) }
            _ = command(.undo)
            #expect(queue == (isWanted ? ["s3", "s2", "s4", "s5"] : ["s2", "s4", "s5"]))
            _ = command(.undo)
            #expect(Set(queue) == ["s2", "s3", "s4", "s5"])
        }
    }

    @Test("the new position of a song that already plays cannot be undone")
    mutating func undoPlayed() {
        _ = command(.remove("s2"))
        _ = command(.playNext("s4"))
        _ = command(.skip)
        #expect(host.steering.undo == .remove(title: "Song 2"))
        _ = command(.undo)
        #expect(queue == ["s2", "s3", "s5"] && host.state.nowPlaying?.id == "s4")
        #expect(notice(command(.undo)) == "nothingToUndo")
    }

    @Test("a removed guest may come back")
    mutating func undoKick() {
        connect(Example.ana)
        #expect(command(.kick("Ana")) == [.disconnect(Example.ana.id)])
        _ = host.handle(
            .multipeerEvent(.peerDisconnected(Example.ana, reason: .refused)), now: .zero)
        connect(Example.ana)
        #expect(host.snapshot.connectedPeers.isEmpty)
        #expect(host.steering.undo == .kick(name: "Ana"))
        #expect(command(.undo) == [.admit(Example.ana.id)])
        connect(Example.ana)
        #expect(host.snapshot.connectedPeers == [Example.ana])
    }

    @Test("the last step is undone first, up to a few, and none from long ago")
    mutating func steps() {
        _ = command(.remove("s2"), at: 0)
        _ = command(.remove("s3"), at: 60)
        _ = command(.undo, at: 61)
        #expect(queue == ["s3", "s4", "s5"])
        #expect(host.deadline <= .seconds(120))
        _ = host.handle(.tick, now: .seconds(120))
        #expect(host.steering.undo == nil)
        #expect(notice(command(.undo, at: 121)) == "nothingToUndo")
        for turn in 0..<20 {
            _ = command(.remove("s5"), at: 130 + Double(turn))
            _ = command(.add("s5"), at: 130 + Double(turn))
        }
        #expect(host.state.undoable.count == DJLimits.undoSteps)
        #expect(host.steering.steps == 22)
    }

    // MARK: Previous song and volume

    @Test("the previous song plays again, and the current one with its votes is next")
    mutating func previous() {
        #expect(!host.steering.canGoBack)
        #expect(notice(command(.previous)) == "nothingBefore")
        vote("s2", by: Example.ana)
        _ = command(.skip)
        _ = command(.skip)
        #expect(host.snapshot.nowPlaying?.id == "s3" && host.steering.canGoBack)
        _ = command(.previous)
        #expect(host.snapshot.nowPlaying?.id == "s2" && queue == ["s3", "s4", "s5"])
        _ = command(.previous)
        #expect(host.snapshot.nowPlaying?.id == "s1" && queue == ["s2", "s3", "s4", "s5"])
        #expect(!host.steering.canGoBack)
        _ = command(.skip)
        #expect(host.snapshot.nowPlaying?.id == "s2" && host.steering.canGoBack)
    }

    @Test("a pause stays a pause when the previous song is chosen")
    mutating func previousInAPause() {
        _ = command(.skip)
        _ = command(.pause)
        _ = command(.previous)
        #expect(!host.snapshot.isPlaying && host.snapshot.elapsed == 0)
    }

    @Test("a host without a player has no volume")
    mutating func noVolume() {
        #expect(host.steering.volume == nil && host.playback(now: .zero).volume == nil)
        #expect(notice(command(.volume(40))) == "noVolume")
        #expect(host.steering.ducked == nil && notice(command(.duck(20))) == "noVolume")
    }

    @Test("ducked music has its volume and its pause back after duck off, and after a restart it is not ducked")
    mutating func duck() {
        host = HostFeature(
            local: Example.host, library: Example.library, hasPlayer: true, volume: 60, epoch: 7, now: .zero)
        #expect(command(.duck(12)) == [], "guests are not told")
        #expect(host.steering.ducked == 12 && host.steering.volume == 60)
        #expect(host.playback(now: .zero).ducked == 12 && host.playback(now: .zero).volume == 60)
        _ = command(.volume(40))
        _ = command(.pause)
        _ = command(.duck(999))
        #expect(host.steering.ducked == DJLimits.deepestDuck && host.steering.volume == 40)
        let next = host.nextSession(epoch: 8, now: .zero)
        #expect(next.steering.ducked == DJLimits.deepestDuck, "the call goes on")
        let later = HostFeature(
            local: Example.host, library: Example.library, hasPlayer: true,
            resuming: host.savedSession(now: .zero), epoch: 9, now: .zero)
        #expect(later.steering.ducked == 0 && later.steering.volume == 40)
        _ = command(.duck(0))
        #expect(host.steering.ducked == 0 && host.steering.volume == 40 && !host.snapshot.isPlaying)
    }

    @Test("the song continues at the position that the driver chooses, also while it pauses, and guests see it")
    mutating func seek() throws {
        let before = host.snapshot
        let effects = command(.seek(90), at: 10)
        #expect(host.snapshot.elapsed == 90)
        #expect(host.playback(now: .seconds(12)).elapsed == .seconds(92) && host.playback(now: .zero).seeks == 1)
        let change = try #require(HostChange(from: before, to: host.snapshot))
        #expect(before.applying(change)?.elapsed == 90)
        #expect(effects.contains(.broadcast(host.snapshot)))
        _ = command(.pause, at: 20)
        _ = command(.seek(5), at: 30)
        #expect(host.playback(now: .seconds(40)).elapsed == .seconds(5))
        _ = command(.seek(1e9), at: 40)
        #expect(host.snapshot.elapsed == host.snapshot.nowPlaying?.duration)
        _ = command(.seek(-3), at: 40)
        #expect(host.snapshot.elapsed == 0)
    }

    @Test("the driver chooses whether songs without a request play in a random order")
    mutating func shuffle() {
        #expect(!host.steering.shuffles)
        _ = command(.shuffle(true))
        #expect(host.steering.shuffles)
        _ = command(.shuffle(false))
        #expect(!host.steering.shuffles)
    }

    @Test("a playlist that is found plays, and one that is not found changes nothing; either is reported")
    mutating func playlist() {
        #expect(host.playback(now: .zero).playlist == nil)
        #expect(command(.choosePlaylist("road")) == [])
        #expect(host.playback(now: .zero).playlist == "road")
        let late = PlaylistAnswer(asked: "other", name: "Other.m3u")
        #expect(host.handle(.playlistFound(late), now: .zero) == [], "the driver wants another playlist now")
        let found = PlaylistAnswer(asked: "road", name: "Road.m3u", songs: ["s2"])
        #expect(host.handle(.playlistFound(found), now: .zero) == [.notice(Notice(.playlistChosen("Road.m3u")))])
        #expect(host.playback(now: .zero).playlist == "Road.m3u" && host.playlist == ["s2"])
        #expect(command(.choosePlaylist("Road.m3u")) == [.notice(Notice(.playlistChosen("Road.m3u")))])
        _ = command(.choosePlaylist("party"))
        let missing = PlaylistAnswer(asked: "party", name: nil, known: ["Road.m3u"])
        let notice = Notice(.noSuchPlaylist("party", ["Road.m3u"]))
        #expect(host.handle(.playlistFound(missing), now: .zero) == [.notice(notice)])
        #expect(host.playback(now: .zero).playlist == "Road.m3u" && host.playlist == ["s2"])
        #expect(host.nextSession(epoch: 9, now: .zero).playback(now: .zero).playlist == "Road.m3u")
    }

    @Test("whatever a driver does, no song is there twice and no limit is passed", arguments: 1...20)
    mutating func anything(seed: UInt64) {
        var dice = Dice(seed: seed)
        connect(Example.ana, Example.bob)
        for turn in 0..<200 {
            let song = "s\(Int.random(in: 1...6, using: &dice))"
            let commands: [HostFeature.Command] = [
                .playNext(song), .move(song, to: .random(in: -1...5, using: &dice)), .remove(song), .add(song), .clear,
                .undo, .undo, .previous, .skip, .kick(Example.bob.id),
            ]
            let now = Double(turn * 7)
            _ = command(commands.randomElement(using: &dice) ?? .undo, at: now)
            if Bool.random(using: &dice) { vote(song, by: Example.ana, Example.bob) }
            _ = host.handle(.tick, now: .seconds(now))
            let songs = host.snapshot.items.map(\.id)
            #expect(Set(songs).count == songs.count, "turn \(turn)")
            for item in host.snapshot.items { #expect(Set(item.voters).count == item.votes) }
            #expect(host.state.undoable.count <= DJLimits.undoSteps)
            #expect(host.state.history.count <= DJLimits.heardSongs)
        }
    }
}
