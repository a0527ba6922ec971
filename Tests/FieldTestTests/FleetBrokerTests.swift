// SPDX-License-Identifier: Apache-2.0

import BrokerBearer
import FoundationEssentials
import Logging
import MeshProtocol
import TestSupport
import Testing

@testable import FieldTest
@testable import NodeCore
@testable import NodeStore

@Suite("Drives of a fleet through a real broker")
struct FleetBrokerTests {
    /// A car's folder with an unfinished drive. The test writes the drive's rows.
    private struct Car {
        let folder = newFolder()
        let peer = Peer(id: "ffee00112233445566778899aabbccdd", name: "Ana")
        let store: DriveStore
        let number: Int64
        let sink: AsyncStream<DriveUplink.Progress>.Continuation
        let uplink: DriveUplink
        private(set) var rows: [String] = []

        init(_ broker: BrokerAddress) async throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            store = try DriveStore.record(in: folder, now: Date(timeIntervalSince1970: 1_000))
            // An interrupted drive of an earlier run.
            let former = try store.begin(header: JSONLine.text(Drives.header("Former")), sharing: .shared)
            try await store.append((0..<40).map(Self.row), to: former)
            // A drive that must not be shared.
            let own = try store.begin(header: JSONLine.text(Drives.header("Own")))
            try await store.append([Self.row(1)], to: own)
            number = try store.begin(header: JSONLine.text(Drives.header("Now")), sharing: .shared)
            let (progress, sink) = AsyncStream.makeStream(of: DriveUplink.Progress.self)
            self.sink = sink
            uplink = DriveUplink(
                progress, of: number, in: folder, peer: peer, broker: broker, files: BrokerFiles(),
                logger: Logger(label: "test")
            ) { _ in }
        }

        private static func row(_ at: Int) -> String { JSONLine.text(DriveRow(at: .seconds(at), .mark("row"))) }

        mutating func record(_ count: Int, isOver: Bool = false) async throws {
            var lines = (0..<count).map { Self.row(rows.count + $0) }
            if isOver { lines.append(JSONLine.text(DriveRow(at: .seconds(rows.count + count), .end("quit")))) }
            try await store.append(lines, to: number, isEnd: isOver)
            rows += lines
            sink.yield(DriveUplink.Progress(number: number, rows: rows.count, isOver: isOver))
        }
    }

    /// A running collector, and its events.
    private struct Collector {
        let news: EventQueue<DriveCollector.News>
        let running: Task<Void, Never>

        init(_ folder: String, _ broker: BrokerAddress) throws {
            let (stream, sink) = AsyncStream.makeStream(of: DriveCollector.News.self)
            let store = try DriveStore.record(in: folder, now: Date(timeIntervalSince1970: 1_000))
            let collector = try DriveCollector(into: store, broker: broker, files: BrokerFiles()) { sink.yield($0) }
            news = EventQueue(stream, patience: .seconds(240))
            running = Task { await collector.run() }
        }

        func end() async {
            running.cancel()
            await running.value
        }

        func until(_ fits: @escaping @Sendable (CollectMachine.News) -> Bool) async throws {
            try await news.first { event in
                if case .drive(let told) = event, fits(told) { () } else { nil }
            }
        }
    }

    @Test(
        "if the broker is killed and the collector restarts, every row is still stored exactly once",
        .timeLimit(.minutes(10)))
    func restarts() async throws {
        let port = LocalBroker.freePort()
        var broker = LocalBroker(port: port)
        let address = try BrokerAddress("mqtt://127.0.0.1:\(port)/fleet")
        let folder = newFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var car = try await Car(address)
        let sending = Task { [car] in await car.uplink.run() }
        var collector = try Collector(folder, address)
        try await collector.until { if case .complete(let drive) = $0 { drive.header.name == "Former" } else { false } }
        try await car.record(300)
        // Some rows are stored, and more are in transit.
        let reader = try #require(try DriveStore.read(in: folder))
        while try reader.drives().first(where: { $0.header.contains("Now") })?.lines ?? 0 < 50 {
            // Single rows cause no events. The pause leaves the processor to other tests.
            try await Task.sleep(for: .milliseconds(50))
        }
        broker.kill()
        try await car.record(200)
        await collector.end()
        broker = LocalBroker(port: port)
        collector = try Collector(folder, address)
        try await car.record(100, isOver: true)
        try await collector.until { if case .complete(let drive) = $0 { drive.header.name == "Now" } else { false } }
        car.sink.finish()
        await sending.value
        await collector.end()
        broker.kill()

        let collected = try #require(try DriveStore.read(in: folder))
        let drives = try collected.drives()
        let names = try drives.map { try Drive(lines: [$0.header]).header.name }
        #expect(names.sorted() == ["Former", "Now"])
        let now = try #require(drives.first { $0.header.contains("Now") })
        #expect(try collected.lines(of: now.number) == car.rows && now.isEnded)
        let former = try #require(drives.first { $0.header.contains("Former") })
        #expect(former.lines == 40 && !former.isEnded && former.sharing == .none)
        #expect(try car.store.drives().map(\.sharing) == [.collected, .none, .collected])
        for folder in [folder, car.folder] { try? FileManager.default.removeItem(atPath: folder) }
    }
}
