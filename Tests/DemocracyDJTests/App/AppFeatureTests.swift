// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

@Suite("The roles of the application")
struct AppFeatureTests {
    private func hosting() -> AppFeature {
        var app = AppFeature()
        _ = app.handle(.startHosting(Example.hostFeature()), now: .zero)
        return app
    }

    private func joining() -> AppFeature {
        var app = AppFeature()
        _ = app.handle(.startJoining(GuestFeature(local: Example.ana)), now: .zero)
        return app
    }

    @Test("before a role is chosen, events change nothing")
    func choosing() async {
        let store = TestStore(AppFeature())
        for event in [MultipeerEvent.peerConnected(Example.bob), .networkUnavailable, .sessionInvalidated] {
            await store.send(.multipeerEvent(event))
        }
        await store.send(.host(.tick))
        await store.send(.guest(.vote("s3")))
        await store.send(.endSession)
    }

    @Test("a host ignores events for a guest, and a guest those for a host")
    func otherRole() async {
        let host = TestStore(hosting())
        await host.send(.guest(.vote("s3")))
        await host.send(.startJoining(GuestFeature(local: Example.ana)))
        let guest = TestStore(joining())
        await guest.send(.host(.command(.skip)))
        await guest.send(.startHosting(Example.hostFeature()))
        #expect(hosting().guest == nil)
        #expect(joining().host == nil)
    }

    @Test("a command of the person at the head unit reaches the host's feature")
    func command() async {
        var expected = Example.hostFeature()
        let effects = expected.handle(.command(.skip), now: .seconds(3))
        let state = expected.state
        let store = TestStore(hosting(), now: .seconds(3))
        await store.send(.host(.command(.skip)), effects: effects.map(AppFeature.Effect.host)) { $0 = .hosting(state) }
    }

    @Test("a passenger's wish reaches the guest's feature")
    func wish() async {
        let store = TestStore(joining())
        await store.send(.guest(.vote("s3")), effects: [.guest(.wishChanged(songID: "s3", .vote, .queued))]) {
            var state = GuestFeature.State()
            state.wishes = [Wish(.vote, "s3")]
            $0 = .joining(state)
        }
    }

    @Test("a host has a deadline, at the latest for its heartbeat; a guest and the start have none")
    func deadline() {
        #expect(hosting().deadline == DJLimits.stateHeartbeat)
        #expect(joining().deadline == nil)
        #expect(AppFeature().deadline == nil)
    }

    @Test("after the end of one session another can begin in the other role")
    func again() async {
        let store = TestStore(hosting())
        await store.send(.endSession) { $0 = .choosing }
        await store.send(.startJoining(GuestFeature(local: Example.ana))) {
            $0 = .joining(GuestFeature.State())
        }
    }
}
