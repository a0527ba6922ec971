// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Logging
import MeshProtocol
import NodeStore
import TestSupport
import Testing

@testable import Bearers
@testable import MeshNode
@testable import NodeCore

/// A node with its folder, which a test can start several times.
struct TestNode {
    let name: String
    let air: VirtualAir
    let folder: String

    init(_ name: String, _ air: VirtualAir, folder: String? = nil) {
        self.name = name
        self.air = air
        self.folder = folder ?? newFolder()
    }

    /// One run of a node.
    struct Run {
        let node: Node
        let events: EventQueue<NodeEvent>
        let end: Task<Void, any Error>

        /// Says goodbye, and returns when everything of the node has ended.
        func stop(_ input: NodeInput = .quit(.quit)) async throws {
            await node.send(input)
            try await end.value
        }

        func snapshot(where fits: @escaping @Sendable (HostSnapshot) -> Bool = { _ in true }) async throws
            -> HostSnapshot
        {
            try await events.first { event in
                if case .snapshot(let snapshot, isStale: false) = event, fits(snapshot) { snapshot } else { nil }
            }
        }

        func notice(_ code: String) async throws -> Notice {
            try await events.first { if case .notice(let notice) = $0, notice.code == code { notice } else { nil } }
        }

        func cleared(_ code: String) async throws {
            try await events.first { if case .noticeCleared(code) = $0 { () } else { nil } }
        }

        func wish(_ songID: Song.ID, _ kind: Wish.Kind, _ state: WishState) async throws {
            try await events.first { if case .wish(songID, kind, state) = $0 { () } else { nil } }
        }
    }

    func host(songs: [Song] = TestNode.songs) throws -> Run {
        try run(.host(Hosting(SongLibrary(songs), wallClockSeconds: 1_000)), .host)
    }

    func guest() throws -> Run { try run(.guest(wanted: nil), .guest) }

    private func run(_ part: NodeCore.Part, _ role: NodeDescription.Role) throws -> Run {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let opened = try StateFolder(opening: folder)
        let kept = try OpenedState(opened, idleTime: nil, logger: logger)
        // A new address each time, as phones have them: an identity does not depend on it.
        let radio = try VirtualBearer(air: air, address: "a\(UInt32.random(in: 0 ... .max))")
        let peer = Peer(id: opened.identity.peerID, name: name)
        let description = NodeDescription(role: role, peer: peer, radio: radio.name, service: .democracyDJ)
        let node = Node(
            part, description, identity: opened.identity, radio: radio, store: kept.store, contents: kept.contents,
            logger: logger)
        let events = EventQueue(node.output)
        let end = Task {
            try await node.run()
            // The lock of the folder is released with it.
            withExtendedLifetime(kept) {}
        }
        return Run(node: node, events: events, end: end)
    }

    static let songs = (1...5).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 3_600) }
}

@Suite("A node with its store", .timeLimit(.minutes(5)))
struct NodeTests {
    let air: VirtualAir

    init() throws { air = try VirtualAir(directory: newFolder()) }

    private static func has(_ count: Int, _ songID: Song.ID) -> @Sendable (HostSnapshot) -> Bool {
        { $0.item(songID)?.votes == count }
    }

    @Test("a running node answers, and an ended one does not", .timeLimit(.minutes(5)))
    func answers() async throws {
        let host = try TestNode("Dad's Car", VirtualAir(directory: newFolder())).host()
        #expect(await host.node.answers())
        try await host.stop()
        #expect(await !host.node.answers())
    }

    @Test("a stopped host continues its session, and an ended session does not continue")
    func restart() async throws {
        let car = TestNode("Dad's Car", air)
        var host = try car.host()
        let guest = try TestNode("Ana", air).guest()
        await host.node.send(.host(.skip))
        await guest.node.send(.guest(.vote("s4")))
        let before = try await host.snapshot(where: Self.has(1, "s4"))
        try await host.stop(.quit(.terminated))
        _ = try await guest.notice("hostStopped")

        host = try car.host()
        let after = try await host.snapshot()
        #expect(after.queue == before.queue && after.nowPlaying == before.nowPlaying)
        #expect(after.epoch > before.epoch)
        _ = try await guest.snapshot { $0.epoch == after.epoch }
        await host.node.send(.end)
        _ = try await guest.notice("hostEnded")
        let next = try await host.snapshot { $0.epoch > after.epoch }
        _ = try await guest.snapshot { $0.epoch == next.epoch }
        #expect(next.nowPlaying?.id == "s1" && next.queue.allSatisfy { $0.votes == 0 })
        try await host.stop(.quit(.terminated))
        host = try car.host()
        #expect(try await host.snapshot().queue == next.queue)
        try await host.stop()
        try await guest.stop()
    }

    @Test("each step of a dead zone is reported in order with its time, and with the radio's activity")
    func contacts() async throws {
        let host = try TestNode("Dad's Car", air).host()
        let guest = try TestNode("Ana", air).guest()
        func step(_ phase: Encounter.Phase) async throws -> Encounter {
            try await guest.events.first { event in
                if case .contact(let contact) = event, contact.phase == phase { contact } else { nil }
            }
        }
        func radio(_ fits: @escaping @Sendable (RadioActivity) -> Bool) async throws {
            try await guest.events.first { if case .radio(let activity) = $0, fits(activity) { () } else { nil } }
        }
        let heard = try await step(.heard)
        #expect(heard.evidence == .sighting)
        _ = try await step(.resumed)
        try await radio { $0.links == 1 && !$0.isDialling && !$0.isScanning }
        try air.cut()
        let lost = try await step(.lost)
        #expect(lost.silence == Limits.supervisionTimeout)
        try await radio { $0.links == 0 && $0.isDialling }
        air.heal()
        let dialled = try await step(.dialled)
        let resumed = try await step(.resumed)
        #expect(lost.at < dialled.at && dialled.at < resumed.at)
        try await guest.stop()
        try await host.stop()
    }

    @Test("votes that were cast without a host survive a restart of the guest, and count when a host is there")
    func votesBeforeTheHost() async throws {
        let ana = TestNode("Ana", air)
        var guest = try ana.guest()
        await guest.node.send(.guest(.vote("s3")))
        try await guest.wish("s3", .vote, .queued)
        try await guest.stop()
        guest = try ana.guest()
        try await guest.wish("s3", .vote, .queued)
        let host = try TestNode("Dad's Car", air).host()
        try await guest.wish("s3", .vote, .confirmed)
        _ = try await host.snapshot(where: Self.has(1, "s3"))
        try await guest.stop()
        try await host.stop()
    }

    @Test("a host with a full disk plays on and reports it; votes wait unacknowledged, and count once there is room")
    func fullDiskOfAHost() async throws {
        guard let disk = try SmallDisk(bytes: 2 << 20) else { return print("No disk can be mounted here.") }
        defer { disk.remove() }
        let host = try TestNode("Dad's Car", air, folder: disk.folder + "/state").host()
        let guest = try TestNode("Ana", air).guest()
        await guest.node.send(.guest(.vote("s2")))
        try await guest.wish("s2", .vote, .confirmed)
        disk.fill()
        await guest.node.send(.guest(.vote("s4")))
        #expect(try await host.notice("storageFull").critical)
        // The music continues, and guests see it. The vote is not shown.
        await host.node.send(.host(.skip))
        let playing = try await guest.snapshot { $0.nowPlaying?.id == "s2" }
        #expect(playing.item("s4")?.votes == 0)
        disk.makeRoom()
        try await host.cleared("storageFull")
        #expect(try await guest.snapshot(where: Self.has(1, "s4")).nowPlaying?.id == "s2")
        try await guest.wish("s4", .vote, .confirmed)
        try await guest.stop()
        try await host.stop()
    }

    @Test("a guest with a full disk refuses a vote instead of accepting one that it could forget")
    func fullDiskOfAGuest() async throws {
        guard let disk = try SmallDisk(bytes: 2 << 20) else { return print("No disk can be mounted here.") }
        defer { disk.remove() }
        let host = try TestNode("Dad's Car", air).host()
        let guest = try TestNode("Ana", air, folder: disk.folder + "/state").guest()
        _ = try await guest.snapshot()
        disk.fill()
        await guest.node.send(.guest(.vote("s2")))
        _ = try await guest.notice("storageFull")
        disk.makeRoom()
        try await guest.cleared("storageFull")
        await guest.node.send(.guest(.vote("s4")))
        try await guest.wish("s4", .vote, .confirmed)
        let last = try await host.snapshot(where: Self.has(1, "s4"))
        #expect(last.item("s2")?.votes == 0, "it was refused, and is not cast later either")
        try await guest.stop()
        try await host.stop()
    }

    @Test("a vote that was stored before the disk was full is sent to a later host only when there is room")
    func fullDiskWhenTheHostComes() async throws {
        guard let disk = try SmallDisk(bytes: 2 << 20) else { return print("No disk can be mounted here.") }
        defer { disk.remove() }
        let guest = try TestNode("Ana", air, folder: disk.folder + "/state").guest()
        await guest.node.send(.guest(.vote("s4")))
        try await guest.wish("s4", .vote, .queued)
        disk.fill()
        let host = try TestNode("Dad's Car", air).host()
        _ = try await guest.notice("storageFull")
        #expect(try await guest.snapshot().item("s4")?.votes == 0)
        disk.makeRoom()
        try await guest.cleared("storageFull")
        try await guest.wish("s4", .vote, .confirmed)
        try await guest.stop()
        try await host.stop()
    }

    @Test("a node with a damaged database reports where it is now, and starts")
    func damage() async throws {
        let car = TestNode("Dad's Car", air)
        try await car.host().stop()
        let database = car.folder + "/" + NodeStore.fileName
        try Data("this is no database, whatever it was before".utf8).write(to: URL(filePath: database))
        let host = try car.host()
        let notice = try await host.notice("storageDamaged")
        #expect(notice.message.contains(car.folder) || notice.suggestion?.contains(car.folder) == true)
        #expect(try await host.snapshot().nowPlaying?.id == "s1")
        try await host.stop()
    }

    @Test("a guest with a new radio address is the same guest, with its vote")
    func otherAddress() async throws {
        let host = try TestNode("Dad's Car", air).host()
        let ana = TestNode("Ana", air)
        var guest = try ana.guest()
        await guest.node.send(.guest(.vote("s3")))
        let first = try await host.snapshot(where: Self.has(1, "s3")).connectedPeers
        try await guest.stop()
        _ = try await host.snapshot { $0.connectedPeers.isEmpty }
        guest = try ana.guest()
        let again = try await host.snapshot { !$0.connectedPeers.isEmpty }
        #expect(again.connectedPeers == first && again.item("s3")?.voters == first.map(\.id))
        await guest.node.send(.guest(.vote("s3")))
        await guest.node.send(.guest(.vote("s4")))
        #expect(try await host.snapshot(where: Self.has(1, "s4")).item("s3")?.votes == 1)
        try await guest.stop()
        try await host.stop()
    }

    @Test("two guests with one name are two guests")
    func sameName() async throws {
        let host = try TestNode("Dad's Car", air).host()
        let guests = [try TestNode("Ana", air).guest(), try TestNode("Ana", air).guest()]
        for guest in guests { await guest.node.send(.guest(.vote("s3"))) }
        let both = try await host.snapshot(where: Self.has(2, "s3"))
        #expect(both.connectedPeers.map(\.name) == ["Ana", "Ana"])
        for guest in guests { try await guest.stop() }
        try await host.stop()
    }
}
