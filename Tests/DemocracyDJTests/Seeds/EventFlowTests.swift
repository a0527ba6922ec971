// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

@Suite("Event flow from the network to the features")
struct EventFlowTests {
    private let bob = Peer(id: "test", name: "Bob")

    @Test("the document's line is a test, without a radio: missing assertions are an issue")
    func snippet() async {
        let store = TestStore(Example.hostFeature())
        await withKnownIssue("the change and the effect are not told beforehand") {
            await store.send(.multipeerEvent(.peerConnected(Peer(id: "test", name: "Bob"))))
        } matching: { issue in
            let text = issue.comments.map(\.rawValue).joined()
            return text.contains("connectedPeers") || text.contains("broadcast")
        }
    }

    @Test("the document's line with its results passes")
    func snippetAsserted() async {
        let store = TestStore(Example.hostFeature())
        var expected = Example.hostFeature().snapshot
        expected.connectedPeers = [bob]
        expected.revision = 2
        await store.send(
            .multipeerEvent(.peerConnected(Peer(id: "test", name: "Bob"))), effects: [.broadcast(expected)]
        ) {
            $0.connectedPeers = [Peer(id: "test", name: "Bob")]
            $0.revision = 2
        }
    }

    // MARK: The table, row by row

    @Test("foundPeer becomes .peerDiscovered: a guest sees the host, and its own state stays")
    func peerDiscovered() async {
        let store = TestStore(GuestFeature(local: Example.ana))
        await store.send(.multipeerEvent(.peerDiscovered(Example.host)))
    }

    @Test("didChangeState:.connected becomes .peerConnected: a guest has its host")
    func peerConnected() async {
        let store = TestStore(GuestFeature(local: Example.ana))
        await store.send(.multipeerEvent(.peerConnected(Example.host))) {
            $0.host = Example.host
            $0.known = GuestFeature.KnownHost(id: Example.host.id)
            $0.connectionStatus = .connected
        }
    }

    @Test("didChangeState:.notConnected becomes .peerDisconnected: a host has one guest less")
    func peerDisconnected() async {
        var host = Example.hostFeature()
        _ = host.handle(.multipeerEvent(.peerConnected(bob)), now: .zero)
        var expected = host.snapshot
        expected.connectedPeers = []
        expected.revision = 3
        let store = TestStore(host)
        await store.send(.multipeerEvent(.peerDisconnected(bob)), effects: [.broadcast(expected)]) {
            $0.connectedPeers = []
            $0.revision = 3
        }
    }

    @Test("didReceiveData becomes .messageReceived with a message and its sender, never bytes")
    func messageReceived() async throws {
        let bytes = MeshMessage.intent(.vote(songID: "s1")).encoded
        let message = try #require(MeshMessage(encoded: bytes))
        var expected = Example.hostFeature().snapshot
        expected.nowPlaying?.voters = [bob.id]
        expected.revision = 2
        let store = TestStore(Example.hostFeature())
        await store.send(
            .multipeerEvent(.messageReceived(message, from: bob)),
            effects: [.report(.vote(songID: "s1"), from: bob, rejected: nil), .broadcast(expected)]
        ) {
            $0.nowPlaying?.voters = ["test"]
            $0.revision = 2
        }
    }

    @Test("a message is a host's snapshot or a guest's intent, and each reaches the other side's feature")
    func bothKinds() async throws {
        let snapshot = Example.snapshot(1)
        let bytes = MeshMessage.stateUpdate(snapshot).encoded
        let message = try #require(MeshMessage(encoded: bytes))
        var guest = GuestFeature(local: Example.ana)
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        let store = TestStore(guest)
        await store.send(.multipeerEvent(.messageReceived(message, from: Example.host)), effects: [.show(snapshot)]) {
            $0.hostSnapshot = snapshot
            $0.isCurrent = true
            $0.known?.epoch = 1
        }
    }

    @Test("a peer is text: it can be stored, compared over sessions, and read back")
    func peerIsText() throws {
        var change = try #require(HostChange(from: Example.snapshot(1), to: joined))
        change.revision = joined.revision
        let message = try #require(MeshMessage(encoded: MeshMessage.stateChange(change).encoded))
        guard case .stateChange(let arrived) = message else {
            Issue.record("no change")
            return
        }
        #expect(Example.snapshot(1).applying(arrived)?.connectedPeers == [bob])
        #expect(bob.displayName == "Bob")
    }

    private var joined: HostSnapshot {
        var snapshot = Example.snapshot(2)
        snapshot.connectedPeers = [bob]
        return snapshot
    }
}
