// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("The host's queue")
struct HostFeatureTests {
    var host = HostFeature(local: Example.host, library: Example.library, epoch: 7, now: .zero)

    private var order: [Song.ID] { host.snapshot.queue.map(\.id) }

    private mutating func vote(_ songID: Song.ID, _ peer: Peer) -> [HostFeature.Effect] {
        host.handle(Example.intent(.vote(songID: songID), from: peer), now: .zero)
    }

    @Test("the first song plays, and the others wait in their order")
    func opening() {
        #expect(host.snapshot.nowPlaying == QueueItem(song: Example.songs[0], addedBy: Example.host.id))
        #expect(host.snapshot.isPlaying)
        #expect(order == ["s2", "s3", "s4", "s5"])
    }

    @Test("a vote moves a song up, and equal votes keep the order of adding")
    mutating func votes() {
        let effects = vote("s4", Example.ana)
        #expect(
            effects == [.report(.vote(songID: "s4"), from: Example.ana, rejected: nil), .broadcast(host.snapshot)])
        #expect(order == ["s4", "s2", "s3", "s5"])
        _ = vote("s3", Example.bob)
        // It was added first, so it is first among its equals, although the other got its vote first.
        #expect(order == ["s3", "s4", "s2", "s5"])
        _ = vote("s3", Example.ana)
        #expect(order == ["s3", "s4", "s2", "s5"])
        _ = vote("s2", Example.ana)
        #expect(order == ["s3", "s2", "s4", "s5"])
    }

    @Test("a vote for the current song counts, once, and can be taken back")
    mutating func votePlaying() {
        #expect(
            vote("s1", Example.ana) == [
                .report(.vote(songID: "s1"), from: Example.ana, rejected: nil), .broadcast(host.snapshot),
            ])
        #expect(host.snapshot.nowPlaying?.voters == [Example.ana.id])
        #expect(vote("s1", Example.ana).last == .send(host.snapshot, to: Example.ana.id))
        _ = host.handle(Example.intent(.suggestSong(songID: "s1"), from: Example.bob), now: .zero)
        #expect(host.snapshot.nowPlaying?.voters == [Example.ana.id, Example.bob.id])
        _ = host.handle(Example.intent(.takeBackVote(songID: "s1"), from: Example.ana), now: .zero)
        #expect(host.snapshot.nowPlaying?.voters == [Example.bob.id])
        #expect(order == ["s2", "s3", "s4", "s5"])
    }

    @Test("a vote that is taken back does not count, and its song returns to its position")
    mutating func takenBack() {
        for peer in [Example.ana, Example.bob, Example.otherBob] { _ = vote("s4", peer) }
        _ = vote("s5", Example.ana)
        _ = vote("s5", Example.otherBob)
        let takeBack = GuestIntent.takeBackVote(songID: "s4")
        #expect(
            host.handle(Example.intent(takeBack, from: Example.bob), now: .zero) == [
                .report(takeBack, from: Example.bob, rejected: nil), .broadcast(host.snapshot),
            ])
        #expect(host.snapshot.queue[0].voters == [Example.ana.id, Example.otherBob.id])
        _ = host.handle(Example.intent(takeBack, from: Example.ana), now: .zero)
        #expect(order == ["s5", "s4", "s2", "s3"])
        let revision = host.snapshot.revision
        #expect(
            host.handle(Example.intent(takeBack, from: Example.ana), now: .zero) == [
                .report(takeBack, from: Example.ana, rejected: .notVoted), .send(host.snapshot, to: Example.ana.id),
            ])
        #expect(host.snapshot.revision == revision)
    }

    @Test("a guest's second vote for a song does not count, and the guest sees that the first does")
    mutating func doubleVote() {
        _ = vote("s4", Example.ana)
        let revision = host.snapshot.revision
        #expect(
            vote("s4", Example.ana) == [
                .report(.vote(songID: "s4"), from: Example.ana, rejected: .alreadyVoted),
                .send(host.snapshot, to: Example.ana.id),
            ])
        #expect(host.snapshot.revision == revision)
        #expect(host.snapshot.queue[0].votes == 1)
    }

    @Test("two guests with one name have two votes")
    mutating func twoBobs() {
        _ = vote("s4", Example.bob)
        _ = vote("s4", Example.otherBob)
        #expect(host.snapshot.queue[0].voters == [Example.bob.id, Example.otherBob.id])
    }

    @Test(
        "a vote that cannot count is rejected with the reason",
        arguments: [("s1", .alreadyPlayed), ("s3", .notQueued), ("nonsense", .unknownSong)]
            as [(String, RejectionReason)])
    mutating func rejected(songID: String, reason: RejectionReason) {
        for command in [HostFeature.Command.skip, .remove("s3")] { _ = host.handle(.command(command), now: .zero) }
        let intent = GuestIntent.vote(songID: songID)
        #expect(
            vote(songID, Example.ana) == [
                .report(intent, from: Example.ana, rejected: reason), .reject(intent, reason, to: Example.ana.id),
            ])
    }

    @Test("a suggestion of a queued song becomes a vote")
    mutating func suggestionBecomesVote() {
        _ = host.handle(Example.intent(.suggestSong(songID: "s5"), from: Example.ana), now: .zero)
        #expect(order == ["s5", "s2", "s3", "s4"])
        #expect(host.snapshot.queue[0].voters == [Example.ana.id])
    }

    @Test("a removed song can be suggested again, and shows who suggested it")
    mutating func suggestion() {
        _ = host.handle(.command(.remove("s3")), now: .zero)
        #expect(order == ["s2", "s4", "s5"])
        let effects = vote("s3", Example.ana)
        #expect(effects.last == .reject(.vote(songID: "s3"), .notQueued, to: Example.ana.id))
        _ = host.handle(Example.intent(.suggestSong(songID: "s3"), from: Example.ana), now: .zero)
        #expect(host.snapshot.queue.last?.addedBy == Example.ana.id)
    }

    @Test("guests come and go, and all others see it")
    mutating func guests() {
        #expect(
            host.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.connectedPeers == [Example.ana])
        let left = host.handle(.multipeerEvent(.peerDisconnected(Example.ana)), now: .zero)
        #expect(left == [.broadcast(host.snapshot)])
        #expect(host.snapshot.connectedPeers == [])
        #expect(host.handle(.multipeerEvent(.peerDisconnected(Example.ana)), now: .zero) == [])
    }

    @Test("votes stay when their guest is gone")
    mutating func votesStay() {
        _ = host.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero)
        _ = vote("s4", Example.ana)
        _ = host.handle(.multipeerEvent(.peerDisconnected(Example.ana)), now: .zero)
        #expect(host.snapshot.queue[0].voters == [Example.ana.id])
    }

    @Test("a song ends after its length, without pauses")
    mutating func songEnds() {
        #expect(host.songEnds == .seconds(101))
        #expect(host.handle(.tick, now: .seconds(100)) == [.heartbeat])
        _ = host.handle(.command(.pause), now: .seconds(100))
        #expect(host.songEnds == nil)
        #expect(!host.snapshot.isPlaying)
        _ = host.handle(.command(.play), now: .seconds(500))
        #expect(host.songEnds == .seconds(501))
        _ = host.handle(.tick, now: .seconds(501))
        #expect(host.snapshot.nowPlaying?.id == "s2")
        #expect(host.songEnds == .seconds(603))
    }

    @Test("skip plays the song with the most votes; with an empty queue, one that has not played, and then the oldest")
    mutating func skip() {
        _ = vote("s5", Example.ana)
        _ = host.handle(.command(.remove("s3")), now: .zero)
        var played: [Song.ID?] = []
        for _ in 0..<6 {
            _ = host.handle(.command(.skip), now: .zero)
            played.append(host.snapshot.nowPlaying?.id)
            #expect(host.snapshot.isPlaying)
        }
        #expect(played == ["s5", "s2", "s4", "s3", "s1", "s5"])
    }

    @Test("without a song nothing plays, and no command changes that")
    mutating func silence() {
        host = HostFeature(local: Example.host, library: SongLibrary([]), epoch: 7, now: .zero)
        for command in [HostFeature.Command.play, .skip, .pause, .add("s1"), .remove("s1")] {
            _ = host.handle(.command(command), now: .zero)
            #expect(host.snapshot.nowPlaying == nil)
            #expect(!host.snapshot.isPlaying)
        }
        #expect(host.songEnds == nil)
    }

    @Test("a guest can be removed by name or identifier, if it is connected")
    mutating func kick() {
        _ = host.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero)
        #expect(host.handle(.command(.kick("Ana")), now: .zero) == [.disconnect(Example.ana.id)])
        #expect(host.handle(.command(.kick("ana")), now: .zero) == [.disconnect(Example.ana.id)])
        #expect(host.handle(.command(.kick("Zoe")), now: .zero) == [.notice(Notice(.noSuchGuest("Zoe")))])
    }

    @Test("a host's own messages have no effect if a guest sends them")
    mutating func impostor() {
        let before = host.snapshot
        let forged = MeshMessage.stateUpdate(before)
        #expect(host.handle(.multipeerEvent(.messageReceived(forged, from: Example.ana)), now: .zero) == [])
        #expect(host.snapshot == before)
    }

    @Test("a guest that requests the full state gets it")
    mutating func wholeState() {
        let request = HostFeature.Event.multipeerEvent(.messageReceived(.stateRequest, from: Example.ana))
        #expect(host.handle(request, now: .zero) == [.send(host.snapshot, to: Example.ana.id)])
    }

    @Test("songs that do not fit a message are left out, and so is the second one with an identifier")
    func unfitSongs() {
        let long = Song(id: "x", title: String(repeating: "x", count: 200), artist: "", duration: 1)
        let endless = Song(id: "y", title: "", artist: "", duration: .infinity)
        let opened = HostFeature(
            local: Example.host, library: SongLibrary([long, endless] + Example.songs + Example.songs), epoch: 1,
            now: .zero)
        #expect(opened.snapshot.nowPlaying?.id == "s1")
        #expect(opened.snapshot.queue.map(\.id) == ["s2", "s3", "s4", "s5"])
        #expect(opened.library.songs == Example.songs)
    }

    @Test("the votes for one song are limited, so that invented guests cannot fill the guests' memory")
    mutating func tooManyVotes() {
        for number in 0..<DJLimits.votes { _ = vote("s4", Peer(id: "guest \(number)", name: "")) }
        let intent = GuestIntent.vote(songID: "s4")
        #expect(vote("s4", Example.ana).last == .reject(intent, .queueFull, to: Example.ana.id))
        #expect(host.snapshot.queue[0].votes == DJLimits.votes)
    }

    @Test("every change has a higher revision")
    mutating func revisions() {
        var last = host.snapshot
        for songID in ["s5", "s4", "s3"] {
            _ = vote(songID, Example.ana)
            #expect(host.snapshot.supersedes(last))
            last = host.snapshot
        }
    }
}
