// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MusicLibrary

@Suite("Leading dots, recycle bins and data of file systems")
struct SystemFilesTests {
    @Test("a dot at the beginning of a name has no meaning")
    func leadingDots() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        let names = [
            "...And Justice for All/01 Blackened.mp3", ".38 Special/Hold On Loosely.mp3", ".hack/SIGN/.obsession.mp3",
            "...Baby One More Time.mp3", ".5: The Gray Chapter/Sarcastrophe.mp3", "._not a Mac's.mp3",
            ".Trashcan Sinatras/a.mp3",
            ".../x.mp3", "Trash/Personality Crisis.mp3", "Found.000 Miles/x.mp3", "Recycler's Delight/x.mp3",
        ]
        for name in names { try shelf.put(name, title: name) }
        #expect(Set(try FolderWalk(shelf.folder, limits: .standard).files.map(\.path)) == Set(names))
    }

    @Test(
        "files of operating systems are left out",
        arguments: [
            "$RECYCLE.BIN/S-1-5-21/$R1.mp3", "RECYCLER/S-1/Dc1.mp3", "Recycled/Dc1.mp3",
            "System Volume Information/a.mp3",
            "FOUND.000/FILE0000.mp3", ".Trashes/501/a.mp3", ".Trash/a.mp3", ".Trash-1000/files/a.mp3",
            ".Spotlight-V100/a.mp3",
            ".fseventsd/a.mp3", ".TemporaryItems/a.mp3", ".AppleDouble/a.mp3", "__MACOSX/a/a.mp3", "lost+found/a.mp3",
            ".cache/a.mp3", ".local/share/Trash/files/a.mp3", "home/.local/share/Trash/files/a.mp3",
            ".zfs/snapshot/a.mp3",
            ".snapshots/1/a.mp3", "LOST.DIR/a.mp3", "@eaDir/a.mp3", "#recycle/a.mp3", "@Recycle/a.mp3",
            ".recycle/a.mp3",
            ".stversions/a.mp3", ".trashed-1700000000-a.mp3", "Album/.pending-1700000000-a.mp3",
            "Album/$recycle.bin/a.mp3",
            ".mp3", "..mp3/..",
        ])
    func systems(name: String) throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        if !name.hasSuffix("..") { try shelf.put(name, title: "a") }
        try shelf.put("kept.mp3", title: "kept")
        #expect(try FolderWalk(shelf.folder, limits: .standard).files.map(\.path) == ["kept.mp3"])
    }

    @Test("a Mac's additional file of a song is not a song, whatever its name")
    func appleDouble() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "a")
        try shelf.put("._a.mp3", [0x00, 0x05, 0x16, 0x07, 0x00, 0x02, 0x00, 0x00] + Array("Mac OS X        ".utf8))
        try shelf.put("._b.mp3", [])
        #expect(try FolderWalk(shelf.folder, limits: .standard).files.map(\.path) == ["a.mp3"])
    }

    @Test("a song in a new folder with a dot is found, and one that is put into a recycle bin is removed")
    func watched() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: "A")
        try shelf.put(".Trash-1000/files/old.mp3", title: "Old")
        try await shelf.withLibrary { _, updates in
            try await updates.songs { $0.map(\.title) == ["A"] }
            try shelf.put("...And Justice for All/b.mp3", title: "B")
            try await updates.songs { Set($0.map(\.title)) == ["A", "B"] }
            shelf.move("a.mp3", to: ".Trash-1000/files/a.mp3")
            try await updates.songs { $0.map(\.title) == ["B"] }
        }
    }
}
