// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import TestSupport
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    /// Disks that are full or read-only. The disks are real if the tests may mount a file system, as root may.
    @Suite("Disks")
    struct DiskTests {
        private let large = StoreBatch.with { $0.guest = GuestRecord(snapshot: [UInt8](repeating: 3, count: 60_000)) }

        @Test(
            "a write that a full disk refuses reports this and changes nothing; with room again it succeeds"
        )
        func full() async throws {
            guard let disk = try SmallDisk(bytes: 1 << 20) else { return try await fullByCount() }
            defer { disk.remove() }
            let store = try Shelf(disk.folder).open()
            let host = Sample.host(songs: 20, votes: 4)
            try await store.write(.with { $0.host = host })
            disk.fill()
            var batch = large
            batch.host = Sample.host(songs: 21, votes: 5)
            for _ in 0..<3 {
                await #expect { try await store.write(batch) } throws: { ($0 as? NodeStoreError)?.code == .diskFull }
            }
            #expect(try store.contents() == StoredNode(remembered: [:], host: host, guest: nil))
            disk.makeRoom()
            try await store.write(batch)
            store.close()
            let again = try Shelf(disk.folder).opened()
            #expect(again.setAside == nil)
            #expect(try again.store.contents() == StoredNode(remembered: [:], host: batch.host, guest: batch.guest))
            again.store.close()
        }

        /// For users without the right to mount: SQLite itself reports a full disk.
        private func fullByCount() async throws {
            print("No file system can be mounted here: SQLite's own limit simulates a full disk.")
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let count = try await store.database.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
            try await store.database.write { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
            await #expect { try await store.write(large) } throws: { ($0 as? NodeStoreError)?.code == .diskFull }
            #expect(try store.contents() == StoredNode(remembered: [:], host: nil, guest: nil))
            try await store.database.write { try $0.execute(sql: "PRAGMA max_page_count = 100000") }
            try await store.write(large)
            #expect(try store.contents().guest == large.guest)
        }

        @Test("a log that a full disk cannot empty is known as the store's own: with room again votes are accepted")
        func checkpointOnFullDisk() async throws {
            guard let disk = try SmallDisk(bytes: 1 << 20) else {
                return print("No file system can be mounted here: a checkpoint on a full disk is not tested.")
            }
            defer { disk.remove() }
            let store = try Shelf(disk.folder).open()
            // The log already contains more than the database has room for.
            try await store.write(large)
            disk.fill()
            await store.checkpoint()
            disk.makeRoom()
            try await store.write(.with { $0.host = Sample.host(songs: 2, votes: 1) })
            store.close()
        }

        @Test("a full disk is not damage: the store reports it at its start, and sets nothing aside")
        func fullAtStart() async throws {
            guard let disk = try SmallDisk(bytes: 1 << 20) else {
                return print("No file system can be mounted here: a start with a full disk is not tested.")
            }
            defer { disk.remove() }
            let store = try Shelf(disk.folder).open()
            try await store.write(large)
            store.close()
            disk.fill()
            #expect { try Shelf(disk.folder).opened() } throws: { ($0 as? NodeStoreError)?.code == .diskFull }
            disk.makeRoom()
            let opened = try Shelf(disk.folder).opened()
            #expect(opened.setAside == nil)
            #expect(try opened.store.contents().guest == large.guest)
            opened.store.close()
        }

        @Test(
            "a read-only disk is reported at the start, with or without a database on it",
            arguments: [true, false])
        func readOnly(hasDatabase: Bool) async throws {
            guard let disk = try SmallDisk(bytes: 1 << 20) else { return try readOnlyByMode(hasDatabase: hasDatabase) }
            defer { disk.remove() }
            if hasDatabase { try Shelf(disk.folder).open().close() }
            try #require(disk.becomeReadOnly())
            #expect { try Shelf(disk.folder).opened() } throws: { ($0 as? NodeStoreError)?.code == .readOnly }
            #expect(try FileManager.default.fileExists(atPath: Shelf(disk.folder).path) == hasDatabase)
        }

        /// For users without the right to mount. They are not root, which file modes do not restrict.
        private func readOnlyByMode(hasDatabase: Bool) throws {
            let shelf = try Shelf()
            defer {
                chmod(shelf.folder, 0o700)
                shelf.clear()
            }
            if hasDatabase { try shelf.open().close() }
            chmod(shelf.folder, 0o500)
            #expect { try shelf.opened() } throws: { ($0 as? NodeStoreError)?.code == .readOnly }
        }

        @Test("a disk that turns read-only under a running node is reported, and is used again when it is writable")
        func turnsReadOnly() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let host = Sample.host(songs: 2, votes: 1)
            try await store.write(.with { $0.host = host })
            // No file system turns read-only under an open file on request, so SQLite itself simulates it.
            try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
            for _ in 0..<2 {
                await #expect { try await store.write(large) } throws: { ($0 as? NodeStoreError)?.code == .readOnly }
            }
            #expect(try store.contents() == StoredNode(remembered: [:], host: host, guest: nil))
            try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
            try await store.write(large)
            #expect(try store.contents().guest == large.guest)
            store.close()
        }

        @Test("an error of SQLite without a cause is reported as a read-only disk if the disk is one")
        func readOnlyByLook() throws {
            let writable = try Shelf()
            defer { writable.clear() }
            #expect(NodeStoreError(DatabaseError(resultCode: .SQLITE_IOERR), folder: writable.folder).code == .failed)
            try withReadOnlyFolder { folder in
                for code in [ResultCode.SQLITE_READONLY, .SQLITE_PERM, .SQLITE_IOERR, .SQLITE_CANTOPEN] {
                    #expect(NodeStoreError(DatabaseError(resultCode: code), folder: folder).code == .readOnly)
                }
            }
        }

        private func withReadOnlyFolder(_ body: (String) throws -> Void) throws {
            if let disk = try SmallDisk(bytes: 1 << 20) {
                defer { disk.remove() }
                try #require(disk.becomeReadOnly())
                return try body(disk.folder)
            }
            let shelf = try Shelf()
            defer {
                chmod(shelf.folder, 0o700)
                shelf.clear()
            }
            chmod(shelf.folder, 0o500)
            try body(shelf.folder)
        }

        @Test("another program that holds the database is reported, and the store waits for it")
        func busy() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: shelf.path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            await #expect { try await store.write(large) } throws: { ($0 as? NodeStoreError)?.code == .busy }
            try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            try await store.write(large)
            #expect(try store.contents().guest == large.guest)
        }
    }
}
