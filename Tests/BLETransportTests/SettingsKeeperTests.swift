// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import BLETransport
@testable import Bearers

/// The kernel's settings, a node's record of them, and nodes that start and end.
private struct Box {
    static let kernel = AdapterSettings(
        advertisingMin: 2048, advertisingMax: 2048, connectionMin: 24, connectionMax: 40, supervisionTimeout: 42)

    let folder: String
    var adapter = kernel
    var sets = 0

    init() {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Starts a node.
    mutating func start(_ choice: AdapterSettingsChoice = .set) throws -> SettingsRecord {
        let record = try #require(SettingsRecord(folder: folder, address: "00:11:22:AA:BB:CC"))
        try use(record, choice: choice)
        return record
    }

    mutating func use(
        _ record: SettingsRecord, pace: AdvertisingPace = .fast, choice: AdapterSettingsChoice = .set
    ) throws {
        let keeper = SettingsKeeper(choice)
        try holding(record) { keeper.use($0, pace: pace) }
    }

    /// Ends a node regularly. A node that is dropped without this has crashed.
    mutating func end(_ record: consuming SettingsRecord, choice: AdapterSettingsChoice = .set) throws {
        let keeper = SettingsKeeper(choice)
        try holding(record) { keeper.leave($0) }
    }

    private mutating func holding(
        _ record: SettingsRecord, _ decide: (SettingsKeeper.Found) -> [SettingsKeeper.Action]
    ) throws {
        let (before, former) = (adapter, record.former)
        guard let isAlone = record.lock() else {
            Issue.record("another node is starting or ending")
            return
        }
        let actions = decide(SettingsKeeper.Found(current: before, recorded: former, isAlone: isAlone))
        #expect(record.share())
        for action in actions {
            switch action {
            case .record(let settings): #expect(record.record(settings))
            case .set(let settings): (adapter, sets) = (settings, sets + 1)
            case .eraseRecord: record.erase()
            }
        }
    }
}

@Suite("An adapter is fast while a node uses it, and has its old settings afterwards")
struct SettingsKeeperTests {
    private var box = Box()

    @Test("at its end a node restores the former settings, and leaves no record")
    mutating func backAtTheEnd() throws {
        defer { box.remove() }
        let node = try box.start()
        #expect(box.adapter == .ofNode(.fast) && node.former == Box.kernel)
        try box.use(node, pace: .slow)
        #expect(box.adapter == .ofNode(.slow) && node.former == Box.kernel)
        try box.end(node)
        #expect(box.adapter == Box.kernel)
        let later = try #require(SettingsRecord(folder: box.folder, address: "00:11:22:aa:bb:cc"))
        #expect(later.former == nil)
    }

    @Test(
        "after a crash, the next node restores the former values: at its end, or at once if it must not set any"
    )
    mutating func afterACrash() throws {
        defer { box.remove() }
        for (choice, meanwhile) in [(AdapterSettingsChoice.set, AdapterSettings.ofNode(.fast)), (.leave, Box.kernel)] {
            _ = try box.start()
            #expect(box.adapter == .ofNode(.fast))
            let next = try box.start(choice)
            #expect(box.adapter == meanwhile)
            try box.end(next, choice: choice)
            #expect(box.adapter == Box.kernel)
        }
    }

    @Test("of two nodes on one adapter, the last one to end restores the values")
    mutating func twoNodes() throws {
        defer { box.remove() }
        for firstEndsFirst in [true, false] {
            let (one, other) = (try box.start(), try box.start())
            try box.end(firstEndsFirst ? one : other)
            #expect(box.adapter == .ofNode(.fast))
            // The ended node no longer holds the lock.
            flock(firstEndsFirst ? one.descriptor : other.descriptor, LOCK_UN)
            try box.end(firstEndsFirst ? other : one)
            #expect(box.adapter == Box.kernel)
        }
    }

    @Test("values that another program sets meanwhile are restored")
    mutating func somebodyElse() throws {
        defer { box.remove() }
        var other = Box.kernel
        other.advertisingMin = 100
        other.advertisingMax = 200
        let node = try box.start()
        box.adapter = other
        try box.use(node)
        #expect(box.adapter == .ofNode(.fast))
        try box.end(node)
        #expect(box.adapter == other)
        // The values that are set last stay.
        let next = try box.start()
        box.adapter = Box.kernel
        try box.end(next)
        #expect(box.adapter == Box.kernel)
    }

    @Test("values are not set twice, and not at all if the choice is to leave them")
    mutating func notTwice() throws {
        defer { box.remove() }
        let node = try box.start(.leave)
        try box.use(node, choice: .leave)
        #expect(box.adapter == Box.kernel && box.sets == 0)
        try box.end(node, choice: .leave)
        let next = try box.start()
        try box.use(next)
        try box.use(next)
        #expect(box.sets == 1)
    }

    @Test("an invalid record is ignored")
    func nonsense() throws {
        defer { box.remove() }
        let record = try #require(SettingsRecord(folder: box.folder, address: "1"))
        for settings in [
            AdapterSettings(
                advertisingMin: 1, advertisingMax: 0, connectionMin: 6, connectionMax: 6, supervisionTimeout: 42),
            AdapterSettings(
                advertisingMin: 32, advertisingMax: 48, connectionMin: 40, connectionMax: 24, supervisionTimeout: 42),
        ] {
            #expect(record.record(settings))
            #expect(record.former == nil)
        }
        try Data("{\"adver".utf8).write(to: URL(filePath: box.folder + "/adapter-1"))
        #expect(record.former == nil)
        #expect(SettingsRecord(folder: "/proc/nowhere", address: "1") == nil)
    }
}
