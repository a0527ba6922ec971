// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A guest's votes")
struct GuestFeatureTests {
    var guest = GuestFeature(local: Example.ana)

    private func snapshot(_ revision: UInt64, epoch: UInt32 = 1, voters: [String: [Peer.ID]] = [:]) -> HostSnapshot {
        Example.snapshot(revision, epoch: epoch, voters: voters)
    }

    private mutating func connect() {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
    }

    private mutating func receive(_ message: MeshMessage, from peer: Peer = Example.host) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.messageReceived(message, from: peer)))
    }

    /// The transport reports that the host has stored a message.
    private mutating func deliver(_ intent: GuestIntent) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.messageDelivered(.intent(intent), to: Example.host.id)))
    }

    @Test("a vote is sent, and counts when a snapshot shows it")
    mutating func confirmed() {
        connect()
        _ = receive(.stateUpdate(snapshot(1)))
        #expect(
            guest.handle(.vote("s3")) == [
                .wishChanged(songID: "s3", .vote, .queued), .send(.vote(songID: "s3"), to: Example.host.id),
                .wishChanged(songID: "s3", .vote, .sent),
            ])
        let shown = snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(receive(.stateUpdate(shown)) == [.show(shown), .wishChanged(songID: "s3", .vote, .confirmed)])
        #expect(guest.pendingVotes == [])
    }

    @Test("a pending vote is cleared only by a snapshot that shows it")
    mutating func notCleared() {
        connect()
        _ = guest.handle(.vote("s3"))
        let other = snapshot(1, voters: ["s3": [Example.bob.id], "s4": [Example.ana.id]])
        #expect(receive(.stateUpdate(other)) == [.show(other)])
        #expect(guest.pendingVotes == ["s3"])
    }

    @Test("a vote while disconnected is queued, and sent when the host is back")
    mutating func queued() {
        #expect(guest.handle(.vote("s3")) == [.wishChanged(songID: "s3", .vote, .queued)])
        #expect(
            guest.handle(.multipeerEvent(.peerConnected(Example.host))) == [
                .send(.vote(songID: "s3"), to: Example.host.id), .wishChanged(songID: "s3", .vote, .sent),
            ])
    }

    @Test("a vote in transit when the link broke is repeated by the transport, and not cast twice")
    mutating func notResent() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(
            guest.handle(.multipeerEvent(.peerDisconnected(Example.host))) == [
                .wishChanged(songID: "s3", .vote, .queued), .reconnect(to: Example.host),
            ])
        #expect(
            guest.handle(.multipeerEvent(.peerConnected(Example.host))) == [.wishChanged(songID: "s3", .vote, .sent)])
    }

    @Test("a vote in a tunnel is given to the transport at once, and shown as queued until the host is back")
    mutating func tunnel() {
        connect()
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        #expect(
            guest.handle(.vote("s3")) == [
                .wishChanged(songID: "s3", .vote, .queued), .send(.vote(songID: "s3"), to: Example.host.id),
            ])
        #expect(
            guest.handle(.multipeerEvent(.peerConnected(Example.host))) == [.wishChanged(songID: "s3", .vote, .sent)])
    }

    @Test("a restarted host gets the votes that it had once more, except for those that it shows")
    mutating func hostRestarted() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        for songID in ["s3", "s4", "s5"] { _ = guest.handle(.vote(songID)) }
        for songID in ["s3", "s4"] { #expect(deliver(.vote(songID: songID)) == []) }
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        connect()
        let restarted = snapshot(1, epoch: 2, voters: ["s4": [Example.ana.id]])
        #expect(
            receive(.stateUpdate(restarted)) == [
                .show(restarted), .wishChanged(songID: "s4", .vote, .confirmed),
                .send(.vote(songID: "s3"), to: Example.host.id),
            ])
        // The vote for s5 is still in the outbox: the transport sends it.
        let next = snapshot(2, epoch: 2)
        #expect(receive(.stateUpdate(next)) == [.show(next)])
    }

    @Test("another host gets no votes for the first one, which gets them when it is back")
    mutating func otherHost() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.vote("s4"))
        #expect(guest.handle(.multipeerEvent(.peerConnected(Example.bob))) == [])
        // Its epoch is different, which does not mean a restart.
        let other = snapshot(1, epoch: 9)
        #expect(receive(.stateUpdate(other), from: Example.bob) == [.show(other)])
        #expect(guest.pendingVotes.isEmpty && guest.saved.wishes.map(\.meantFor) == [Example.host.id, Example.host.id])
        // A vote for the same song there is another vote.
        #expect(guest.handle(.vote("s3")).contains(.send(.vote(songID: "s3"), to: Example.bob.id)))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.bob)))
        let back = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(back == [.wishChanged(songID: "s3", .vote, .sent), .wishChanged(songID: "s4", .vote, .sent)])
        #expect(guest.pendingVotes == ["s3", "s4"])
        #expect(guest.saved.wishes.map(\.meantFor) == [Example.bob.id, Example.host.id, Example.host.id])
    }

    @Test("a vote that was cast before any host was known is for the first host that is joined")
    mutating func anyHost() {
        _ = guest.handle(.vote("s3"))
        #expect(
            guest.handle(.multipeerEvent(.peerConnected(Example.bob))).first
                == .send(
                    .vote(songID: "s3"), to: Example.bob.id))
        #expect(guest.saved.wishes.map(\.meantFor) == [Example.bob.id])
    }

    @Test("votes for a forgotten host are for the next one")
    mutating func forgottenHost() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.bob)))
        _ = guest.handle(.forgotHost(Example.host.id))
        #expect(guest.pendingVotes == ["s3"] && guest.state.elsewhere.isEmpty)
    }

    @Test("a vote that the transport had no room for waits, and is sent on the next link")
    mutating func noRoom() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(
            guest.handle(.multipeerEvent(.sendFailed(.intent(.vote(songID: "s3")), SendError(.full, to: Example.host))))
                == [
                    .wishChanged(songID: "s3", .vote, .queued)
                ])
        #expect(guest.handle(.multipeerEvent(.peerDisconnected(Example.host))) == [.reconnect(to: Example.host)])
        #expect(
            guest.handle(.multipeerEvent(.peerConnected(Example.host))) == [
                .send(.vote(songID: "s3"), to: Example.host.id), .wishChanged(songID: "s3", .vote, .sent),
            ])
    }

    @Test("a song that no host can have is rejected at once, with or without a host", arguments: ["", "too long"])
    mutating func impossibleSong(kind: String) {
        let songID = kind.isEmpty ? "" : String(repeating: "🎵", count: 300)
        #expect(guest.handle(.vote(songID)) == [.wishChanged(songID: songID, .vote, .rejected(.unknownSong))])
        #expect(
            guest.handle(.suggest(songID)) == [
                .wishChanged(songID: songID, .suggest, .rejected(.unknownSong)),
                .notice(Notice(.cannotAdd(songID, .unknownSong))),
            ])
        #expect(guest.state.wishes.isEmpty)
        #expect(guest.pendingVotes.isEmpty)
    }

    @Test("a rejected vote is reported with its reason, and removed")
    mutating func rejected() {
        connect()
        _ = guest.handle(.vote("s1"))
        #expect(deliver(.vote(songID: "s1")) == [])
        #expect(
            receive(.rejection(.vote(songID: "s1"), .alreadyPlayed)) == [
                .wishChanged(songID: "s1", .vote, .rejected(.alreadyPlayed))
            ])
        #expect(guest.pendingVotes == [])
    }

    @Test("two votes for a song are sent as one")
    mutating func twice() {
        connect()
        _ = guest.handle(.vote("s3"))
        #expect(guest.handle(.vote("s3")) == [])
        _ = receive(.stateUpdate(snapshot(1, voters: ["s3": [Example.ana.id]])))
        #expect(guest.handle(.vote("s3")) == [.wishChanged(songID: "s3", .vote, .confirmed)])
    }

    @Test(
        "when a song leaves the queue before its vote was seen, the host is asked again once it has stored the vote")
    mutating func songGone() {
        connect()
        _ = guest.handle(.vote("s3"))
        var gone = snapshot(1)
        gone.queue.removeAll { $0.id == "s3" }
        // The vote may be in transit.
        #expect(receive(.stateUpdate(gone)) == [.show(gone)])
        #expect(deliver(.vote(songID: "s3")) == [])
        // The host may have sent that state before it got the vote.
        gone.revision = 2
        #expect(receive(.stateUpdate(gone)) == [.show(gone)])
        gone.revision = 3
        #expect(receive(.stateUpdate(gone)) == [.show(gone), .send(.vote(songID: "s3"), to: Example.host.id)])
        for revision in UInt64(4)...9 {
            gone.revision = revision
            #expect(receive(.stateUpdate(gone)) == [.show(gone)], "asked once")
        }
        #expect(deliver(.vote(songID: "s3")) == [])
        #expect(
            receive(.rejection(.vote(songID: "s3"), .alreadyPlayed)) == [
                .wishChanged(songID: "s3", .vote, .rejected(.alreadyPlayed))
            ])
    }

    @Test("an older snapshot never overwrites a newer one")
    mutating func replay() {
        connect()
        _ = receive(.stateUpdate(snapshot(5)))
        #expect(receive(.stateUpdate(snapshot(4))) == [])
        #expect(receive(.stateUpdate(snapshot(5))) == [])
        #expect(guest.state.hostSnapshot?.revision == 5)
        #expect(receive(.stateUpdate(snapshot(1, epoch: 2))) == [.show(snapshot(1, epoch: 2))])
    }

    @Test("the last snapshot stays visible through a gap, as stale")
    mutating func stale() {
        connect()
        _ = receive(.stateUpdate(snapshot(1)))
        #expect(!guest.isStale)
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        #expect(guest.isStale)
        #expect(guest.state.hostSnapshot == snapshot(1))
    }

    @Test("only messages of the host count")
    mutating func impostor() {
        connect()
        #expect(receive(.stateUpdate(snapshot(1)), from: Example.bob) == [])
        #expect(receive(.intent(.vote(songID: "s2"))) == [])
    }

    @Test("another guest's disconnect has no effect")
    mutating func otherGuest() {
        connect()
        #expect(guest.handle(.multipeerEvent(.peerDisconnected(Example.bob))) == [])
        #expect(guest.state.host == Example.host)
    }

    @Test("votes are stored up to a limit, which is reported to the person")
    mutating func tooMany() {
        for number in 0..<DJLimits.pendingVotes { _ = guest.handle(.vote("x\(number)")) }
        #expect(guest.handle(.vote("one more")) == [.notice(Notice(.tooManyPendingVotes))])
    }
}
