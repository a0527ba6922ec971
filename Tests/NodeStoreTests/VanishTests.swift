// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import Logging
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("State that vanishes under a running node")
    struct VanishTests {
        enum Harm: String, CaseIterable, CustomTestStringConvertible {
            case folderRemoved, folderMadeAgain, databaseRemoved, logRemoved, indexRemoved, databaseReplaced,
                databaseTruncated, logTruncated, randomLog, randomDatabase

            var testDescription: String { rawValue }

            func apply(to shelf: Shelf) throws {
                switch self {
                case .folderRemoved: shelf.clear()
                case .folderMadeAgain:
                    shelf.clear()
                    try FileManager.default.createDirectory(atPath: shelf.folder, withIntermediateDirectories: true)
                    try shelf.open().close()
                case .databaseRemoved: unlink(shelf.path)
                case .logRemoved: unlink(shelf.path + "-wal")
                case .indexRemoved: unlink(shelf.path + "-shm")
                case .databaseReplaced:
                    try FileManager.default.copyItem(atPath: shelf.path, toPath: shelf.path + ".copy")
                    #expect(rename(shelf.path + ".copy", shelf.path) == 0)
                case .databaseTruncated: truncate(shelf.path, 100)
                case .logTruncated: truncate(shelf.path + "-wal", 100)
                case .randomLog: try Self.scramble(shelf.path + "-wal")
                case .randomDatabase: try Self.scramble(shelf.path)
                }
            }

            /// Writes other bytes until the file system's clock shows the change.
            private static func scramble(_ path: String) throws {
                var before = stat()
                var after = stat()
                #expect(stat(path, &before) == 0)
                repeat {
                    let descriptor = open(path, O_WRONLY)
                    let bytes = (0..<64).map { _ in UInt8.random(in: 1...255) }
                    #expect(pwrite(descriptor, bytes, bytes.count, 40) == bytes.count)
                    close(descriptor)
                    #expect(stat(path, &after) == 0)
                } while after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec
            }
        }

        private func vote(_ number: Int) -> StoreBatch { .with { $0.host = Sample.host(songs: number, votes: 2) } }

        @Test("missing state is reported with the next write and each later one", arguments: Harm.allCases)
        func told(harm: Harm) async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(vote(1))
            try harm.apply(to: shelf)
            for number in 2...4 {
                await #expect { try await store.write(vote(number)) } throws: { error in
                    (error as? NodeStoreError)?.code == .vanished
                }
            }
            store.close()
        }

        @Test("state that is back is no longer reported: what was written in between is there at the next start")
        func movedAway() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(vote(1))
            #expect(rename(shelf.folder, shelf.folder + ".away") == 0)
            await #expect { try await store.write(vote(2)) } throws: { ($0 as? NodeStoreError)?.code == .vanished }
            #expect(rename(shelf.folder + ".away", shelf.folder) == 0)
            try await store.write(vote(3))
            store.close()
            #expect(try shelf.open().contents().host == vote(3).host)
        }

        @Test(
            "random bytes in the log do not reach the database when it is closed")
        func closed() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(vote(1))
            await store.checkpoint()
            try await store.write(vote(2))
            try Harm.randomLog.apply(to: shelf)
            store.close()
            // The state that the next process finds.
            let next = try Shelf()
            defer { next.clear() }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: shelf.path + suffix, toPath: next.path + suffix)
            }
            let again = try next.opened()
            #expect(again.setAside == nil)
            #expect(try again.store.contents().host == vote(1).host)
            again.store.close()
        }

        @Test("written state is in the database itself after the last write, not only in the log")
        func checkpointWhenIdle() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(vote(3))
            await store.checkpoint()
            let copy = try Shelf()
            defer { copy.clear() }
            try FileManager.default.copyItem(atPath: shelf.path, toPath: copy.path)
            #expect(try copy.open().contents().host == vote(3).host)
            try await store.write(vote(4))
            store.close()
        }

        @Test(
            "written state is in the database itself soon after the last write, without a request",
            .timeLimit(.minutes(5)))
        func checkpointByItself() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let store = try NodeStore.open(
                folder: shelf.folder, now: Shelf.now, idleTime: .milliseconds(10), logger: logger
            ).store
            try await store.write(vote(3))
            // While the log is copied to the database, a copy of the database may be invalid.
            while (try? hostWithoutLog(shelf)) != vote(3).host {
                try Task.checkCancellation()
                await Task.yield()
            }
            store.close()
        }

        /// The state that the database has without its log and index.
        private func hostWithoutLog(_ shelf: Shelf) throws -> HostRecord? {
            let copy = try Shelf()
            defer { copy.clear() }
            try FileManager.default.copyItem(atPath: shelf.path, toPath: copy.path)
            let store = try copy.open()
            defer { store.close() }
            return try store.contents().host
        }

        @Test("another program that reads the database is not mistaken for vanished state")
        func reader() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(vote(1))
            let other = try DatabaseQueue(path: shelf.path)
            #expect(try await other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM queuedSong") } == 1)
            try other.close()
            try await store.write(vote(2))
            store.close()
        }

        @Test("an error for people contains no SQL statement")
        func plainWords() {
            let error = DatabaseError(
                resultCode: .SQLITE_IOERR, message: "disk I/O error", sql: "INSERT INTO vote VALUES (?)")
            let told = NodeStoreError(error, folder: "/")
            #expect(told.cause == "disk I/O error")
            #expect("\(told)".contains("INSERT"))
        }
    }
}
