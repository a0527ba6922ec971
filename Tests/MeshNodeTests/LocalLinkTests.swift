// SPDX-License-Identifier: Apache-2.0

import Bearers
import DemocracyDJ
import MeshProtocol
import TestSupport
import Testing

@Suite("Links within the node's own process", .timeLimit(.minutes(5)))
struct LocalLinkTests {
    private static let ana = Peer(id: String(repeating: "a1", count: 16), name: "Ana")
    private let air: VirtualAir

    init() throws { air = try VirtualAir(directory: newFolder()) }

    private func vote(_ songID: Song.ID) -> MeshMessage { .intent(.vote(songID: songID)) }

    @Test("a guest is shown, its votes count, are acknowledged and stored, and a guest on the air sees both")
    func voting() async throws {
        let car = TestNode("Dad's Car", air)
        let host = try car.host()
        let guest = try TestNode("Bob", air).guest()
        let link = try await host.node.join(Self.ana)
        let told = EventQueue(link.events)
        await host.node.say(vote("s4"), number: 7, on: link.id)
        #expect(try await told.first { if case .acknowledged(let number) = $0 { number } else { nil } } == 7)
        let seen = try await guest.snapshot { $0.item("s4")?.voters == [Self.ana.id] }
        #expect(seen.connectedPeers.contains(Self.ana))
        await host.node.leave(link.id, .goodbye())
        _ = try await guest.snapshot { !$0.connectedPeers.contains(Self.ana) && $0.item("s4")?.votes == 1 }
        try await host.stop(.quit(.terminated))
        let again = try car.host()
        #expect(try await again.snapshot().item("s4")?.voters == [Self.ana.id])
        try await again.stop()
        try await guest.stop()
        await #expect(throws: RefusalReason.ended) { try await again.node.join(Self.ana) }
    }

    @Test("a kicked guest is notified, and not admitted again")
    func kicked() async throws {
        let host = try TestNode("Dad's Car", air).host()
        let link = try await host.node.join(Self.ana)
        await host.node.send(.host(.kick("Ana")))
        let end = try await EventQueue(link.events).first { if case .ended(let end) = $0 { end } else { nil } }
        #expect(end == .refused(.banned))
        await #expect(throws: RefusalReason.banned) { try await host.node.join(Self.ana) }
        try await host.stop()
    }

    @Test("votes wait while the disk fails, and count when it works")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(bytes: 2 << 20) else { return print("No disk can be mounted here.") }
        defer { disk.remove() }
        let host = try TestNode("Dad's Car", air, folder: disk.folder + "/state").host()
        let link = try await host.node.join(Self.ana)
        _ = try await host.snapshot { $0.connectedPeers == [Self.ana] }
        disk.fill()
        await host.node.say(vote("s4"), number: 1, on: link.id)
        _ = try await host.notice("storageFull")
        disk.makeRoom()
        _ = try await host.snapshot { $0.item("s4")?.votes == 1 }
        try await host.stop()
    }
}
