// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

@Suite("What the application is doing")
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

    @Test("before somebody chooses, nothing that happens changes anything")
    func choosing() async {
        let store = TestStore(AppFeature())
        for event in [MultipeerEvent.peerConnected(Example.bob), .networkUnavailable, .sessionInvalidated] {
            await store.send(.multipeerEvent(event))
        }
        await store.send(.host(.tick))
        await store.send(.guest(.vote("s3")))
        await store.send(.endSession)
    }

    @Test("a host is no guest, and a guest no host: what is meant for the other changes nothing")
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

    @Test("what the person at the head unit says reaches the host's feature")
    func command() async {
        var expected = Example.hostFeature()
        let effects = expected.handle(.command(.skip), now: .seconds(3))
        let state = expected.state
        let store = TestStore(hosting(), now: .seconds(3))
        await store.send(.host(.command(.skip)), effects: effects.map(AppFeature.Effect.host)) { $0 = .hosting(state) }
    }

    @Test("what a passenger wants reaches the guest's feature")
    func wish() async {
        let store = TestStore(joining())
        await store.send(.guest(.vote("s3")), effects: [.guest(.wishChanged(songID: "s3", .vote, .queued))]) {
            var state = GuestFeature.State()
            state.wishes = [Wish(.vote, "s3")]
            $0 = .joining(state)
        }
    }

    @Test("a host has something due, its heartbeat at the latest; a guest and a start have not")
    func deadline() {
        #expect(hosting().deadline == DJLimits.stateHeartbeat)
        #expect(joining().deadline == nil)
        #expect(AppFeature().deadline == nil)
    }

    @Test("after the end of one session another can begin, as the other role")
    func again() async {
        let store = TestStore(hosting())
        await store.send(.endSession) { $0 = .choosing }
        await store.send(.startJoining(GuestFeature(local: Example.ana))) {
            $0 = .joining(GuestFeature.State())
        }
    }
}
