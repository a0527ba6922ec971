// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import MeshProtocol
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("Recorded drives")
    struct DriveStoreTests {
        @Test("a drive is read as it was written, during the recording and afterwards")
        func written() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            #expect(try DriveStore.read(in: shelf.folder) == nil)
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            let drive = try store.begin(header: "header")
            try await store.append(["one", "two"], to: drive)
            let reader = try #require(try DriveStore.read(in: shelf.folder))
            #expect(reader.isRecording)
            #expect(
                try reader.drives() == [
                    StoredDrive(number: drive, header: "header", isEnded: false, lines: 2, lastLine: "two")
                ])
            try await store.append(["three"], to: drive, isEnd: true)
            #expect(try reader.lines(of: drive) == ["one", "two", "three"])
            #expect(try reader.drives().first?.isEnded == true)
        }

        @Test("the sharing of a drive is stored, and any part of its lines can be read")
        func shared() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            let drives = [try store.begin(header: "own"), try store.begin(header: "shared", sharing: .shared)]
            for drive in drives { try await store.append((0..<5).map { "\($0) of \(drive)" }, to: drive) }
            #expect(try store.drives().map(\.sharing) == [.none, .shared])
            #expect(try store.lines(of: drives[1], from: 2, atMost: 2) == ["2 of 2", "3 of 2"])
            #expect(try store.lines(of: drives[1], from: 5, atMost: 2).isEmpty)
            // Another user of the same database, such as a car's uplink.
            let other = try #require(try DriveStore.read(in: shelf.folder))
            try other.mark(drives[1], .collected)
            #expect(try store.drives().map(\.sharing) == [.none, .collected])
            #expect(try store.bytes > 0)
        }

        @Test("drives of a version without sharing are not shared")
        func older() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            do {
                let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
                try await store.database.write { db in
                    try db.execute(sql: "ALTER TABLE drive DROP COLUMN sharing")
                    try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier LIKE '2:%'")
                    try db.execute(sql: "INSERT INTO drive (header, isEnded) VALUES ('old', 1)")
                }
                store.close()
            }
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            #expect(store.setAside == nil)
            #expect(try store.drives().map(\.sharing) == [.none])
        }

        @Test("two processes cannot record in one folder")
        func locked() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            #expect(throws: NodeStoreError.self) { try DriveStore.record(in: shelf.folder, now: Shelf.now) }
            withExtendedLifetime(store) {}
        }

        @Test("a folder with closed drives is free at once, even while another object still refers to them")
        func unlocked() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            store.close()
            #expect(throws: Never.self) { try DriveStore.record(in: shelf.folder, now: Shelf.now) }
            withExtendedLifetime(store) {}
        }

        @Test("a deleted drive is gone with its lines, and its number is not used again")
        func forgotten() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            let drive = try store.begin(header: "header")
            try await store.append(["one"], to: drive, isEnd: true)
            #expect(try store.remove(drive))
            #expect(try store.remove(drive) == false)
            #expect(try store.lines(of: drive).isEmpty)
            #expect(try store.begin(header: "next") > drive)
        }

        @Test("a damaged database of drives is set aside, and the recording continues in a new one")
        func damaged() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let path = shelf.folder + "/fieldtest.sqlite"
            try Data(repeating: 7, count: 9_000).write(to: URL(filePath: path))
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            _ = try store.begin(header: "header")
            let names = try FileManager.default.contentsOfDirectory(atPath: shelf.folder)
            #expect(names.contains { $0.hasPrefix("fieldtest.damaged-") })
        }

        @Test("a refused lock closes no files of its holder")
        func refusedLock() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let path = shelf.folder + "/some.lock"
            let held = try FileLock(path)
            await withTaskGroup(of: Int.self) { group in
                group.addTask {
                    for _ in 0..<20_000 { _ = try? FileLock(path) }
                    return 0
                }
                group.addTask {
                    (0..<20_000).count { _ in
                        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                        return close(descriptor) != 0
                    }
                }
                for await closedByOthers in group { #expect(closedByOthers == 0) }
            }
            withExtendedLifetime(held) {}
        }

        @Test("a deleted drive releases its space")
        func room() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
            let drive = try store.begin(header: "long")
            let line = String(repeating: "x", count: 1_000)
            try await store.append(Array(repeating: line, count: 2_000), to: drive, isEnd: true)
            func size() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: shelf.folder).reduce(0) { sum, name in
                    let attributes = try FileManager.default.attributesOfItem(atPath: shelf.folder + "/" + name)
                    return sum + (attributes[.size] as? Int ?? 0)
                }
            }
            let full = try size()
            #expect(try store.remove(drive))
            #expect(try size() < full / 10)
        }

        @Test("a path that is not a folder does not count as a folder without drives")
        func noFolder() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let file = shelf.folder + "/file"
            try Data().write(to: URL(filePath: file))
            #expect(throws: NodeStoreError.self) { try DriveStore.read(in: file) }
            #expect(try DriveStore.read(in: shelf.folder) == nil)
        }

        @Test("drives of a newer roadmesh are neither extended nor read nor moved")
        func newer() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            do {
                let store = try DriveStore.record(in: shelf.folder, now: Shelf.now)
                _ = try store.begin(header: "old")
                try store.database.write { db in
                    try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99: of tomorrow')")
                }
            }
            let recorded = #expect(throws: NodeStoreError.self) {
                try DriveStore.record(in: shelf.folder, now: Shelf.now)
            }
            let read = #expect(throws: NodeStoreError.self) { try DriveStore.read(in: shelf.folder) }
            #expect(recorded?.code == .newer && read?.code == .newer)
            let names = try FileManager.default.contentsOfDirectory(atPath: shelf.folder)
            #expect(names.allSatisfy { !$0.contains("damaged") })
        }
    }
}
