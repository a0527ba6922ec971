// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import Foundation
import Testing

@testable import Dashboard

@Suite("The files of the page")
struct PageFilesTests {
    @Test("every file of the page is served unchanged")
    func complete() throws {
        let folder =
            URL(filePath: #filePath).deletingLastPathComponent().path
            + "/../../Sources/Dashboard/Page/"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let served = Dictionary(uniqueKeysWithValues: PageFiles.all.map { ($0.path, $0.bytes) })
        #expect(served.count == names.count + Language.allCases.count - 1)
        for language in Language.allCases where language != .english {
            #expect(served["/\(language.rawValue).json"] == language.file)
        }
        for name in names {
            let bytes = try Data(contentsOf: URL(filePath: folder + name))
            #expect(served[name == "index.html" ? "/" : "/" + name] == Array(bytes))
        }
    }

    @Test("the page for tunnels is stored completely")
    func kept() throws {
        let worker = try #require(Self.text("/worker.js"))
        let kept = Set(worker.matches(of: /"(\/[a-z0-9.-]*)"/).map { String($0.1) })
        #expect(kept == Set(PageFiles.all.map(\.path)).subtracting(["/worker.js"]))
    }

    @Test("the tag of the page changes with each of its files")
    func indexTag() {
        #expect(PageFiles.indexTag != PageFiles.index.entityTag)
        #expect(PageFiles.all.contains { $0.path == "/fresh.js" })
    }

    private static func text(_ path: String) -> String? {
        PageFiles.all.first { $0.path == path }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("the texts of the page's buttons are those in the table of commands")
    func titles() throws {
        let script = try #require(Self.text("/commands.js"))
        for (page, user) in [("host", NodeCommand.User.driverPage), ("guest", .guestPage)] {
            let titles = CommandReader(user).titles.sorted { $0.key < $1.key }.map { "\($0.key): \"\($0.value)\"" }
            #expect(script.contains("    \(page): { \(titles.joined(separator: ", ")) },\n"), "\(page): \(titles)")
        }
        #expect(CommandReader(.guestPage).titles == CommandReader(.passenger).titles)
    }

    @Test("each button of the page sends a command of the page")
    func buttons() throws {
        let known = [NodeCommand.User.driverPage, .guestPage].map {
            Set(CommandReader($0).commands.flatMap { [$0.word] + $0.aliases })
        }
        var posted: Set<String> = []
        for file in PageFiles.all where file.path.hasSuffix(".js") {
            let text = try #require(Self.text(file.path))
            for match in text.matches(of: /node\.(?:command|wish)\((.*)/) {
                // The strings of a condition, such as `isPlaying ? "pause" : "play"`, up to the fields.
                let words = match.1.prefix { $0 != "{" }.matches(of: /"([a-zA-Z]+)"/).map { String($0.1) }
                posted.formUnion(words)
            }
        }
        #expect(
            posted.isSuperset(of: ["play", "pause", "skip", "add", "remove", "kick", "vote", "takeBack", "suggest"]))
        for word in posted where word != "find" {
            #expect(known.contains { $0.contains(word) }, "\(word) is not a command")
        }
    }
}
