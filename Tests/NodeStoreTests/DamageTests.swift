// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("A damaged database")
    struct DamageTests {
        /// A fault of the file of a database that was in use.
        enum Harm: CaseIterable {
            case garbage, halved, cutInItsHead, flippedHead, flippedPages, wrongSchema, foreign

            func apply(to path: String) throws {
                var bytes = try Bytes(of: path).main
                let middle = bytes.count / 2 / 4_096 * 4_096
                switch self {
                case .garbage: bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
                case .halved: bytes = Array(bytes.prefix(middle))
                case .cutInItsHead: bytes = Array(bytes.prefix(60))
                case .flippedHead: for index in 0..<100 { bytes[index] ^= 0x5A }
                case .flippedPages: for index in middle..<middle + 8_192 { bytes[index] ^= 0xFF }
                case .wrongSchema:
                    return try execute("ALTER TABLE conversation RENAME COLUMN accepted TO rejected", path)
                case .foreign:
                    try? FileManager.default.removeItem(atPath: path)
                    return try execute("CREATE TABLE peer (name TEXT); INSERT INTO peer VALUES ('Ana')", path)
                }
                try Data(bytes).write(to: URL(filePath: path))
            }

            private func execute(_ sql: String, _ path: String) throws {
                let database = try DatabaseQueue(path: path)
                try database.write { try $0.execute(sql: sql) }
                // It is not closed properly, so that the log stays.
                let bytes = try Bytes(of: path)
                try database.close()
                try Data(bytes.main).write(to: URL(filePath: path))
                if !bytes.log.isEmpty { try Data(bytes.log).write(to: URL(filePath: path + "-wal")) }
            }
        }

        /// A database's files.
        struct Bytes: Equatable {
            var main: [UInt8]
            /// SQLite leaves an empty file if it looked for a log.
            var log: [UInt8]

            init(of path: String) throws {
                main = Array(try Data(contentsOf: URL(filePath: path)))
                log = (try? Data(contentsOf: URL(filePath: path + "-wal"))).map { Array($0) } ?? []
            }
        }

        /// A shelf with a database of some pages, and on request with a log that is not yet in the database.
        private func usedShelf(withLog: Bool = false) async throws -> Shelf {
            let shelf = try Shelf()
            let store = try shelf.open()
            try await store.write(
                .with {
                    $0.host = Sample.host(songs: 100, votes: 16)
                    $0.guest = GuestRecord(snapshot: [UInt8](repeating: 7, count: 60_000))
                })
            guard withLog else {
                store.close()
                return shelf
            }
            await store.checkpoint(.truncate)
            try await store.write(
                .with { $0.guest = GuestRecord(wishes: [WishRecord(songID: "in the log", kind: "vote")]) })
            // As after a power cut.
            let cut = try Shelf()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: shelf.path + suffix, toPath: cut.path + suffix)
            }
            store.close()
            shelf.clear()
            return cut
        }

        @Test("a damaged database is set aside unchanged, and a new one is created", arguments: Harm.allCases)
        func setAside(harm: Harm) async throws {
            let shelf = try await usedShelf()
            defer { shelf.clear() }
            try harm.apply(to: shelf.path)
            try await expectSetAside(in: shelf)
        }

        @Test("a damaged database keeps its log", arguments: [Harm.garbage, .halved, .flippedPages, .wrongSchema])
        func setAsideWithLog(harm: Harm) async throws {
            let shelf = try await usedShelf(withLog: true)
            defer { shelf.clear() }
            try harm.apply(to: shelf.path)
            #expect(try !Bytes(of: shelf.path).log.isEmpty)
            try await expectSetAside(in: shelf)
        }

        private func expectSetAside(in shelf: Shelf) async throws {
            let before = try Bytes(of: shelf.path)
            let opened = try shelf.opened()
            let aside = try #require(opened.setAside)
            #expect(aside == shelf.folder + "/roadmesh.damaged-20260102T030405Z.sqlite")
            #expect(try Bytes(of: aside) == before)
            #expect(try opened.store.contents() == StoredNode(remembered: [:], host: nil, guest: nil))
            let record = Sample.host(songs: 3, votes: 1)
            try await opened.store.write(.with { $0.host = record })
            opened.store.close()
            let again = try shelf.opened()
            #expect(again.setAside == nil)
            #expect(try again.store.contents().host == record)
            #expect(try Bytes(of: aside) == before)
            again.store.close()
        }

        @Test("a database of a newer program is refused, and stays unchanged")
        func newer() async throws {
            let shelf = try await usedShelf()
            defer { shelf.clear() }
            let database = try DatabaseQueue(path: shelf.path)
            try await database.write { db in
                try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from tomorrow')")
            }
            try database.close()
            let before = try Bytes(of: shelf.path)
            let error = #expect(throws: NodeStoreError.self) { try shelf.opened() }
            #expect(error?.code == .newer)
            #expect(try Bytes(of: shelf.path) == before)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: shelf.folder).allSatisfy { !$0.contains("damaged") }
            )
        }

        @Test("a log that is not in the database yet is not damage")
        func logAlone() async throws {
            let shelf = try await usedShelf(withLog: true)
            defer { shelf.clear() }
            let opened = try shelf.opened()
            #expect(opened.setAside == nil)
            #expect(try opened.store.contents().guest?.wishes.first?.songID == "in the log")
        }

        @Test("a folder in place of the database is set aside with its content")
        func folderInItsPlace() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            try FileManager.default.createDirectory(atPath: shelf.path, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: shelf.path + "/note", contents: Data([1]))
            let aside = try #require(try shelf.opened().setAside)
            #expect(FileManager.default.contents(atPath: aside + "/note") == Data([1]))
        }

        @Test("two databases that are damaged in the same second do not overwrite each other")
        func twice() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var aside: [String] = []
            for number in UInt8(1)...3 {
                try Data(repeating: number, count: 5_000).write(to: URL(filePath: shelf.path))
                let opened = try shelf.opened()
                aside.append(try #require(opened.setAside))
                opened.store.close()
            }
            #expect(try aside.map { try Bytes(of: $0).main.first } == [1, 2, 3])
        }
    }
}
