// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import GRDB
import Glibc
import TestSupport
import Testing

@testable import MusicLibrary

@Suite("Problems of a music library")
struct LibraryTroubleTests {
    @Test("loops of links end, and a linked song is there once")
    func links() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("x/a.mp3", title: "A", artist: "A")
        try FileManager.default.createDirectory(atPath: shelf.place + "/other", withIntermediateDirectories: true)
        try Data(MP3(title: "B", artist: "B").bytes).write(to: URL(filePath: shelf.place + "/other/b.mp3"))
        for (target, link) in [
            ("..", "x/up"), (".", "loop"), ("x/a.mp3", "0.mp3"), (shelf.place + "/other", "other"),
            ("nothing", "n.mp3"),
            ("n2.mp3", "n2.mp3"),
        ] {
            #expect(symlink(target, shelf.path(link)) == 0)
        }
        #expect(mkfifo(shelf.path("pipe.mp3"), 0o600) == 0)
        try await shelf.withLibrary { library, updates in
            let songs = try await updates.songs()
            #expect(songs.map(\.title) == ["A", "B"])
            #expect(await library.file(of: songs[0].id) == shelf.path("x/a.mp3"))
            #expect(await library.file(of: songs[1].id) == shelf.path("other/b.mp3"))
        }
    }

    @Test("files that are not music are left out, reported by name, and not read again")
    func unreadable() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A", artist: "A")
        try shelf.put("b.flac", Array("no music at all".utf8))
        // Latin-1, which is not valid UTF-8.
        let name = Array((shelf.folder + "/caf").utf8).map(CChar.init(bitPattern:)) + [CChar(bitPattern: 0xE9)]
        close(open(name + Array(".mp3".utf8).map(CChar.init(bitPattern:)) + [0], O_WRONLY | O_CREAT, 0o600))
        try await shelf.withLibrary { _, updates in
            #expect(try await updates.songs().count == 1)
            #expect(try await updates.problem() == .unreadableFiles(count: 2, example: "b.flac, caf\u{FFFD}.mp3"))
            try shelf.put("c.mp3", title: "C", artist: "C")
            #expect(try await updates.first { if case .progress(_, let count) = $0 { count } else { nil } } == 1)
            // It was written again, and is music now.
            try shelf.put("b.flac", MP3(title: "B", artist: "B").bytes)
            try await updates.songs { $0.count == 3 }
        }
    }

    @Test("songs beyond the limit are left out, and this is reported")
    func tooMany() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        for name in ["a", "b", "c"] { try shelf.put("\(name).mp3", title: name, artist: "A") }
        var limits = MusicShelf.limits
        limits.songs = 2
        try await shelf.withLibrary(limits) { _, updates in
            let songs = try await updates.songs()
            #expect(songs.count == 2)
            #expect(try await updates.problem() == .tooMuch(path: shelf.folder))
        }
    }

    @Test("another folder's songs do not count as this one's, and are known again when it is back")
    func otherFolder() async throws {
        let shelf = try MusicShelf(), other = try MusicShelf()
        defer { for shelf in [shelf, other] { shelf.clear() } }
        try shelf.put("1.mp3", title: "Here", artist: "A")
        try other.put("1.mp3", title: "There", artist: "B")
        let first = try await shelf.withLibrary { _, updates in try await updates.songs() }
        let library = try MusicLibrary(folder: other.folder, database: shelf.database, limits: MusicShelf.limits)
        let updates = EventQueue(library.updates)
        let running = Task { await library.run() }
        let there = try await updates.songs { $0.map(\.title) == ["There"] }
        running.cancel()
        await running.value
        #expect(there[0].id != first[0].id)
        let back = try await shelf.withLibrary { _, updates in try await updates.songs { $0 != there } }
        #expect(back == first)
    }

    @Test(
        "a damaged index, or another program's, is created again, and the songs keep their ids", arguments: 0...3)
    func damaged(harm: Int) async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A", artist: "A")
        let before = try await shelf.withLibrary { _, updates in try await updates.songs() }
        let index = try DatabaseQueue(path: shelf.database)
        _ = try await index.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try index.close()
        var bytes = Array(try Data(contentsOf: URL(filePath: shelf.database)))
        switch harm {
        case 0: bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
        case 1: bytes = Array(bytes.prefix(bytes.count / 8_192 * 4_096))
        case 2: for index in 8_192..<min(16_384, bytes.count) { bytes[index] ^= 0xFF }
        default: bytes = Array(bytes.prefix(60))
        }
        try Data(bytes).write(to: URL(filePath: shelf.database))
        #expect(try await shelf.withLibrary { _, updates in try await updates.songs() } == before)
    }

    @Test(
        "a pipe in place of an index causes no wait, and the index is created", .timeLimit(.minutes(5)),
        arguments: ["", "-wal"])
    func pipe(suffix: String) async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A", artist: "A")
        try #require(mkfifo(shelf.database + suffix, 0o600) == 0)
        let songs = try await shelf.withLibrary { _, updates in try await updates.songs() }
        #expect(songs.map(\.title) == ["A"])
    }

    @Test("an index that cannot be created is reported in a sentence")
    func noIndex() throws {
        let problem = #expect(throws: LibraryProblem.self) {
            try MusicLibrary(folder: "/tmp", database: "/proc/library.sqlite")
        }
        #expect(problem?.problem.code == "libraryIndexUnusable")
        #expect(problem?.problem.sentence.contains("/proc/library.sqlite") == true)
    }

    @Test("a folder's name in a sentence contains no control characters")
    func shownPath() {
        #expect(LibraryProblem.noSongs(path: "/a\u{1B}[2J").problem.sentence.contains("/a[2J"))
    }
}
