// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Logging
import TestSupport
import Testing

@testable import NodeStore

@Suite("A check of a node's folder")
struct FolderConditionTests {
    private let path = newFolder()

    /// A folder of a node that has ended.
    private func used() throws {
        _ = try StateFolder(opening: path)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try NodeStore.open(folder: path, now: Date(), logger: logger).store.close()
    }

    private var files: [String: Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: "\(path)/\($0)") ?? Data()) })
    }

    @Test("a missing folder is reported as missing, and not created")
    func missing() {
        let look = FolderCondition(lookingAt: path + "/deeper/still")
        #expect(!look.exists)
        #expect(look.refusal == nil)
        #expect(access(path, F_OK) != 0)
    }

    @Test("a node's folder is in order")
    func sound() throws {
        try used()
        let before = files
        let look = FolderCondition(lookingAt: path)
        #expect(look.exists && look.refusal == nil && !look.isInUse)
        #expect(look.identity == .isSound)
        #expect(look.database == .isSound)
        #expect(look.owner == geteuid())
        #expect(files == before)
    }

    @Test("the folder of a running node is in use, and its database is not touched")
    func inUse() throws {
        var folder: StateFolder? = try StateFolder(opening: path)
        let look = FolderCondition(lookingAt: path)
        #expect(look.isInUse)
        #expect(look.database == .isMissing)
        withExtendedLifetime(folder) {}
        folder = nil
        #expect(!FolderCondition(lookingAt: path).isInUse)
    }

    @Test("a damaged database is reported, and stays unchanged")
    func damaged() throws {
        try used()
        let database = path + "/" + NodeStore.fileName
        try Data("SQLite format 3\0 and then nothing of the sort".utf8).write(to: URL(filePath: database))
        let before = files
        guard case .isDamaged = FolderCondition(lookingAt: path).database else { Issue.record("not seen"); return }
        #expect(files == before)
    }

    @Test("an invalid identity is reported")
    func identity() throws {
        try used()
        try Data("me".utf8).write(to: URL(filePath: path + "/identity"))
        guard case .isDamaged = FolderCondition(lookingAt: path).identity else { Issue.record("not seen"); return }
    }

    @Test("a file in place of the folder is not a folder")
    func file() throws {
        try Data().write(to: URL(filePath: path))
        #expect(FolderCondition(lookingAt: path).refusal != nil)
    }

    @Test("a disk that allows a new file but no data is reported as full, and nothing is left on it")
    func full() throws {
        guard let disk = try SmallDisk(bytes: 1 << 20) else { return }
        defer { disk.remove() }
        #expect(!FolderCondition(lookingAt: disk.folder).isFullDisk)
        disk.fill()
        let look = FolderCondition(lookingAt: disk.folder)
        #expect(look.isFullDisk && look.refusal == nil && !look.isReadOnlyDisk)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder) == ["ballast"])
    }

    @Test("a read-only disk is reported as such")
    func readOnly() throws {
        guard let disk = try SmallDisk(bytes: 1 << 20) else { return }
        defer { disk.remove() }
        guard disk.becomeReadOnly() else { return }
        #expect(FolderCondition(lookingAt: disk.folder).isReadOnlyDisk)
        #expect(FolderCondition(lookingAt: disk.folder + "/to/be/made").isReadOnlyDisk)
    }
}
