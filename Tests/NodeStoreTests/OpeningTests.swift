// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import MeshProtocol
import Testing

@testable import NodeStore

extension StoreTests {
    @Suite("Opening a store")
    struct OpeningTests {
        private func mode(_ path: String) -> mode_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
        }

        @Test("the database and what SQLite keeps beside it are for their owner's eyes only, whatever they were before")
        func permissions() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(.with { $0.guest = GuestRecord(hostEpoch: 1) })
            for suffix in ["", "-wal", "-shm"] {
                #expect(mode(shelf.path + suffix) == 0o600)
                chmod(shelf.path + suffix, 0o644)
            }
            // As a power cut leaves them.
            let again = try shelf.open()
            for suffix in ["", "-wal", "-shm"] { #expect(mode(shelf.path + suffix) == 0o600) }
            again.close()
            store.close()
        }

        @Test("a write has reached the disk when it returns: there is a log, and it is synchronised with each commit")
        func durable() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let settings = try await store.database.read { db in
                try ["journal_mode", "synchronous", "foreign_keys"].map { try String.fetchOne(db, sql: "PRAGMA \($0)") }
            }
            #expect(settings == ["wal", "2", "1"])
        }

        @Test("a folder that is not there is told, and not made behind anybody's back")
        func noFolder() {
            #expect { try NodeStore.open(folder: "/nowhere/at/all", now: Shelf.now) } throws: { error in
                (error as? NodeStoreError)?.code == .failed && "\(error)".contains("No such file")
            }
        }
    }
}

extension StoreTests {
    @Suite("A state folder")
    struct StateFolderTests {
        @Test("a second user of the folder is told by its lock, until the first one has gone")
        func locked() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var first: StateFolder? = try StateFolder(opening: shelf.folder)
            let identity = first?.identity.peerID
            #expect(throws: StateFolderError.inUse(path: shelf.folder)) { try StateFolder(opening: shelf.folder) }
            first = nil
            #expect(try StateFolder(opening: shelf.folder).identity.peerID == identity)
        }

        @Test("what cannot be used is told with its reason")
        func unusable() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            _ = FileManager.default.createFile(atPath: shelf.folder + "/file", contents: nil)
            let below = shelf.folder + "/file/state"
            #expect(throws: StateFolderError.cannotMake(path: below)) { try StateFolder(opening: below) }
            _ = FileManager.default.createFile(atPath: shelf.folder + "/identity", contents: Data([1]))
            #expect(throws: StateFolderError.damagedIdentity(file: shelf.folder + "/identity")) {
                try StateFolder(opening: shelf.folder)
            }
            try FileManager.default.removeItem(atPath: shelf.folder + "/identity")
            try FileManager.default.createDirectory(
                atPath: shelf.folder + "/identity.new", withIntermediateDirectories: true)
            #expect { try StateFolder(opening: shelf.folder) } throws: { error in
                error as? StateFolderError == .unusable(path: shelf.folder, cause: "Is a directory")
            }
        }

        @Test("state belongs where the desktop says, or below the home folder")
        func standardPath() {
            let both = ["XDG_STATE_HOME": "/state", "HOME": "/home/ana"]
            #expect(StateFolder.standardPath(environment: both) == "/state/roadmesh")
            #expect(StateFolder.standardPath(environment: ["HOME": "/home/ana"]) == "/home/ana/.local/state/roadmesh")
            #expect(StateFolder.standardPath(environment: ["XDG_STATE_HOME": "state", "HOME": "ana"]) == nil)
        }
    }
}
