// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

@Suite("Discovery and connection, phase by phase")
struct DiscoveryAndConnectionTests {
    private let dad = Example.host
    private let santiago = Peer(id: "santiago", name: "Santiago")

    private func hosting() -> AppFeature {
        var app = AppFeature()
        _ = app.handle(.startHosting(Example.hostFeature()), now: .zero)
        return app
    }

    private func joining() -> AppFeature {
        var app = AppFeature()
        _ = app.handle(.startJoining(GuestFeature(local: santiago)), now: .zero)
        return app
    }

    @Test("phase 1: a host starts to advertise with its name")
    func hostAdvertises() async {
        let store = TestStore(AppFeature())
        await store.send(.startHosting(Example.hostFeature())) {
            $0 = .hosting(Example.hostFeature().state)
        }
    }

    @Test("phase 2: a guest starts to browse with its name")
    func guestBrowses() async {
        let store = TestStore(AppFeature())
        await store.send(.startJoining(GuestFeature(local: santiago))) {
            $0 = .joining(GuestFeature.State())
        }
    }

    @Test("phase 3: a discovered host is not joined yet, and one that is lost again leaves no trace")
    func discovery() async {
        let store = TestStore(joining())
        await store.send(.multipeerEvent(.peerDiscovered(dad)))
        await store.send(.multipeerEvent(.peerLost(dad)))
    }

    @Test("phases 4 and 5: a guest is admitted without a prompt: no step asks a person")
    func autoAccept() async {
        let store = TestStore(hosting())
        var expected = Example.hostFeature().snapshot
        expected.connectedPeers = [santiago]
        expected.revision = 2
        var state = Example.hostFeature().state
        state.connectedPeers = [santiago]
        state.revision = 2
        await store.send(
            .multipeerEvent(.peerConnected(santiago)),
            effects: [.clear(.networkUnavailable), .host(.broadcast(expected))]
        ) { [state] in $0 = .hosting(state) }
    }

    @Test("phase 6: both sides get the connection, the guest as connected to the host")
    func established() async {
        let store = TestStore(joining())
        await store.send(.multipeerEvent(.peerConnected(dad)), effects: [.clear(.networkUnavailable)]) { [dad] in
            var state = GuestFeature.State()
            state.host = dad
            state.known = GuestFeature.KnownHost(id: dad.id)
            state.connectionStatus = .connected
            $0 = .joining(state)
        }
    }

    @Test("phase 7: the host's snapshot replaces the guest's former state, and the guest can vote")
    func initialState() throws {
        var guest = GuestFeature(local: santiago)
        var host = Example.hostFeature()
        var feed = StateFeed(host.snapshot)
        _ = guest.handle(.multipeerEvent(.peerConnected(dad)))
        _ = host.handle(.multipeerEvent(.peerConnected(santiago)), now: .zero)
        _ = feed.handle(.stateChanged(host.snapshot))
        #expect(feed.handle(.guestConnected(santiago.id)) == [.send(.stateUpdate(host.snapshot), to: santiago.id)])
        #expect(guest.isStale)
        #expect(
            guest.handle(.multipeerEvent(.messageReceived(.stateUpdate(host.snapshot), from: dad))) == [
                .show(host.snapshot)
            ])
        #expect(!guest.isStale)
        #expect(guest.state.hostSnapshot?.connectedPeers == [santiago])
        #expect(guest.handle(.vote("s3")).contains(.send(.vote(songID: "s3"), to: dad.id)))
    }

    // MARK: Service configuration

    @Test("the service type is democracy-dj, and discovery contains the protocol's version, which is now 2")
    func service() {
        #expect(ServiceType.democracyDJ.text == "democracy-dj")
        #expect(ServiceType.democracyDJ.discoveryInfo == ["version": "2"])
    }

    @Test(
        "at most 15 characters, lowercase letters, digits and hyphens, a letter first: all else is refused",
        arguments: [
            ("sixteen-letters-", .tooLong(characters: 16)), ("Democracy-dj", .forbiddenCharacter("D")),
            ("democracy dj", .forbiddenCharacter(" ")), ("democracy_dj", .forbiddenCharacter("_")),
            ("1democracy", .firstNotLetter), ("-dj", .firstNotLetter), ("", .empty),
        ] as [(String, ServiceType.Problem)])
    func badServices(text: String, problem: ServiceType.Problem) {
        #expect(throws: problem) { try ServiceType(text) }
    }

    @Test("names at the limits are accepted", arguments: ["a", "fifteen-letters", "d1-2-3"])
    func goodServices(text: String) throws {
        #expect(try ServiceType(text).text == text)
    }
}
