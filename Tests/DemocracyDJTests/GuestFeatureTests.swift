// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A guest's votes")
struct GuestFeatureTests {
    var guest = GuestFeature(local: Example.ana)

    private func snapshot(_ revision: UInt64, epoch: UInt32 = 1, voters: [String: [Peer.ID]] = [:]) -> HostSnapshot {
        HostSnapshot(
            epoch: epoch, revision: revision, nowPlaying: Example.songs[0], isPlaying: true,
            queue: Example.songs.dropFirst().map {
                QueueItem(song: $0, addedBy: Example.host.id, voters: voters[$0.id] ?? [])
            }, connectedPeers: [])
    }

    private mutating func connect() {
        _ = guest.handle(.multipeer(.peerConnected(Example.host)))
    }

    private mutating func receive(_ message: MeshMessage, from peer: Peer = Example.host) -> [GuestFeature.Effect] {
        guest.handle(.multipeer(.messageReceived(message, from: peer)))
    }

    @Test("a vote is sent, and counts when a snapshot shows it")
    mutating func confirmed() {
        connect()
        _ = receive(.stateUpdate(snapshot(1)))
        #expect(
            guest.handle(.vote("s3")) == [
                .voteChanged(songID: "s3", .queued), .send(.vote(songID: "s3"), to: Example.host.id),
                .voteChanged(songID: "s3", .sent),
            ])
        let shown = snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(receive(.stateUpdate(shown)) == [.show(shown), .voteChanged(songID: "s3", .confirmed)])
        #expect(guest.pendingVotes == [])
    }

    @Test("a pending vote is not cleared by just any snapshot")
    mutating func notCleared() {
        connect()
        _ = guest.handle(.vote("s3"))
        let other = snapshot(1, voters: ["s3": [Example.bob.id], "s4": [Example.ana.id]])
        #expect(receive(.stateUpdate(other)) == [.show(other)])
        #expect(guest.pendingVotes == ["s3"])
    }

    @Test("a vote while disconnected is queued, and sent when the host is back")
    mutating func queued() {
        #expect(guest.handle(.vote("s3")) == [.voteChanged(songID: "s3", .queued)])
        #expect(
            guest.handle(.multipeer(.peerConnected(Example.host))) == [
                .send(.vote(songID: "s3"), to: Example.host.id), .voteChanged(songID: "s3", .sent),
            ])
    }

    @Test("a vote that was on its way when the link broke is the transport's to send again: it is not cast twice")
    mutating func notResent() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(
            guest.handle(.multipeer(.peerDisconnected(Example.host))) == [.voteChanged(songID: "s3", .queued)])
        #expect(guest.handle(.multipeer(.peerConnected(Example.host))) == [.voteChanged(songID: "s3", .sent)])
    }

    @Test("a vote in a tunnel is given to the transport at once, and shown as queued until the host is back")
    mutating func tunnel() {
        connect()
        _ = guest.handle(.multipeer(.peerDisconnected(Example.host)))
        #expect(
            guest.handle(.vote("s3")) == [
                .voteChanged(songID: "s3", .queued), .send(.vote(songID: "s3"), to: Example.host.id),
            ])
        #expect(guest.handle(.multipeer(.peerConnected(Example.host))) == [.voteChanged(songID: "s3", .sent)])
    }

    @Test("a host that was started anew is told the votes once more, but for those that it shows")
    mutating func hostRestarted() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        for songID in ["s3", "s4"] { _ = guest.handle(.vote(songID)) }
        _ = guest.handle(.multipeer(.peerDisconnected(Example.host)))
        connect()
        let restarted = snapshot(1, epoch: 2, voters: ["s4": [Example.ana.id]])
        #expect(
            receive(.stateUpdate(restarted)) == [
                .show(restarted), .voteChanged(songID: "s4", .confirmed),
                .send(.vote(songID: "s3"), to: Example.host.id),
            ])
        let next = snapshot(2, epoch: 2)
        #expect(receive(.stateUpdate(next)) == [.show(next)])
    }

    @Test("another host is told the votes that no host has shown")
    mutating func otherHost() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.multipeer(.peerDisconnected(Example.host)))
        #expect(
            guest.handle(.multipeer(.peerConnected(Example.bob))) == [
                .send(.vote(songID: "s3"), to: Example.bob.id), .voteChanged(songID: "s3", .sent),
            ])
        // Its epoch is another one, and says nothing about a new start.
        let other = snapshot(1, epoch: 9)
        #expect(receive(.stateUpdate(other), from: Example.bob) == [.show(other)])
    }

    @Test("a vote that the transport had no room for waits, and is sent on the next link")
    mutating func noRoom() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(
            guest.handle(.multipeer(.sendFailed(.intent(.vote(songID: "s3")), to: Example.host))) == [
                .voteChanged(songID: "s3", .queued)
            ])
        #expect(guest.handle(.multipeer(.peerDisconnected(Example.host))) == [])
        #expect(
            guest.handle(.multipeer(.peerConnected(Example.host))) == [
                .send(.vote(songID: "s3"), to: Example.host.id), .voteChanged(songID: "s3", .sent),
            ])
    }

    @Test("a song that no host can have is rejected at once, with or without a host", arguments: ["", "too long"])
    mutating func impossibleSong(kind: String) {
        let songID = kind.isEmpty ? "" : String(repeating: "🎵", count: 300)
        #expect(guest.handle(.vote(songID)) == [.voteChanged(songID: songID, .rejected(.unknownSong))])
        #expect(guest.handle(.suggest(songID)) == [.notice(.cannotAdd(songID, .unknownSong))])
        #expect(guest.pendingVotes.isEmpty)
    }

    @Test("a rejected vote is told with its reason, and gone")
    mutating func rejected() {
        connect()
        _ = guest.handle(.vote("s1"))
        #expect(
            receive(.rejection(.vote(songID: "s1"), .alreadyPlaying)) == [
                .voteChanged(songID: "s1", .rejected(.alreadyPlaying))
            ])
        #expect(guest.pendingVotes == [])
    }

    @Test("voting twice sends once")
    mutating func twice() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(guest.handle(.vote("s3")) == [])
        _ = receive(.stateUpdate(snapshot(1, voters: ["s3": [Example.ana.id]])))
        #expect(guest.handle(.vote("s3")) == [.voteChanged(songID: "s3", .confirmed)])
    }

    @Test("when a song leaves the queue before its vote was seen, the host is asked once")
    mutating func songGone() {
        connect()
        _ = guest.handle(.vote("s3"))
        var gone = snapshot(1)
        gone.queue.removeAll { $0.id == "s3" }
        #expect(receive(.stateUpdate(gone)) == [.show(gone), .send(.vote(songID: "s3"), to: Example.host.id)])
        gone.revision = 2
        #expect(receive(.stateUpdate(gone)) == [.show(gone)])
    }

    @Test("an older snapshot never overwrites a newer one")
    mutating func replay() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        #expect(receive(.stateUpdate(snapshot(4))) == [])
        #expect(receive(.stateUpdate(snapshot(5))) == [])
        #expect(guest.snapshot?.revision == 5)
        #expect(receive(.stateUpdate(snapshot(1, epoch: 2))) == [.show(snapshot(1, epoch: 2))])
    }

    @Test("the last snapshot stays on view through a gap, as stale")
    mutating func stale() {
        connect()
        _ = receive(.stateUpdate(snapshot(1)))
        #expect(!guest.isStale)
        _ = guest.handle(.multipeer(.peerDisconnected(Example.host)))
        #expect(guest.isStale)
        #expect(guest.snapshot == snapshot(1))
    }

    @Test("only the host's word counts")
    mutating func impostor() {
        connect()
        #expect(receive(.stateUpdate(snapshot(1)), from: Example.bob) == [])
        #expect(receive(.intent(.vote(songID: "s2"))) == [])
    }

    @Test("another guest's disconnect is none of ours")
    mutating func otherGuest() {
        connect()
        #expect(guest.handle(.multipeer(.peerDisconnected(Example.bob))) == [])
        #expect(guest.host == Example.host)
    }

    @Test("votes are kept up to a limit, and the person is told")
    mutating func tooMany() {
        for number in 0..<DJLimits.pendingVotes { _ = guest.handle(.vote("x\(number)")) }
        #expect(guest.handle(.vote("one more")) == [.notice(.tooManyPendingVotes)])
    }
}

@Suite("What a guest sees of changes")
struct GuestChangeTests {
    var guest = GuestFeature(local: Example.ana)
    var host = HostFeature(local: Example.host, songs: Example.songs, epoch: 7, now: .zero)

    private mutating func receive(_ message: MeshMessage) -> [GuestFeature.Effect] {
        guest.handle(.multipeer(.messageReceived(message, from: Example.host)))
    }

    private mutating func join() {
        _ = guest.handle(.multipeer(.peerConnected(Example.host)))
        _ = receive(.stateUpdate(host.snapshot))
    }

    /// What a vote of Bob changes.
    private mutating func vote(_ songID: Song.ID, by peer: Peer = Example.bob) throws -> HostChange {
        let before = host.snapshot
        _ = host.handle(Example.intent(.vote(songID: songID), from: peer), now: .zero)
        return try #require(HostChange(from: before, to: host.snapshot))
    }

    @Test("a change is shown as the state that it leads to, and confirms a vote")
    mutating func shown() throws {
        join()
        _ = guest.handle(.vote("s4"))
        let change = try vote("s4", by: Example.ana)
        #expect(
            receive(.stateChange(change)) == [.show(host.snapshot), .voteChanged(songID: "s4", .confirmed)])
        #expect(guest.snapshot == host.snapshot)
    }

    @Test("a guest that has missed a change asks for the whole once, and shows it when it comes")
    mutating func missed() throws {
        join()
        let seen = host.snapshot
        _ = try vote("s3")
        #expect(receive(.stateChange(try vote("s4"))) == [.requestState(from: Example.host.id)])
        #expect(receive(.stateChange(try vote("s5"))) == [])
        #expect(guest.snapshot == seen)
        #expect(host.handle(Self.request, now: .zero) == [.send(host.snapshot, to: Example.ana.id)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
        let change = try vote("s2")
        #expect(receive(.stateChange(change)) == [.show(host.snapshot)])
    }

    private static let request = HostFeature.Event.multipeer(.messageReceived(.stateRequest, from: Example.ana))

    @Test("a change of another run of the host is not taken, and the whole is asked for")
    mutating func otherEpoch() throws {
        join()
        var change = try vote("s3")
        change.epoch += 1
        #expect(receive(.stateChange(change)) == [.requestState(from: Example.host.id)])
    }

    @Test("a change that comes again changes nothing, and nothing is asked for")
    mutating func replay() throws {
        join()
        let change = try vote("s3")
        _ = receive(.stateChange(change))
        _ = receive(.stateChange(try vote("s4")))
        #expect(receive(.stateChange(change)) == [])
        #expect(guest.snapshot == host.snapshot)
    }

    @Test("on a new link, changes wait for the whole")
    mutating func newLink() throws {
        join()
        _ = guest.handle(.multipeer(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeer(.peerConnected(Example.host)))
        #expect(receive(.stateChange(try vote("s3"))) == [.requestState(from: Example.host.id)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
    }
}
