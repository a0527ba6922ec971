// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import MeshProtocol
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("Opening a store")
    struct OpeningTests {
        private func mode(_ path: String) -> mode_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
        }

        @Test("the database and SQLite's other files are readable only by their owner, whatever they were before")
        func permissions() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            try await store.write(.with { $0.guest = GuestRecord(hostEpoch: 1) })
            for suffix in ["", "-wal", "-shm"] {
                #expect(mode(shelf.path + suffix) == 0o600)
                chmod(shelf.path + suffix, 0o644)
            }
            // As after a power cut.
            let again = try shelf.open()
            for suffix in ["", "-wal", "-shm"] { #expect(mode(shelf.path + suffix) == 0o600) }
            again.close()
            store.close()
        }

        @Test("a write is on the disk when it returns: it has a log, and synchronises at each commit")
        func durable() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let store = try shelf.open()
            let settings = try await store.database.read { db in
                try ["journal_mode", "synchronous", "foreign_keys"].map { try String.fetchOne(db, sql: "PRAGMA \($0)") }
            }
            #expect(settings == ["wal", "2", "1"])
        }

        @Test(
            "a pipe in place of the database or its log is set aside without waiting",
            arguments: ["", "-wal", "-shm"])
        func pipe(suffix: String) throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            try shelf.open().close()
            unlink(shelf.path + suffix)
            try #require(mkfifo(shelf.path + suffix, 0o600) == 0)
            let opened = try shelf.opened()
            #expect(opened.setAside != nil)
            opened.store.close()
        }

        @Test("a missing folder is reported, and not created silently")
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
        @Test("a second user of the folder gets an error from its lock until the first one has ended")
        func locked() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var first: StateFolder? = try StateFolder(opening: shelf.folder)
            let identity = first?.identity.peerID
            #expect(throws: StateFolderError.inUse(path: shelf.folder)) { try StateFolder(opening: shelf.folder) }
            first = nil
            #expect(try StateFolder(opening: shelf.folder).identity.peerID == identity)
        }

        @Test("an unusable folder is reported with its reason")
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

        @Test("a second process cannot use the folder of a running node that was removed and created again")
        func removedAndMadeAgain() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            var first: StateFolder? = try StateFolder(opening: shelf.folder)
            try FileManager.default.removeItem(atPath: shelf.folder)
            #expect(throws: StateFolderError.inUse(path: shelf.folder)) { try StateFolder(opening: shelf.folder) }
            withExtendedLifetime(first) {}
            first = nil
            _ = try StateFolder(opening: shelf.folder)
        }

        @Test("a pipe in place of one of its files is reported without waiting", arguments: ["identity", "lock"])
        func pipe(name: String) throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            try #require(mkfifo(shelf.folder + "/" + name, 0o600) == 0)
            #expect { try StateFolder(opening: shelf.folder) } throws: { error in
                error as? StateFolderError == .unusable(path: shelf.folder, cause: "\(name) is not a file")
            }
            guard name == "identity" else { return }
            #expect(FolderCondition(lookingAt: shelf.folder).identity == .isDamaged("it is not a file"))
        }

        @Test("a pipe in place of the identity's draft causes no wait")
        func pipeOfDraft() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            try #require(mkfifo(shelf.folder + "/identity.new", 0o600) == 0)
            let identity = try StateFolder(opening: shelf.folder).identity.peerID
            #expect(try StateFolder(opening: shelf.folder).identity.peerID == identity)
        }

        @Test("an identity that others could read is protected, and this is reported")
        func wideIdentity() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            #expect(try !StateFolder(opening: shelf.folder).wasReadableByOthers)
            let file = shelf.folder + "/identity"
            chmod(file, 0o644)
            #expect(FolderCondition(lookingAt: shelf.folder).isReadableByOthers)
            #expect(try StateFolder(opening: shelf.folder).wasReadableByOthers)
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(!FolderCondition(lookingAt: shelf.folder).isReadableByOthers)
            #expect(try !StateFolder(opening: shelf.folder).wasReadableByOthers)
        }

        @Test("a stored secret is read again, only for its owner, and not from a file that others could read")
        func secrets() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let folder = try StateFolder(opening: shelf.folder)
            #expect(folder.secret("page-tokens") == nil)
            try folder.keep([1, 2, 3], as: "page-tokens")
            try folder.keep([4, 5], as: "page-tokens")
            #expect(folder.secret("page-tokens") == [4, 5])
            let file = shelf.folder + "/page-tokens"
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            chmod(file, 0o640)
            #expect(folder.secret("page-tokens") == nil)
            try folder.keep([6], as: "page-tokens")
            #expect(folder.secret("page-tokens") == [6])
        }

        @Test("a pipe in place of a secret is ignored, and replaced by the next secret")
        func pipeOfSecret() throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let folder = try StateFolder(opening: shelf.folder)
            try #require(mkfifo(shelf.folder + "/page-tokens", 0o600) == 0)
            #expect(folder.secret("page-tokens") == nil)
            try folder.keep([1], as: "page-tokens")
            #expect(folder.secret("page-tokens") == [1])
        }

        @Test("state belongs in the desktop's folder, or below the home folder")
        func standardPath() {
            let both = ["XDG_STATE_HOME": "/state", "HOME": "/home/ana"]
            #expect(StateFolder.standardPath(environment: both) == "/state/roadmesh")
            #expect(StateFolder.standardPath(environment: ["HOME": "/home/ana"]) == "/home/ana/.local/state/roadmesh")
            #expect(StateFolder.standardPath(environment: ["XDG_STATE_HOME": "state", "HOME": "ana"]) == nil)
        }
    }
}
