// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A restarted guest")
struct SavedGuestTests {
    private static let vote = GuestIntent.vote(songID: "s3")
    private var guest = GuestFeature(local: Example.ana)

    init() {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.messageReceived(.stateUpdate(Example.snapshot(1)), from: Example.host)))
        _ = guest.handle(.vote("s3"))
    }

    private func resumed(undelivered: [GuestIntent]) -> GuestFeature {
        GuestFeature(local: Example.ana, resuming: guest.saved, undelivered: undelivered)
    }

    private func link(_ guest: inout GuestFeature, _ host: Peer = Example.host) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.peerConnected(host)))
    }

    @Test("a restarted guest shows the last state as stale, looks for the same host, and has its votes")
    func keeps() {
        let again = resumed(undelivered: [Self.vote])
        #expect(again.state.hostSnapshot == Example.snapshot(1))
        #expect(again.isStale)
        #expect(again.state.connectionStatus == .reconnecting)
        #expect(again.pendingVotes == ["s3"])
    }

    @Test("a restarted guest does not repeat a vote that the outbox sends")
    func outbox() {
        var again = resumed(undelivered: [Self.vote])
        #expect(link(&again) == [.wishChanged(songID: "s3", .vote, .sent)])
    }

    @Test("a restarted guest is notified of a vote that the host got before")
    func delivered() {
        var again = resumed(undelivered: [])
        _ = link(&again)
        let shown = Example.snapshot(2, voters: ["s3": [Example.ana.id]])
        #expect(
            again.handle(.multipeerEvent(.messageReceived(.stateUpdate(shown), from: Example.host))) == [
                .show(shown), .wishChanged(songID: "s3", .vote, .confirmed),
            ])
    }

    @Test("a restarted guest keeps its vote for its host, whichever host it joins first")
    func otherHost() {
        var again = resumed(undelivered: [Self.vote])
        #expect(link(&again, Example.bob) == [])
        #expect(again.saved.wishes.map(\.meantFor) == [Example.host.id])
        var later = GuestFeature(local: Example.ana, resuming: again.saved, undelivered: [])
        #expect(later.pendingVotes.isEmpty && later.saved.wishes == again.saved.wishes)
        #expect(link(&later).contains(.wishChanged(songID: "s3", .vote, .sent)))
    }

    @Test("a restarted guest does not accept a state from before it took its vote back")
    func takenBack() {
        let shown = Example.snapshot(2, voters: ["s3": [Example.ana.id]])
        var earlier = self
        _ = earlier.guest.handle(.multipeerEvent(.messageReceived(.stateUpdate(shown), from: Example.host)))
        _ = earlier.guest.handle(.takeBackVote("s3"))
        _ = earlier.guest.handle(.vote("s3"))
        let sent: [GuestIntent] = [.takeBackVote(songID: "s3"), Self.vote]
        var again = earlier.resumed(undelivered: sent)
        _ = link(&again)
        #expect(
            again.handle(.multipeerEvent(.messageReceived(.stateUpdate(shown), from: Example.host))) == [.show(shown)])
        for intent in sent {
            #expect(again.handle(.multipeerEvent(.messageDelivered(.intent(intent), to: Example.host.id))) == [])
        }
        // The host may have sent the next state before it got them.
        let heartbeat = GuestFeature.Event.multipeerEvent(
            .messageReceived(.stateHeartbeat(epoch: shown.epoch, revision: shown.revision), from: Example.host))
        #expect(again.handle(heartbeat) == [])
        #expect(again.handle(heartbeat) == [.wishChanged(songID: "s3", .vote, .confirmed)])
    }

    @Test("a vote is not reported as taken back while the outbox, without room for that, still sends it to the host")
    func noRoom() {
        var earlier = self
        _ = earlier.guest.handle(.takeBackVote("s3"))
        let failure = SendError(.full, to: Example.host)
        let takeBack = MeshMessage.intent(.takeBackVote(songID: "s3"))
        _ = earlier.guest.handle(.multipeerEvent(.sendFailed(takeBack, failure)))
        var again = earlier.resumed(undelivered: [Self.vote])
        _ = link(&again)
        let before = Example.snapshot(2)
        #expect(
            again.handle(.multipeerEvent(.messageReceived(.stateUpdate(before), from: Example.host))) == [.show(before)]
        )
    }

    @Test("a restarted guest that never met a host chooses one, and sends its waiting votes to it")
    func neverMet() {
        var fresh = GuestFeature(local: Example.ana)
        _ = fresh.handle(.vote("s4"))
        var again = GuestFeature(local: Example.ana, resuming: fresh.saved, undelivered: [])
        #expect(again.state.connectionStatus == .choosing)
        #expect(link(&again).first == .send(.vote(songID: "s4"), to: Example.host.id))
    }
}
