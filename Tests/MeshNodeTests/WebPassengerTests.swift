// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshNode
import MeshProtocol
import TestSupport
import Testing

@Suite("Passengers without a radio, at a node that hosts", .timeLimit(.minutes(1)))
struct WebPassengerTests {
    private static let ana = Peer(id: String(repeating: "a1", count: 16), name: "Ana")
    private let air: VirtualAir

    init() throws { air = try VirtualAir(directory: newFolder()) }

    private func says(_ intent: GuestIntent) -> NodeInput { .web(.messageReceived(.intent(intent), from: Self.ana)) }

    @Test("they are seen, their votes count and are kept, and a guest on the air sees both")
    func voting() async throws {
        let car = TestNode("Dad's Car", air)
        let host = try car.host()
        let guest = try TestNode("Bob", air).guest()
        await host.node.send(.web(.peerConnected(Self.ana)))
        await host.node.send(says(.vote(songID: "s4")))
        let seen = try await guest.snapshot { $0.item("s4")?.voters == [Self.ana.id] }
        #expect(seen.connectedPeers.contains(Self.ana))
        await host.node.send(.web(.peerDisconnected(Self.ana, reason: .goodbye)))
        _ = try await guest.snapshot { !$0.connectedPeers.contains(Self.ana) && $0.item("s4")?.votes == 1 }
        try await host.stop(.quit(.terminated))
        let again = try car.host()
        #expect(try await again.snapshot().item("s4")?.voters == [Self.ana.id])
        try await again.stop()
        try await guest.stop()
    }

    @Test("what cannot be is answered, and what comes from nobody is not heard")
    func rejected() async throws {
        let host = try TestNode("Dad's Car", air).host()
        await host.node.send(says(.vote(songID: "s4")))
        await host.node.send(.web(.peerConnected(Self.ana)))
        await host.node.send(says(.vote(songID: "nothing")))
        let told = try await host.events.first { event -> RejectionReason?? in
            if case .intent(.vote(songID: "nothing"), from: Self.ana, let reason) = event { .some(reason) } else { nil }
        }
        #expect(told == .unknownSong)
        await host.node.send(says(.vote(songID: "s3")))
        let snapshot = try await host.snapshot { $0.item("s3")?.votes == 1 }
        #expect(snapshot.item("s4")?.votes == 0, "that one came from nobody who was there")
        try await host.stop()
    }

    @Test("whoever is kicked is told so, and its votes are not heard any more")
    func kicked() async throws {
        let host = try TestNode("Dad's Car", air).host()
        await host.node.send(.web(.peerConnected(Self.ana)))
        await host.node.send(.host(.kick("Ana")))
        let gone = try await host.events.first { if case .sentAway(let peer) = $0 { peer } else { nil } }
        #expect(gone == Self.ana.id)
        await host.node.send(.web(.peerDisconnected(Self.ana, reason: .refused)))
        await host.node.send(.web(.peerConnected(Self.ana)))
        let again = try await host.events.first { if case .sentAway(let peer) = $0 { peer } else { nil } }
        #expect(again == Self.ana.id)
        await host.node.send(says(.vote(songID: "s4")))
        await host.node.send(.host(.skip))
        let snapshot = try await host.snapshot { $0.nowPlaying?.id == "s2" }
        #expect(snapshot.item("s4")?.votes == 0)
        try await host.stop()
    }

    @Test("votes wait while the disk takes nothing, and count when it does")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(bytes: 2 << 20) else { return print("No disk can be mounted here.") }
        defer { disk.remove() }
        let host = try TestNode("Dad's Car", air, folder: disk.folder + "/state").host()
        await host.node.send(.web(.peerConnected(Self.ana)))
        _ = try await host.snapshot { $0.connectedPeers == [Self.ana] }
        disk.fill()
        await host.node.send(says(.vote(songID: "s4")))
        _ = try await host.notice("storageFull")
        disk.makeRoom()
        _ = try await host.snapshot { $0.item("s4")?.votes == 1 }
        try await host.stop()
    }
}

@Suite("A node whose player says what is heard", .timeLimit(.minutes(1)))
struct PlaybackTests {
    @Test("each new song, pause and next song is told, and a song that fails is told to a guest who voted for it")
    func playback() async throws {
        let air = try VirtualAir(directory: newFolder())
        let host = try TestNode("Dad's Car", air).host()
        func heard(where isIt: @escaping @Sendable (Playback) -> Bool) async throws -> Playback {
            try await host.events.first { if case .playback(let heard) = $0, isIt(heard) { heard } else { nil } }
        }
        let first = try await heard { _ in true }
        #expect(first.song?.id == "s1" && first.next?.id == "s2" && first.isPlaying)
        await host.node.send(.host(.pause))
        #expect(try await heard { !$0.isPlaying }.song?.id == "s1")

        let guest = try TestNode("Bob", air).guest()
        await guest.node.send(.guest(.vote("s4")))
        #expect(try await heard { $0.next?.id == "s4" }.song?.id == "s1")
        await host.node.send(.host(.skip))
        let turn = try await heard { $0.song?.id == "s4" }.turn
        await host.node.send(.player(.failed("s4")))
        #expect(try await heard { $0.turn > turn }.song?.id == "s2")
        _ = try await guest.notice("cannotBePlayed")
        try await host.stop()
        try await guest.stop()
    }
}
