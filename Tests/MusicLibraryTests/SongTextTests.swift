// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MusicLibrary

@Suite("Titles of songs")
struct SongTextTests {
    @Test(
        "a file without tags gets its title from its name",
        arguments: [
            ("Nena - 99 Luftballons.mp3", "Nena", "99 Luftballons"),
            ("a/b/99 Luftballons.mp3", "Unknown artist", "99 Luftballons"),
            ("Album/01 Open Road.flac", "Unknown artist", "Open Road"),
            ("01. The Hairpins - Mountain Pass.ogg", "The Hairpins", "Mountain Pass"),
            ("07 - Mountain Pass.ogg", "Unknown artist", "Mountain Pass"),
            ("Coastline - Summer - 04 - Windows Down.mp3", "Coastline", "Windows Down"),
            ("Coastline - Windows Down - Live.mp3", "Coastline", "Windows Down - Live"),
            ("Odometer_-_Last_Exit_Home.wav", "Odometer", "Last Exit Home"),
            ("1999.mp3", "Unknown artist", "1999"),
            ("12.mp3", "Unknown artist", "12"),
            ("Mr. Blue.Sky.opus", "Unknown artist", "Mr. Blue.Sky"),
            (" - .mp3", "Unknown artist", "-"),
        ])
    func fromName(path: String, artist: String, title: String) {
        let text = SongText(title: "", artist: "", album: "", path: path)
        #expect(text.artist == artist)
        #expect(text.title == title)
        #expect(text.isFromName)
    }

    @Test("tags come before the name, and an artist's tag is combined with a title from the name")
    func tagsFirst() {
        let tagged = SongText(title: "Tunnel", artist: "", album: "", path: "A - B.mp3")
        #expect(tagged.title == "Tunnel" && tagged.artist == SongText.unknownArtist && !tagged.isFromName)
        let half = SongText(title: " \n", artist: "Night Drivers", album: "", path: "A - B.mp3")
        #expect(half.title == "B" && half.artist == "Night Drivers")
    }

    @Test("a title contains no control characters, and a long one is cut between two characters")
    func untrusted() {
        #expect(SongText.line("  a\u{1B}[31m\u{202E}b\r\nc\u{0}  d\u{FFFD} ", atMost: 160) == "a[31mb c d")
        let flags = SongText.line(String(repeating: "🇩🇪", count: 100), atMost: 160)
        #expect(flags.count == 20 && flags.utf8.count == 160)
        let cut = SongText.line(String(repeating: "é", count: 300), atMost: 161)
        #expect(cut.utf8.count == 160)
        #expect(SongText.line("e" + String(repeating: "\u{301}", count: 5_000), atMost: 160).isEmpty)
    }

    @Test(
        "music is recognised by the file name extension",
        arguments: [
            ("a.mp3", true), ("a.MP3", true), ("a.b.Flac", true), (".a.mp3", true), (".trashed-17-a.mp3", false),
            ("mp3", false),
            (".mp3", false), ("a.mp3.part", false), ("a.", false), ("cover.jpg", false), ("a.wv", true),
        ])
    func isMusic(name: String, expected: Bool) {
        #expect(AudioFormat.isMusic(name) == expected)
    }
}
