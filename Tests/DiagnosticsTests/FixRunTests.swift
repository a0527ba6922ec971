// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import Diagnostics

@Suite("Changes that are made and undone")
struct FixRunTests {
    /// A temporary folder of this test.
    final class Folder {
        let path: String
        init() throws {
            path = FileManager.default.temporaryDirectory.path + "/roadmesh-fix-\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        var journal: String { path + "/journal" }
        var file: String { path + "/main.conf" }

        func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

        func run(_ outcome: SystemCommand.Outcome = .done("")) throws -> FixRun {
            FixRun(try FixJournal(reading: journal, forChanges: true)) { _ in outcome }
        }
    }

    static func edit(_ path: String, _ before: Data?, _ after: Data) -> Change {
        Change(
            .content(ContentChange(store: .file, path: path, before: before, after: after, effect: .restart)),
            for: [.slowTiming], "Add lines to \(path)")
    }

    @Test("any file is the same after undo, byte for byte", arguments: 0..<60)
    func roundTrip(seed: Int) async throws {
        let folder = try Folder()
        let before = Data(KeyFileTests.madeFile(UInt64(seed)).utf8)
        try before.write(to: URL(filePath: folder.file))
        chmod(folder.file, 0o640)
        let file = ConfigurationFile(lookingAt: folder.file)
        guard let after = ConfigurationEdit(file, groups: KeyFileTests.groups).result else { return }
        do {
            var run = try folder.run()
            try await run.make(Self.edit(folder.file, before, after), at: 1)
        }
        #expect(folder.bytes(folder.file) == after)
        var run = try folder.run()
        #expect(run.changes.count == 1)
        #expect(await run.takeBack(run.changes[0]) == .done)
        #expect(folder.bytes(folder.file) == before)
        #expect(run.afterwards?.action == .restart(needsReload: false))
        var status = stat()
        #expect(stat(folder.file, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(!FileManager.default.fileExists(atPath: folder.journal), "nothing is left to be taken back")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["main.conf"])
    }

    @Test("a created file is removed again, with the folder that was created for it")
    func madeFile() async throws {
        let folder = try Folder()
        let path = folder.path + "/bluetooth.service.d/roadmesh.conf"
        var run = try folder.run()
        try await run.make(Self.edit(path, nil, Data("[Service]\n".utf8)), at: 1)
        #expect(folder.bytes(path) == Data("[Service]\n".utf8))
        #expect(await run.takeBack(run.changes[0]) == .done)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/bluetooth.service.d"))
    }

    @Test("a file that was changed since is left alone and named, and its former text is kept")
    func changedSince() async throws {
        let folder = try Folder()
        var run = try folder.run()
        try await run.make(Self.edit(folder.file, nil, Data("a".utf8)), at: 1)
        try Data("b".utf8).write(to: URL(filePath: folder.file))
        guard case .leftAlone(let why) = await run.takeBack(run.changes[0]) else {
            Issue.record("it was not left alone")
            return
        }
        #expect(why.contains(folder.file))
        #expect(folder.bytes(folder.file) == Data("b".utf8) && run.changes.count == 1 && run.afterwards == nil)
    }

    @Test("a file that was changed between the question and the answer is left alone")
    func changedMeanwhile() async throws {
        let folder = try Folder()
        var run = try folder.run()
        try Data("theirs".utf8).write(to: URL(filePath: folder.file))
        await #expect(throws: FixFailure.self) {
            try await run.make(Self.edit(folder.file, Data("before".utf8), Data("after".utf8)), at: 1)
        }
        #expect(folder.bytes(folder.file) == Data("theirs".utf8) && run.changes == [])
    }

    @Test("a change that a power cut interrupted is undone too, and one that was not made needs nothing")
    func powerCut() async throws {
        let folder = try Folder()
        let content = ContentChange(
            store: .file, path: folder.file, before: Data("before".utf8), after: Data("after".utf8))
        var journal = try FixJournal(reading: folder.journal, forChanges: false)
        try journal.add(MadeChange(title: "t", at: 1, content: content))
        for (now, outcome) in [("before", FixRun.TakenBack.wasDone), ("after", .done)] {
            try Data(now.utf8).write(to: URL(filePath: folder.file))
            var run = FixRun(journal) { _ in .done("") }
            #expect(await run.takeBack(run.changes[0]) == outcome)
            #expect(folder.bytes(folder.file) == Data("before".utf8))
        }
    }

    @Test("a command is undone by its own command; a failed one leaves nothing to undo")
    func commands() async throws {
        let folder = try Folder()
        let join = Change(.command(["usermod", "x"], undo: ["gpasswd", "x"]), for: [.denied], "Join")
        var failing = try folder.run(.failed("no such user"))
        await #expect(throws: FixFailure("usermod x: no such user")) { try await failing.make(join, at: 1) }
        #expect(failing.changes == [])
        let said = NIOLockedValueBox<[[String]]>([])
        var run = FixRun(try FixJournal(reading: folder.journal, forChanges: false)) { words in
            said.withLockedValue { $0.append(words) }
            return .done("")
        }
        try await run.make(join, at: 1)
        try await run.make(.restart(needsReload: true, for: []), at: 1)
        #expect(run.changes.count == 1)
        #expect(await run.takeBack(run.changes[0]) == .done)
        #expect(
            said.withLockedValue { $0 } == [
                ["usermod", "x"], ["systemctl", "daemon-reload"], ["systemctl", "restart", "bluetooth"],
                ["gpasswd", "x"],
            ])
    }

    /// Setting capabilities needs root, and a disk that stores them.
    static let mayGiveCapabilities =
        geteuid() == 0 && CapabilityAttribute.refusal(of: FileManager.default.temporaryDirectory.path) == nil

    @Test("a program's capabilities are set and restored as the kernel stores them", .enabled(if: mayGiveCapabilities))
    func capability() async throws {
        let folder = try Folder()
        try Data("#!/bin/sh\n".utf8).write(to: URL(filePath: folder.file))
        let planner = FixPlanner(radio: nil, facts: FixPlannerTests.facts(program: ProgramFile(path: folder.file)))
        let change = try #require(
            planner.plan(for: [Finding(.slowTiming, .worthKnowing, "Slow.", meaning: "Late.")]).changes.first)
        var run = try folder.run()
        try await run.make(change, at: 1)
        #expect(try CapabilityAttribute.read(folder.file) == FileCapability.tuning.bytes)
        #expect(await run.takeBack(run.changes[0]) == .done)
        #expect(try CapabilityAttribute.read(folder.file) == nil && run.afterwards == nil)
        // An update replaces the file by one without capabilities.
        try await run.make(change, at: 1)
        try CapabilityAttribute.write(nil, to: folder.file)
        #expect(await run.takeBack(run.changes[0]) == .wasDone)
    }

    @Test("symbolic links, folders, hard links and large files are left alone")
    func refusedFiles() throws {
        let folder = try Folder()
        func why(_ path: String) -> String? {
            if case .refused(let why) = ConfigurationFile(lookingAt: path).found { why } else { nil }
        }
        #expect(ConfigurationFile(lookingAt: folder.file).found == .nothing)
        #expect(why(folder.path) == "is not a file")
        try Data("x".utf8).write(to: URL(filePath: folder.file))
        #expect(ConfigurationFile(lookingAt: folder.file).found == .bytes(Data("x".utf8)))
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: folder.file)
        #expect(why(folder.path + "/link") == "is a symbolic link")
        try FileManager.default.linkItem(atPath: folder.file, toPath: folder.path + "/second")
        #expect(why(folder.file) == "has a hard link")
        try Data(repeating: 0x23, count: FixLimits.fileBytes + 1).write(to: URL(filePath: folder.path + "/large"))
        #expect(why(folder.path + "/large") == "has more than 256 KiB")
        mkfifo(folder.path + "/pipe", 0o600)
        #expect(why(folder.path + "/pipe") == "is not a file")
        #expect(why("main.conf") == "is not an absolute path")
    }

    @Test(
        "a journal that others may write is refused, and a damaged or newer one too; one process uses it at a time"
    )
    func journal() throws {
        let folder = try Folder()
        let path = folder.journal + "/changes.json"
        func problem() -> String? {
            do throws(FixFailure) {
                _ = try FixJournal(reading: folder.journal, forChanges: false)
                return nil
            } catch {
                return error.text
            }
        }
        #expect(problem() == nil)
        var journal = try FixJournal(reading: folder.journal, forChanges: true)
        #expect(throws: FixFailure.self) { try FixJournal(reading: folder.journal, forChanges: true) }
        try journal.add(MadeChange(title: "t", at: 1, undo: ["true"]))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(problem() == nil)
        chmod(path, 0o622)
        #expect(problem()?.contains("is not used") == true)
        chmod(path, 0o600)
        chmod(folder.journal, 0o777)
        #expect(problem()?.contains("is not used") == true)
        chmod(folder.journal, 0o700)
        try Data(#"{"version":2,"changes":[]}"#.utf8).write(to: URL(filePath: path))
        #expect(problem()?.contains("newer") == true)
        try Data("{".utf8).write(to: URL(filePath: path))
        #expect(problem()?.contains("damaged") == true)
    }

    @Test("a command that is missing, fails or does not end is reported as such")
    func programs() async {
        #expect(await SystemCommand(["/no/such"]).run() == .failed("there is no program /no/such here"))
        #expect(await SystemCommand(["sh", "-c", "echo no >&2; exit 3"]).run() == .failed("no"))
        #expect(await SystemCommand(["sh", "-c", "echo yes"]).run() == .done("yes\n"))
        #expect(
            await SystemCommand(["sleep", "600"]).run(within: .milliseconds(50))
                == .failed("it has not ended in time"))
    }
}
