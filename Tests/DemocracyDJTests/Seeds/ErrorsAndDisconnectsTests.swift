// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

@Suite("Errors and disconnects, scenario by scenario")
struct ErrorsAndDisconnectsTests {
    private let host = Example.host
    private let ana = Example.ana

    /// A guest that shows the host's first state.
    private func joined() -> GuestFeature {
        var guest = GuestFeature(local: ana)
        _ = guest.handle(.multipeerEvent(.peerConnected(host)))
        _ = guest.handle(.multipeerEvent(.messageReceived(.stateUpdate(Example.snapshot(1)), from: host)))
        return guest
    }

    /// A host with two guests.
    private func full() -> HostFeature {
        var host = Example.hostFeature()
        for peer in [Example.ana, Example.bob] { _ = host.handle(.multipeerEvent(.peerConnected(peer)), now: .zero) }
        return host
    }

    // MARK: Scenario 1: a peer disconnects

    @Test("scenario 1, as host: the guest is removed from the list, and the others are notified")
    func guestLost() async {
        var expected = full().snapshot
        expected.connectedPeers = [Example.bob]
        expected.revision = 4
        let store = TestStore(full())
        await store.send(.multipeerEvent(.peerDisconnected(ana)), effects: [.broadcast(expected)]) {
            $0.connectedPeers = [Example.bob]
            $0.revision = 4
        }
    }

    @Test("scenario 1, as guest: the guest looks for a lost host, and shows its last state")
    func hostLost() async {
        let store = TestStore(joined())
        await store.send(.multipeerEvent(.peerDisconnected(host)), effects: [.reconnect(to: host)]) {
            $0.host = nil
            $0.connectionStatus = .reconnecting
            $0.isCurrent = false
        }
    }

    @Test("scenario 1, as guest: another guest that left disappears in the next snapshot, not before")
    func otherGuestLost() async {
        let store = TestStore(joined())
        await store.send(.multipeerEvent(.peerDisconnected(Example.bob)))
    }

    // MARK: Scenario 2: a message cannot be sent

    @Test("scenario 2: a failed broadcast is not repeated, since the next change is broadcast anyway")
    func broadcastFails() async {
        let snapshot = full().snapshot
        var next = snapshot
        next.isPlaying = false
        next.revision += 1
        let store = TestStore(full())
        await store.send(.multipeerEvent(.sendFailed(.stateUpdate(snapshot), SendError(.full, to: ana))))
        await store.send(.command(.pause), effects: [.broadcast(next)]) {
            $0.playingSince = nil
            $0.revision = 4
        }
    }

    @Test("scenario 2: a failed intent is kept, and sent on the next link")
    func intentFails() async {
        var guest = joined()
        _ = guest.handle(.vote("s3"))
        let vote = GuestIntent.vote(songID: "s3")
        let store = TestStore(guest)
        await store.send(
            .multipeerEvent(.sendFailed(.intent(vote), SendError(.full, to: host))),
            effects: [.wishChanged(songID: "s3", .vote, .queued)]
        ) {
            $0.wishes[0].progress = .waiting
            $0.wishes[0].undelivered = 0
        }
        await store.send(.multipeerEvent(.peerDisconnected(host)), effects: [.reconnect(to: host)]) {
            $0.host = nil
            $0.connectionStatus = .reconnecting
            $0.isCurrent = false
        }
        await store.send(
            .multipeerEvent(.peerConnected(host)),
            effects: [.send(vote, to: host.id), .wishChanged(songID: "s3", .vote, .sent)]
        ) { [host] in
            $0.host = host
            $0.connectionStatus = .connected
            $0.wishes[0].progress = .sent
            $0.wishes[0].undelivered = 1
        }
    }

    @Test("scenario 2: a failed intent is sent again when the person taps again")
    func tapAgainAfterFailure() async {
        var guest = joined()
        _ = guest.handle(.vote("s3"))
        let vote = GuestIntent.vote(songID: "s3")
        _ = guest.handle(.multipeerEvent(.sendFailed(.intent(vote), SendError(.full, to: host))))
        let store = TestStore(guest)
        await store.send(
            .vote("s3"), effects: [.send(vote, to: host.id), .wishChanged(songID: "s3", .vote, .sent)]
        ) {
            $0.wishes[0].progress = .sent
            $0.wishes[0].undelivered = 1
        }
    }

    @Test("scenario 2: a second tap on a vote in transit does no harm")
    func tapAgain() async {
        var guest = joined()
        _ = guest.handle(.vote("s3"))
        let store = TestStore(guest)
        await store.send(.vote("s3"))
    }

    // MARK: Scenario 3: the host leaves

    @Test("scenario 3: a device that ends the session stops the network and returns to the start")
    func endSession() async {
        var app = AppFeature()
        _ = app.handle(.startHosting(Example.hostFeature()), now: .zero)
        let store = TestStore(app)
        await store.send(.endSession) { $0 = .choosing }
    }

    @Test("scenario 3: the guests are notified that the host ended the session, and return to the start")
    func hostEnds() async {
        let store = TestStore(joined())
        await store.send(
            .multipeerEvent(.peerDisconnected(host, reason: .goodbye)), effects: [.returnToStart(host, .goodbye)]
        ) {
            $0.host = nil
            $0.connectionStatus = .choosing
            $0.isCurrent = false
        }
        let notice = Notice(.hostEnded(host: host))
        #expect(notice.message == "Dad's Car ended the session.")
        // It stays until the person has seen it.
        #expect(notice.critical && notice.button == "OK")
    }

    // MARK: Scenario 4: the network is lost

    @Test("scenario 4: peers that are all lost at once mean that the network is lost")
    func rapidDisconnects() {
        var monitor = NetworkMonitor()
        for peer in ["a", "b", "c"] { #expect(monitor.handle(.linked(peer), now: .zero) == []) }
        #expect(monitor.handle(.linkLost("a"), now: .seconds(60)) == [])
        #expect(monitor.handle(.linkLost("b"), now: .seconds(60)) == [])
        #expect(
            monitor.handle(.linkLost("c"), now: .seconds(61)) == [.networkUnavailable(.networkUnavailable), .tryAgain])
    }

    @Test("scenario 4: a host and a guest show the banner over a state that stays, and it disappears with a link")
    func banner() async {
        var app = AppFeature()
        _ = app.handle(.startJoining(joined()), now: .zero)
        let before = app.state
        let store = TestStore(app)
        await store.send(.multipeerEvent(.networkUnavailable), effects: [.show(.networkUnavailable)])
        #expect(await store.state == before)
        await store.send(.multipeerEvent(.peerDisconnected(host)), effects: [.guest(.reconnect(to: host))]) {
            guard case .joining(var guest) = $0 else { return }
            guest.host = nil
            guest.connectionStatus = .reconnecting
            guest.isCurrent = false
            $0 = .joining(guest)
        }
        await store.send(.multipeerEvent(.peerConnected(host)), effects: [.clear(.networkUnavailable)]) { [host] in
            guard case .joining(var guest) = $0 else { return }
            guest.host = host
            guest.connectionStatus = .connected
            $0 = .joining(guest)
        }
    }

    @Test("scenario 4: the banner gives advice, offers Retry after 10 seconds, and disappears when the host is back")
    func retryAfterTenSeconds() throws {
        var board = NoticeBoard()
        let lost = Notice(.connectionLost(host: host))
        #expect(board.handle(.tell(lost), now: .zero) == [.show(lost)])
        #expect(lost.button == nil)
        #expect(lost.critical)
        #expect(lost.suggestion != nil)
        #expect(board.handle(.tick, now: .milliseconds(9_999)) == [])
        #expect(board.deadline == .seconds(10))
        let later = try #require(lost.followedUp)
        #expect(board.handle(.tick, now: .seconds(10)) == [.show(later)])
        #expect(later.button == "Retry")
        #expect(try #require(later.suggestion).contains("Make sure Bluetooth is on"))
        #expect(board.handle(.clear(lost.code), now: .seconds(12)) == [.clear(lost.code)])
        #expect(board.current == [])
    }

    // MARK: Reconnecting

    @Test("a guest that is back is connected, and sees the host's current state")
    func reconnect() async {
        var guest = joined()
        _ = guest.handle(.multipeerEvent(.peerDisconnected(host)))
        let store = TestStore(guest)
        await store.send(.multipeerEvent(.peerConnected(host))) { [host] in
            $0.host = host
            $0.connectionStatus = .connected
        }
        let present = Example.snapshot(9)
        await store.send(
            .multipeerEvent(.messageReceived(.stateUpdate(present), from: host)), effects: [.show(present)]
        ) {
            $0.hostSnapshot = present
            $0.isCurrent = true
        }
    }

    @Test("a host sends all its current state when a guest is back")
    func reconnectAtHost() async {
        var feature = full()
        _ = feature.handle(.multipeerEvent(.peerDisconnected(ana)), now: .zero)
        var expected = feature.snapshot
        expected.connectedPeers = [Example.bob, ana]
        expected.revision = 5
        let store = TestStore(feature)
        await store.send(.multipeerEvent(.peerConnected(ana)), effects: [.broadcast(expected)]) {
            $0.connectedPeers = [Example.bob, Example.ana]
            $0.revision = 5
        }
    }

    // MARK: State that stays

    @Test("the host keeps queue, song and votes through a disconnection, and the music continues")
    func hostKeepsState() {
        var feature = full()
        _ = feature.handle(Example.intent(.vote(songID: "s4"), from: ana), now: .seconds(1))
        let before = feature.snapshot
        let ends = feature.songEnds
        for peer in [Example.ana, Example.bob] {
            _ = feature.handle(.multipeerEvent(.peerDisconnected(peer)), now: .seconds(2))
        }
        #expect(feature.snapshot.queue == before.queue)
        #expect(feature.snapshot.nowPlaying == before.nowPlaying)
        #expect(feature.snapshot.isPlaying)
        #expect(feature.songEnds == ends)
        #expect(feature.snapshot.connectedPeers == [])
    }

    @Test("a guest keeps the last snapshot, shown as stale, and its pending votes")
    func guestKeepsState() {
        var guest = joined()
        _ = guest.handle(.vote("s3"))
        for event in [MultipeerEvent.networkUnavailable, .peerDisconnected(host)] {
            _ = guest.handle(.multipeerEvent(event))
        }
        #expect(guest.state.hostSnapshot == Example.snapshot(1))
        #expect(guest.pendingVotes == ["s3"])
        #expect(guest.isStale)
        #expect(guest.state.connectionStatus == .reconnecting)
    }

    // MARK: The summary of events

    @Test(
        "peerDisconnected: a host removes the guest, and a guest finds the host again, for any reason",
        arguments: [
            DisconnectReason.goodbye, .linkLost, .refused, .replaced,
        ])
    func disconnectReasons(reason: DisconnectReason) {
        var feature = full()
        _ = feature.handle(.multipeerEvent(.peerDisconnected(ana, reason: reason)), now: .zero)
        #expect(feature.snapshot.connectedPeers == [Example.bob])
        var guest = joined()
        let effects = guest.handle(.multipeerEvent(.peerDisconnected(host, reason: reason)))
        let comesBack = reason == .linkLost || reason == .replaced
        #expect(effects == [comesBack ? .reconnect(to: host) : .returnToStart(host, reason)])
    }

    @Test("sendFailed and networkUnavailable change neither the host's music nor its queue")
    func hostGoesOn() async {
        let store = TestStore(full())
        await store.send(.multipeerEvent(.networkUnavailable))
        await store.send(.multipeerEvent(.sendFailed(.stateRequest, SendError(.full, to: ana))))
    }

    @Test(
        "sessionInvalidated is fatal: a host and a guest return to the start", arguments: [true, false])
    func sessionInvalidated(hosts: Bool) async {
        var app = AppFeature()
        _ = app.handle(hosts ? .startHosting(full()) : .startJoining(joined()), now: .zero)
        let store = TestStore(app)
        await store.send(.multipeerEvent(.sessionInvalidated)) {
            $0 = .choosing
        }
    }

    // MARK: The show must go on

    @Test("the music continues from song to song without guests")
    func musicWithoutGuests() {
        var feature = Example.hostFeature()
        for _ in 0..<20 {
            guard let ends = feature.songEnds else {
                Issue.record("nothing plays")
                return
            }
            _ = feature.handle(.tick, now: ends)
            #expect(feature.snapshot.isPlaying)
        }
    }

    @Test("a permanently lost vote does no harm: its guest can cast it again")
    func oneLostVote() {
        var guest = joined()
        _ = guest.handle(.vote("s3"))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(host)))
        // A machine that has lost all its state replaces the host.
        let other = Peer(id: "other", name: host.name)
        #expect(guest.handle(.multipeerEvent(.peerConnected(other))) == [])
        #expect(guest.handle(.vote("s3")).contains(.send(.vote(songID: "s3"), to: other.id)))
    }
}
