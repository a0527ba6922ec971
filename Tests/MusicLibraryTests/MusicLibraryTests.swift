// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import MusicLibrary

@Suite("The music library")
struct MusicLibraryTests {
    @Test("a folder's songs are in order, with their files and covers, and can be found")
    func listed() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        let cover: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 7, count: 500)
        try shelf.put("x/2.mp3", title: "Second", artist: "Émile", album: "One", track: 2)
        try shelf.put("1.mp3", MP3(title: "First", artist: "Emile", album: "one", track: 1, cover: cover).bytes)
        try shelf.put("0.mp3", title: "Alone", artist: "Zoë", album: "A", track: 1)
        try shelf.put("Anna - 10.mp3")
        try shelf.put("notes.txt", [1])
        try shelf.put(".Trash-1000/files/gone.mp3", title: "Gone")
        try await shelf.withLibrary { library, updates in
            #expect(try await updates.first { $0 == .progress(done: 4, of: 4) ? true : nil })
            let songs = try await updates.songs()
            #expect(songs.map(\.title) == ["10", "First", "Second", "Alone"])
            #expect(songs.allSatisfy { $0.id.utf8.count == 15 && (0.9...1.3).contains($0.duration) })
            #expect(await library.file(of: songs[2].id) == shelf.path("x/2.mp3"))
            #expect(await library.find(SongQuery("emil sec"), atMost: 5).songs == [songs[2]])
            #expect(await library.cover(of: songs[1].id) == Cover(bytes: cover, mediaType: "image/png"))
            #expect(await library.cover(of: songs[2].id) == nil)
            #expect(await library.file(of: "nobody") == nil)
        }
    }

    @Test("a song keeps its id when its file is moved, renamed or edited, and when it comes back")
    func stableID() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "Before", artist: "A")
        try shelf.put("stays.mp3", title: "Other", artist: "B")
        try await shelf.withLibrary { library, updates in
            let id = try await updates.songs()[0].id
            mkdir(shelf.path("sub"), 0o700)
            shelf.move("a.mp3", to: "sub/b.mp3")
            while await library.file(of: id) != shelf.path("sub/b.mp3") { try await updates.songs() }
            try shelf.put("sub/b.mp3", title: "After", artist: "A")
            let edited = try await updates.songs { $0[0].title == "After" }
            #expect(edited[0].id == id)
            shelf.remove("sub/b.mp3")
            try await updates.songs { $0.count == 1 }
            #expect(await library.file(of: id) == nil)
            #expect(await library.find(SongQuery("after"), atMost: 1).songs.isEmpty)
            // Elsewhere, with other dates: its content identifies it.
            try shelf.put("c.mp3", title: "After", artist: "A")
            let copied = try await updates.songs { $0.count == 2 }
            #expect(copied[0].id == id)
            #expect(await library.file(of: id) == shelf.path("c.mp3"))
        }
    }

    @Test("a file that is moved onto another keeps its id, and without tags a new name is a new title")
    func renamed() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("A - One.mp3", MP3(album: "1").bytes)
        try shelf.put("B - Two.mp3", MP3(album: "2").bytes)
        try await shelf.withLibrary { library, updates in
            let songs = try await updates.songs()
            shelf.move("A - One.mp3", to: "B - Two.mp3")
            let after = try await updates.songs { $0.count == 1 }
            #expect(after.map(\.id) == [songs[0].id])
            #expect(after.map(\.title) == ["Two"] && after.map(\.artist) == ["B"])
            #expect(await library.file(of: songs[0].id) == shelf.path("B - Two.mp3"))
        }
    }

    @Test("two copies of a file are two songs, and the same ones after the index was lost")
    func copies() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "Same", artist: "A")
        try shelf.put("b/a.mp3", title: "Same", artist: "A")
        let before = try await shelf.withLibrary { _, updates in try await updates.songs() }
        #expect(Set(before.map(\.id)).count == 2)
        for suffix in ["", "-wal", "-shm"] { unlink(shelf.database + suffix) }
        #expect(try await shelf.withLibrary { _, updates in try await updates.songs() } == before)
    }

    @Test("at a second start the songs are there at once, and no file is read")
    func secondStart() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A", artist: "A")
        let before = try await shelf.withLibrary { _, updates in try await updates.songs() }
        // As after a power cut: this is reported before the folder is read.
        try FileManager.default.removeItem(atPath: shelf.folder)
        try await shelf.withLibrary { _, updates in
            let first = try await updates.first { $0 }
            #expect(first == .songs(before))
            #expect(try await updates.problem() == .folderMissing(path: shelf.folder))
        }
    }

    @Test("a removed USB stick is reported, and its songs stay and are available again later without being read")
    func pulled() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("sub/a.mp3", title: "A", artist: "A")
        try await shelf.withLibrary { library, updates in
            let songs = try await updates.songs()
            #expect(rename(shelf.folder, shelf.place + "/pulled") == 0)
            #expect(try await updates.problem() == .folderMissing(path: shelf.folder))
            #expect(await library.find(SongQuery("a"), atMost: 1).songs == songs)
            // The mount point of the stick.
            mkdir(shelf.folder, 0o700)
            #expect(try await updates.problem() == .folderAway(path: shelf.folder))
            rmdir(shelf.folder)
            #expect(rename(shelf.place + "/pulled", shelf.folder) == 0)
            #expect(try await updates.first { $0 == .recovered ? true : nil })
            try shelf.put("b.mp3", title: "B", artist: "B")
            // Only the new file was read.
            #expect(try await updates.first { if case .progress(_, let count) = $0 { count } else { nil } } == 1)
            #expect(try await updates.songs { $0.count == 2 }[0] == songs[0])
        }
    }

    @Test("a folder without music is reported, until its first song arrives")
    func empty() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try await shelf.withLibrary { _, updates in
            #expect(try await updates.songs().isEmpty)
            #expect(try await updates.problem() == .noSongs(path: shelf.folder))
            try shelf.put("a.mp3", title: "A", artist: "A")
            try await updates.songs { $0.count == 1 }
            #expect(try await updates.first { $0 == .recovered ? true : nil })
        }
    }

    @Test("a file that is being copied is read when it is complete")
    func copied() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A", artist: "A")
        let bytes = MP3(title: "Slow", artist: "B").bytes
        try await shelf.withLibrary { _, updates in
            try await updates.songs()
            let file = open(shelf.path("slow.mp3"), O_WRONLY | O_CREAT, 0o600)
            #expect(write(file, bytes, 60) == 60)
            try shelf.put("c.mp3", title: "C", artist: "C")
            #expect(try await updates.songs { $0.count > 1 }.map(\.title) == ["A", "C"])
            #expect(write(file, Array(bytes[60...]), bytes.count - 60) == bytes.count - 60)
            close(file)
            #expect(try await updates.songs { $0.count > 2 }.map(\.title) == ["A", "Slow", "C"])
        }
    }

    @Test(
        "a song in a new or moved-in folder is found, and one in a folder that was moved away is removed"
    )
    func folders() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A", artist: "A")
        try await shelf.withLibrary { library, updates in
            try await updates.songs()
            try shelf.put("x/y/b.mp3", title: "B", artist: "B")
            let id = try await updates.songs { $0.count == 2 }[1].id
            #expect(rename(shelf.path("x"), shelf.path("z")) == 0)
            while await library.file(of: id) != shelf.path("z/y/b.mp3") { try await updates.songs() }
            // The folder is still watched there.
            try shelf.put("z/y/c.mp3", title: "C", artist: "C")
            try await updates.songs { $0.count == 3 }
            #expect(rename(shelf.path("z"), shelf.place + "/z") == 0)
            try await updates.songs { $0.count == 1 }
        }
    }
}
