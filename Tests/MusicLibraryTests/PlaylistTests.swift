// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import MusicLibrary

@Suite("Playlists")
struct PlaylistTests {
    private func read(_ text: String, isPLS: Bool = false, limits: LibraryLimits = .standard) -> Playlist {
        Playlist(Array(text.utf8), in: "/music/lists", isPLS: isPLS, limits: limits)
    }

    @Test("an M3U lists its files, in the forms of all programs")
    func m3u() {
        let list = read(
            "\u{FEFF}#EXTM3U\r\n#EXTINF:123,Ana - One\r\n../Ana/One.mp3\r\n\r\n  /media/stick/Two.mp3 \r\n"
                + "file:///music/Drei%20Vier.mp3\nBob\\Five.mp3\nhttp://radio.example/stream\n./sub/../Six.mp3\n")
        #expect(
            list.entries.map(\.text) == [
                "/music/Ana/One.mp3", "/media/stick/Two.mp3", "/music/Drei Vier.mp3", "/music/lists/Bob/Five.mp3",
                "/music/lists/Six.mp3",
            ])
        #expect(list.others == 1)
    }

    @Test("a PLS lists its files, and its titles and lengths do not count")
    func pls() {
        let list = read(
            "[playlist]\nFile1=One.mp3\nTitle1=File\nLength1=7\n file2 = Two.mp3\nFileX=x\nNumberOfEntries=2\nVersion=2\n",
            isPLS: true)
        #expect(list.entries.map(\.text) == ["/music/lists/One.mp3", "/music/lists/Two.mp3"])
    }

    @Test("text that is not UTF-8 is read as Latin-1")
    func latin() {
        let list = Playlist([0x66, 0xFC, 0x72, 0x2E, 0x6D, 0x70, 0x33], in: "/m", isPLS: false, limits: .standard)
        #expect(list.entries.map(\.text) == ["/m/für.mp3"])
    }

    @Test(
        "rubbish names nothing, and nothing leads above the root",
        arguments: ["", "#", "\n\n\n", "\0\0\0", "file://", "file:", "https://x", "smb://x/y"])
    func rubbish(text: String) {
        #expect(read(text).entries.isEmpty)
        #expect(read("../../../../../" + "etc/x.mp3").entries.map(\.text) == ["/etc/x.mp3"])
    }

    private static let songs = [
        (path: "Queen/Jazz/Mustapha.mp3", id: "1"), (path: "Björk/Jóga.mp3", id: "2"),
        (path: "100% Hits/01.mp3", id: "3"),
        (path: "ABBA/01.mp3", id: "4"), (path: "Live/Queen/Jazz/Mustapha live.mp3", id: "5"), (path: "01.mp3", id: "6"),
        (path: "宇多田ヒカル/表裏一体.mp3", id: "7"), (path: "ДДТ/Осень.mp3", id: "8"), (path: "Case/song.mp3", id: "9"),
        (path: "Case/Song.mp3", id: "10"), (path: "Mötley Crüe/Für Elise.mp3", id: "11"),
        (path: "周杰倫/青花瓷.mp3", id: "12"), (path: "아이유/좋은 날.mp3", id: "13"), (path: "Χάρις/Τραγούδι.mp3", id: "14"),
        (path: "Şebnem/Sigara.mp3", id: "15"), (path: "Queen/Jazz/50%25 off.mp3", id: "16"),
    ]

    private func matched(_ list: Playlist) -> [String?] {
        let matching = PlaylistMatching(Self.songs, in: "/music", for: list.entries)
        return list.entries.map(matching.song)
    }

    @Test(
        "an entry is the song with the longest common end of its path",
        arguments: [
            ("C:/Musik/Queen/Jazz/Mustapha.mp3", "1"), ("D:\\Queen\\jazz\\MUSTAPHA.MP3", "1"),
            ("E:\\Musik/Queen\\Jazz/Mustapha.mp3", "1"), ("\\\\server\\Musik\\Queen\\Jazz\\Mustapha.mp3", "1"),
            ("file:///C:/Musik/Queen/Jazz/Mustapha.mp3", "1"), ("file://localhost/home/Queen/Jazz/Mustapha.mp3", "1"),
            ("file://server/Musik/Queen/Jazz/Mustapha.mp3", "1"), ("FILE:///Queen/Jazz/Mustapha%2Emp3", "1"),
            ("/media/stick/Bjo\u{308}rk/Jo\u{301}ga.mp3", "2"), ("../Bj%C3%B6rk/J%C3%B3ga.mp3", "2"),
            ("file:///m/Bj%F6rk/J%F3ga.mp3", "2"), ("ＢＪÖＲＫ\\jóga.mp3", "2"), ("/home/ana/100% Hits/01.mp3", "3"),
            ("100%25%20Hits/01.mp3", "3"), ("ABBA\\01.mp3", "4"), ("/music/01.mp3", "6"),
            ("/music/ABBA/../01.mp3", "6"),
            ("/elsewhere/01.mp3", nil), ("/Queen/Jazz/None.mp3", nil), ("/m/Case/song.mp3", "9"),
            ("/m/Case/Song.mp3", "10"),
            ("/m/Case/SONG.mp3", nil), ("Queen/Jazz/50%25 off.mp3", "16"), ("Queen/Jazz/50%2525 off.mp3", "16"),
        ] as [(String, String?)])
    func matched(entry: String, expected: String?) {
        #expect(matched(read(entry)) == [expected])
    }

    /// A text as iconv(1) writes it.
    private func encoded(_ text: String, as encoding: String) throws -> [UInt8] {
        let converter = try #require(iconv_open(encoding, "UTF-8"))
        defer { iconv_close(converter) }
        var input = Array(text.utf8.map { CChar(bitPattern: $0) })
        var output = [CChar](repeating: 0, count: input.count * 4 + 4)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var (from, to) = (input.baseAddress, output.baseAddress)
                var (left, room) = (input.count, output.count)
                iconv(converter, &from, &left, &to, &room)
                return left == 0 ? output.count - room : 0
            }
        }
        return output[..<count].map { UInt8(bitPattern: $0) }
    }

    @Test(
        "the encoding is the one in which an entry names a song",
        arguments: [
            ("CP932", "宇多田ヒカル\\表裏一体.mp3", "7"), ("EUC-JP", "宇多田ヒカル/表裏一体.mp3", "7"),
            ("UTF-16LE", "宇多田ヒカル\\表裏一体.mp3", "7"), ("UTF-16BE", "D:\\宇多田ヒカル\\表裏一体.mp3", "7"),
            ("UTF-16", "宇多田ヒカル\\表裏一体.mp3", "7"), ("CP1251", "C:\\ДДТ\\Осень.mp3", "8"),
            ("KOI8-R", "ДДТ/Осень.mp3", "8"), ("CP866", "ДДТ\\Осень.mp3", "8"),
            ("CP1252", "Mötley Crüe\\Für Elise.mp3", "11"),
            ("CP850", "Mötley Crüe\\Für Elise.mp3", "11"), ("MACINTOSH", "Mötley Crüe/Für Elise.mp3", "11"),
            ("BIG5", "周杰倫\\青花瓷.mp3", "12"), ("GB18030", "周杰倫\\青花瓷.mp3", "12"), ("UHC", "아이유\\좋은 날.mp3", "13"),
            ("CP1253", "Χάρις\\Τραγούδι.mp3", "14"), ("CP1254", "Şebnem\\Sigara.mp3", "15"),
        ])
    func encodings(encoding: String, entry: String, expected: String) throws {
        for ending in ["\r\n", "\n"] {
            let text = ["#EXTM3U", "#EXTINF:1,x", entry, "Queen/Jazz/Mustapha.mp3", ""].joined(separator: ending)
            let bytes = try encoded(text, as: encoding)
            try #require(!bytes.isEmpty)
            let list = Playlist(bytes, in: "/lists", isPLS: false, limits: .standard)
            #expect(matched(list) == [expected, "1"])
        }
    }

    @Test("missing entries are counted and named, and a link counts as its file")
    func links() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("Queen/Jazz.mp3", title: "Jazz")
        try shelf.put("ABBA/SOS.mp3", title: "SOS")
        let files = FileManager.default
        let outside = shelf.place + "/links"
        try files.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: outside + "/one.mp3", withDestinationPath: shelf.path("Queen/Jazz.mp3"))
        try files.linkItem(atPath: shelf.path("ABBA/SOS.mp3"), toPath: outside + "/two.mp3")
        try Data("one.mp3\ntwo.mp3\nthree.mp3\nhttp://radio/x\nQueen/Jazz.mp3\n".utf8)
            .write(to: URL(filePath: outside + "/list.m3u"))
        try await shelf.withLibrary { library, updates in
            try await updates.songs { $0.count == 2 }
            let found = await library.songs(ofPlaylist: outside + "/list.m3u")
            #expect(found?.songs.count == 3 && found?.songs.first == found?.songs.last)
            #expect(found?.entries == 4 && found?.missing == 1 && found?.example == outside + "/three.mp3")
            #expect(await library.songs(ofPlaylist: outside + "/none.m3u") == nil)
        }
    }

    @Test("an endless playlist is cut off")
    func limits() {
        var limits = LibraryLimits()
        limits.playlistEntries = 10
        #expect(read(String(repeating: "a.mp3\n", count: 1_000), limits: limits).entries.count == 10)
        #expect(read(String(repeating: "x", count: 5_000)).entries.isEmpty)
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

    @Test(
        "a playlist is meant by its path, or by the name of its file if that is the only one",
        arguments: [
            ("lists/Quiet.m3u", "lists/Quiet.m3u"), ("quiet", "lists/Quiet.m3u"), ("QUIET.M3U", "lists/Quiet.m3u"),
            ("ete 1.2", "Été 1.2.pls"), ("Road", nil), ("a/road", nil), ("a/road.m3u", "a/Road.m3u"), ("Rain", nil),
            ("", ""),
        ] as [(String, String?)])
    func meant(typed: String, name: String?) {
        let known = ["lists/Quiet.m3u", "Été 1.2.pls", "a/Road.m3u", "b/Road.m3u"]
        #expect(PlaylistFiles.meant(by: typed, among: known) == name)
    }
}
