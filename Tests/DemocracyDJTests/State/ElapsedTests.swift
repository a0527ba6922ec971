// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("The elapsed time of a song at the host and its guests")
struct ElapsedTests {
    private var host = Example.hostFeature()
    private var feed = StateFeed(Example.hostFeature().snapshot)
    private var guest = GuestFeature(local: Example.ana)

    /// Sends a guest all updates, and compares what it then shows.
    @discardableResult
    private mutating func deliver(_ actions: [StateFeed.Action], at now: MeshInstant) throws -> [GuestFeature.Effect] {
        var effects: [GuestFeature.Effect] = []
        for case .send(let message, to: _) in actions {
            let arrived = try #require(MeshMessage(encoded: message.encoded))
            effects += guest.handle(.multipeerEvent(.messageReceived(arrived, from: Example.host)), now: now)
            try deliver(feed.handle(.updateHasLeft(Example.ana.id), now: now), at: now)
        }
        return effects
    }

    private mutating func say(_ command: HostFeature.Command, at now: MeshInstant) throws {
        for case .broadcast(let snapshot) in host.handle(.command(command), now: now) {
            try deliver(feed.handle(.stateChanged(snapshot), now: now), at: now)
        }
    }

    private mutating func join(at now: MeshInstant) throws {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)), now: now)
        try deliver(feed.handle(.guestConnected(Example.ana.id), now: now), at: now)
    }

    private func shown(at now: MeshInstant) -> Double? {
        var guest = guest
        _ = guest.handle(.multipeerEvent(.networkUnavailable), now: now)
        return guest.state.hostSnapshot?.elapsed
    }

    @Test("a guest that joins in the middle of a song knows its elapsed time")
    mutating func joining() throws {
        try join(at: .seconds(30))
        #expect(guest.state.hostSnapshot?.elapsed == 30)
        #expect(shown(at: .seconds(42)) == 42)
    }

    @Test("a guest has the same position as the host in a pause and after it")
    mutating func pausing() throws {
        try join(at: .seconds(1))
        try say(.pause, at: .seconds(10))
        #expect(shown(at: .seconds(50)) == 10)
        try say(.play, at: .seconds(60))
        #expect(shown(at: .seconds(65)) == 15)
        try say(.skip, at: .seconds(70))
        #expect(shown(at: .seconds(70)) == 0)
        #expect(shown(at: .seconds(73)) == 3)
    }

    @Test("a song does not play beyond its end on any screen")
    mutating func end() throws {
        try join(at: .seconds(1))
        #expect(shown(at: .seconds(100_000)) == guest.state.hostSnapshot?.nowPlaying?.duration)
    }

    @Test("a heartbeat corrects a guest's clock, and an imperceptible change is not shown")
    mutating func heartbeat() throws {
        try join(at: .zero)
        let snapshot = host.snapshot
        func beat(_ elapsed: Double?) -> GuestFeature.Event {
            .multipeerEvent(
                .messageReceived(
                    .stateHeartbeat(epoch: snapshot.epoch, revision: snapshot.revision, elapsed: elapsed),
                    from: Example.host))
        }
        #expect(guest.handle(beat(20.2), now: .seconds(20)).isEmpty)
        #expect(shown(at: .seconds(20)) == 20.2)
        #expect(guest.handle(beat(12), now: .seconds(25)).count == 1)
        #expect(shown(at: .seconds(26)) == 13)
        #expect(guest.handle(beat(nil), now: .seconds(27)).isEmpty)
        #expect(shown(at: .seconds(27)) == 14)
    }

    @Test("out of the host's range the elapsed time is unknown, so it stops")
    mutating func gap() throws {
        try join(at: .zero)
        _ = guest.handle(
            .multipeerEvent(.peerDisconnected(Example.host, reason: .linkLost)), now: .seconds(9))
        #expect(shown(at: .seconds(90)) == 9)
    }

    @Test("the elapsed time adds no bytes to a vote")
    mutating func vote() throws {
        try join(at: .zero)
        let voted = host.handle(
            .multipeerEvent(.messageReceived(.intent(.vote(songID: "s3")), from: Example.ana)), now: .seconds(5))
        let snapshots = voted.compactMap { if case .broadcast(let snapshot) = $0 { snapshot } else { nil } }
        let actions = feed.handle(.stateChanged(try #require(snapshots.first)), now: .seconds(5))
        guard case .send(.stateChange(let change), to: _)? = actions.first else {
            Issue.record("no change was sent")
            return
        }
        var without = try #require(guest.state.hostSnapshot)
        without = try #require(without.applying(change))
        #expect(without.elapsed == 0, "the base's own, since the change says nothing of it")
    }
}
