// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A guest's wishes, and their reported states")
struct WishTests {
    private var guest = GuestFeature(local: Example.ana)
    private static let vote = GuestIntent.vote(songID: "s3")
    private static let takeBack = GuestIntent.takeBackVote(songID: "s3")

    private mutating func join(_ host: Peer = Example.host, voters: [Peer.ID] = []) {
        _ = guest.handle(.multipeerEvent(.peerConnected(host)))
        _ = receive(.stateUpdate(Example.snapshot(1, voters: ["s3": voters])), from: host)
    }

    private mutating func receive(_ message: MeshMessage, from host: Peer = Example.host) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.messageReceived(message, from: host)))
    }

    private mutating func deliver(_ intent: GuestIntent) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.messageDelivered(.intent(intent), to: Example.host.id)))
    }

    private func told(_ kind: Wish.Kind, _ state: WishState) -> GuestFeature.Effect {
        .wishChanged(songID: "s3", kind, state)
    }

    // MARK: Taking a vote back

    @Test("a vote is reported as taken back when the host has stored that and no longer shows it")
    mutating func takenBack() {
        join(voters: [Example.ana.id])
        #expect(
            guest.handle(.takeBackVote("s3")) == [
                told(.takeBack, .queued), .send(Self.takeBack, to: Example.host.id), told(.takeBack, .sent),
            ])
        #expect(deliver(Self.takeBack) == [])
        let without = Example.snapshot(2)
        #expect(receive(.stateUpdate(without)) == [.show(without), told(.takeBack, .confirmed)])
    }

    @Test("an earlier state does not show a vote as taken back")
    mutating func takenBackTooEarly() {
        join()
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.takeBackVote("s3"))
        let before = Example.snapshot(2)
        #expect(receive(.stateUpdate(before)) == [.show(before)])
        #expect(deliver(Self.vote) == [])
        #expect(deliver(Self.takeBack) == [])
        // The host may have sent the next state before it got them.
        let next = Example.snapshot(3)
        #expect(receive(.stateUpdate(next)) == [.show(next)])
        #expect(
            receive(.stateHeartbeat(epoch: next.epoch, revision: next.revision)) == [told(.takeBack, .confirmed)])
    }

    @Test("without a host the last of a person's wishes for a song counts, and it waits")
    mutating func withoutHost() {
        _ = guest.handle(.vote("s3"))
        #expect(guest.handle(.takeBackVote("s3")) == [told(.takeBack, .queued)])
        #expect(guest.handle(.vote("s3")) == [told(.vote, .queued)])
        #expect(guest.pendingVotes == ["s3"])
    }

    @Test("a vote is not reported as taken back if its host, whose key was forgotten, may still have it")
    mutating func keyIsForgotten() {
        join()
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.forgotHost(Example.host.id))
        #expect(guest.handle(.takeBackVote("s3")) == [told(.takeBack, .queued)])
        #expect(
            guest.handle(.multipeerEvent(.peerConnected(Example.host))) == [
                .send(Self.takeBack, to: Example.host.id), told(.takeBack, .sent),
            ])
        let shown = Example.snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(receive(.stateUpdate(shown)) == [.show(shown)])
    }

    @Test("a vote is taken back when its host confirms, even a host that is back with a key that should be forgotten")
    mutating func keyComesBack() {
        join()
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.takeBackVote("s3"))
        _ = guest.handle(.forgotHost(Example.host.id))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        // From before the host took the vote; a link delivered it while the key was forgotten.
        let before = Example.snapshot(2)
        #expect(receive(.stateUpdate(before)) == [.show(before)])
        #expect(deliver(Self.takeBack) == [])
        let after = Example.snapshot(3)
        _ = receive(.stateUpdate(after))
        #expect(
            receive(.stateHeartbeat(epoch: after.epoch, revision: after.revision)) == [told(.takeBack, .confirmed)])
    }

    @Test("a vote that is shown while its message is in transit is taken back when the host has both")
    mutating func shownBeforeItArrives() {
        join()
        _ = guest.handle(.vote("s3"))
        // The host has the vote from before this guest lost its disk.
        let shown = Example.snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(receive(.stateUpdate(shown)) == [.show(shown), told(.vote, .confirmed)])
        _ = guest.handle(.takeBackVote("s3"))
        let without = Example.snapshot(3)
        #expect(receive(.stateUpdate(without)) == [.show(without)])
        for intent in [Self.vote, Self.takeBack] { #expect(deliver(intent) == []) }
        let beat = MeshMessage.stateHeartbeat(epoch: without.epoch, revision: without.revision)
        #expect(receive(beat) == [])
        #expect(receive(beat) == [told(.takeBack, .confirmed)])
    }

    @Test("a vote that was never cast cannot be taken back")
    mutating func nothingToTakeBack() {
        join()
        #expect(guest.handle(.takeBackVote("s3")) == [told(.takeBack, .rejected(.notVoted))])
    }

    // MARK: Valid answers

    @Test("another host's state does not confirm a vote for this one")
    mutating func otherHost() {
        join(voters: [Example.ana.id])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.bob)))
        #expect(
            guest.handle(.vote("s3")) == [
                told(.vote, .queued), .send(Self.vote, to: Example.bob.id), told(.vote, .sent),
            ])
    }

    @Test("the rejection of a vote that was taken back does not end a later vote")
    mutating func lateRejection() {
        join()
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.takeBackVote("s3"))
        _ = guest.handle(.vote("s3"))
        #expect(receive(.rejection(Self.vote, .notQueued)) == [])
        #expect(guest.pendingVotes == ["s3"])
        for intent in [Self.vote, Self.takeBack, Self.vote] { #expect(deliver(intent) == []) }
        // It is requested once more, and the answer is then for this vote.
        for _ in 0..<2 { _ = receive(.stateHeartbeat(epoch: 1, revision: 1)) }
        #expect(deliver(Self.vote) == [])
        #expect(receive(.rejection(Self.vote, .notQueued)) == [told(.vote, .rejected(.notQueued))])
    }

    @Test("a vote that counts is not reported as rejected by an answer that crossed a repeated request")
    mutating func rejectionCrossesTheNextMessage() {
        join()
        _ = guest.handle(.vote("s3"))
        #expect(deliver(Self.vote) == [])
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 1)) == [])
        #expect(
            receive(.stateHeartbeat(epoch: 1, revision: 1)) == [.send(Self.vote, to: Example.host.id)])
        #expect(receive(.rejection(Self.vote, .notQueued)) == [])
        #expect(deliver(Self.vote) == [])
        let counted = Example.snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(receive(.stateUpdate(counted)) == [.show(counted), told(.vote, .confirmed)])
    }

    @Test("a late answer to a vote that a suggestion has replaced does not end the next vote")
    mutating func rejectionOutlivesItsWish() {
        join()
        _ = guest.handle(.vote("new"))
        #expect(deliver(.vote(songID: "new")) == [])
        _ = guest.handle(.suggest("new"))
        #expect(deliver(.suggestSong(songID: "new")) == [])
        var queued = Example.snapshot(2)
        queued.nowPlaying = QueueItem(
            song: Song(id: "new", title: "", artist: "", duration: 1), addedBy: Example.ana.id)
        _ = receive(.stateUpdate(queued))
        queued.revision = 3
        #expect(
            receive(.stateUpdate(queued)) == [.show(queued), .wishChanged(songID: "new", .suggest, .confirmed)])
        _ = guest.handle(.vote("new"))
        #expect(receive(.rejection(.vote(songID: "new"), .alreadyPlayed)) == [])
        #expect(guest.pendingVotes == ["new"])
    }

    @Test(
        "a failure that is reported twice, or for an invalid message, is not a delivery")
    mutating func failedTwice() {
        join(voters: [Example.ana.id])
        _ = guest.handle(.takeBackVote("s3"))
        let failed = GuestFeature.Event.multipeerEvent(
            .sendFailed(.intent(Self.takeBack), SendError(.full, to: Example.host)))
        #expect(guest.handle(failed) == [told(.takeBack, .queued)])
        #expect(guest.handle(failed) == [])
        #expect(
            guest.handle(.multipeerEvent(.sendFailed(.intent(Self.vote), SendError(.full, to: Example.host)))) == [])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        join(voters: [Example.ana.id])
        for _ in 0..<3 { #expect(receive(.stateHeartbeat(epoch: 1, revision: 1)) == []) }
        #expect(deliver(Self.takeBack) == [])
        let without = Example.snapshot(2)
        #expect(receive(.stateUpdate(without)) == [.show(without), told(.takeBack, .confirmed)])
    }

    @Test("a vote that was confirmed before its link broke does not delay taking it back")
    mutating func failedAfterItsWish() {
        join()
        _ = guest.handle(.vote("s3"))
        let counted = Example.snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(receive(.stateUpdate(counted)) == [.show(counted), told(.vote, .confirmed)])
        // The acknowledgement was lost with the link: this message is not in transit any more.
        _ = guest.handle(.multipeerEvent(.sendFailed(.intent(Self.vote), SendError(.noLink, to: Example.host))))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        join(voters: [Example.ana.id])
        _ = guest.handle(.takeBackVote("s3"))
        #expect(deliver(Self.takeBack) == [])
        let without = Example.snapshot(2)
        #expect(receive(.stateUpdate(without)) == [.show(without)])
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 2)) == [told(.takeBack, .confirmed)])
    }

    @Test("a vote of a guest that left and came back is not confirmed by a state that an earlier message may change")
    mutating func comesAgain() {
        join(voters: [Example.ana.id])
        _ = guest.handle(.takeBackVote("s3"))
        guest = GuestFeature(local: Example.ana, of: Example.host.id, behind: guest.stillComing)
        join(voters: [Example.ana.id])
        #expect(
            guest.handle(.vote("s3")) == [
                told(.vote, .queued), .send(Self.vote, to: Example.host.id), told(.vote, .sent),
            ])
        #expect(deliver(Self.vote) == [])
        // With this message everything from before it has arrived.
        _ = guest.handle(.takeBackVote("s4"))
        #expect(guest.handle(.vote("s2")).count == 3)
        #expect(guest.state.overtaken.isEmpty)
    }

    // MARK: Suggesting

    @Test("a suggestion is reported as followed when the song is queued or plays")
    mutating func suggested() {
        join()
        #expect(
            guest.handle(.suggest("new")) == [
                .wishChanged(songID: "new", .suggest, .queued), .send(.suggestSong(songID: "new"), to: Example.host.id),
                .wishChanged(songID: "new", .suggest, .sent),
            ])
        var queued = Example.snapshot(2)
        queued.nowPlaying = QueueItem(
            song: Song(id: "new", title: "", artist: "", duration: 1), addedBy: Example.ana.id)
        #expect(
            receive(.stateUpdate(queued)) == [.show(queued), .wishChanged(songID: "new", .suggest, .confirmed)])
    }

    @Test("a suggestion of a queued song is a vote for it")
    mutating func suggestedAgain() {
        join()
        #expect(guest.handle(.suggest("s3")).first == told(.vote, .queued))
    }

    @Test("a suggestion that the host has stored and does not show has been played in the meantime")
    mutating func suggestedAndPlayed() {
        join()
        _ = guest.handle(.suggest("new"))
        let beat = MeshMessage.stateHeartbeat(epoch: 1, revision: 1)
        #expect(receive(beat) == [])
        _ = deliver(.suggestSong(songID: "new"))
        #expect(receive(beat) == [])
        #expect(receive(beat) == [.wishChanged(songID: "new", .suggest, .confirmed)])
    }

    @Test(
        "a suggestion that the host rejects is reported with the reason",
        arguments: [
            RejectionReason.unknownSong, .queueFull, .tooManySuggestions,
        ])
    mutating func notFollowed(reason: RejectionReason) {
        join()
        _ = guest.handle(.suggest("new"))
        #expect(deliver(.suggestSong(songID: "new")) == [])
        #expect(
            receive(.rejection(.suggestSong(songID: "new"), reason)) == [
                .wishChanged(songID: "new", .suggest, .rejected(reason)), .notice(Notice(.cannotAdd("new", reason))),
            ])
    }

    @Test("a rejected suggestion from a search is reported with its title, not with an id")
    mutating func refusedByItsTitle() {
        join()
        _ = guest.handle(.search("mo"))
        let motel = Song(id: "x7", title: "Motel", artist: "B", duration: 1)
        _ = receive(.searchResults(SearchResults(number: 1, songs: [motel])))
        _ = guest.handle(.suggest("x7"))
        #expect(deliver(.suggestSong(songID: "x7")) == [])
        #expect(
            receive(.rejection(.suggestSong(songID: "x7"), .cannotBePlayed)).last
                == .notice(Notice(.cannotAdd("Motel", .cannotBePlayed))))
    }
}
