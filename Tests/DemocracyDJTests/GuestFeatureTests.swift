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

    @Test("a vote that was on its way when the link broke is sent again")
    mutating func resent() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(
            guest.handle(.multipeer(.peerDisconnected(Example.host))) == [.voteChanged(songID: "s3", .queued)])
        #expect(
            guest.handle(.multipeer(.peerConnected(Example.host))).first
                == .send(.vote(songID: "s3"), to: Example.host.id))
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
