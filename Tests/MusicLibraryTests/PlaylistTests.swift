// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MusicLibrary

@Suite("Playlists")
struct PlaylistTests {
    private func read(_ text: String, isPLS: Bool = false, limits: LibraryLimits = .standard) -> Playlist {
        Playlist(Array(text.utf8), in: "/music/lists", isPLS: isPLS, limits: limits)
    }

    @Test("an M3U names its files, by whatever program it was written")
    func m3u() {
        let list = read(
            "\u{FEFF}#EXTM3U\r\n#EXTINF:123,Ana - One\r\n../Ana/One.mp3\r\n\r\n  /media/stick/Two.mp3 \r\n"
                + "file:///music/Drei%20Vier.mp3\nBob\\Five.mp3\nhttp://radio.example/stream\n./sub/../Six.mp3\n")
        #expect(
            list.files == [
                "/music/Ana/One.mp3", "/media/stick/Two.mp3", "/music/Drei Vier.mp3", "/music/lists/Bob/Five.mp3",
                "/music/lists/Six.mp3",
            ])
        #expect(list.others == 1)
    }

    @Test("a PLS names its files, and its titles and lengths are none")
    func pls() {
        let list = read(
            "[playlist]\nFile1=One.mp3\nTitle1=File\nLength1=7\n file2 = Two.mp3\nFileX=x\nNumberOfEntries=2\nVersion=2\n",
            isPLS: true)
        #expect(list.files == ["/music/lists/One.mp3", "/music/lists/Two.mp3"])
    }

    @Test("what is not UTF-8 is Latin-1")
    func latin() {
        let list = Playlist([0x66, 0xFC, 0x72, 0x2E, 0x6D, 0x70, 0x33], in: "/m", isPLS: false, limits: .standard)
        #expect(list.files == ["/m/für.mp3"])
    }

    @Test(
        "rubbish names nothing, and nothing leads above the root",
        arguments: ["", "#", "\n\n\n", "\0\0\0", "file://%ZZ", "file://host/x.mp3", "https://x", "smb://x/y"])
    func rubbish(text: String) {
        #expect(read(text).files.isEmpty)
        #expect(read("../../../../../" + "etc/x.mp3").files == ["/etc/x.mp3"])
    }

    @Test(
        "an entry names the song with the longest common end of its path",
        arguments: [
            ("/music/lists/C:/Musik/Queen/Jazz/Mustapha.mp3", "1"), ("D:\\Queen\\jazz\\MUSTAPHA.MP3", "1"),
            ("E:\\Musik/Queen\\Jazz/Mustapha.mp3", "1"), ("/media/stick/Bjo\u{308}rk/Jo\u{301}ga.mp3", "2"),
            ("../Bj%C3%B6rk/J%C3%B3ga.mp3", "2"), ("/home/ana/100% Hits/01.mp3", "3"), ("ABBA\\01.mp3", "4"),
            ("/elsewhere/01.mp3", nil), ("/Queen/Jazz/None.mp3", nil),
        ] as [(String, String?)])
    func matched(entry: String, expected: String?) {
        let songs = [
            (path: "Queen/Jazz/Mustapha.mp3", id: "1"), (path: "Björk/Jóga.mp3", id: "2"),
            (path: "100% Hits/01.mp3", id: "3"),
            (path: "ABBA/01.mp3", id: "4"), (path: "Live/Queen/Jazz/Mustapha live.mp3", id: "5"),
        ]
        #expect(PlaylistMatching(songs, for: [entry]).song(for: entry) == expected)
    }

    @Test("a playlist without end is cut off")
    func limits() {
        var limits = LibraryLimits()
        limits.playlistEntries = 10
        #expect(read(String(repeating: "a.mp3\n", count: 1_000), limits: limits).files.count == 10)
        #expect(read(String(repeating: "x", count: 5_000)).files.isEmpty)
    }

    @Test("the playlists of a library are those in its folder and in the folders directly in it")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/playlists-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for path in ["Zoo.pls", "Abba.M3U8", "Song.mp3", ".hidden.m3u", "lists/Quiet.m3u", "lists/deep/No.m3u"] {
            let file = URL(filePath: folder + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("Song.mp3".utf8).write(to: file)
        }
        #expect(PlaylistFiles.find(in: folder, limits: LibraryLimits()) == ["Abba.M3U8", "Zoo.pls", "lists/Quiet.m3u"])
        var limits = LibraryLimits()
        limits.playlists = 1
        #expect(PlaylistFiles.find(in: folder, limits: limits) == ["Abba.M3U8"])
        #expect(PlaylistFiles.find(in: folder + "/nowhere", limits: limits).isEmpty)
    }
}
