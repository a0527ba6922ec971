// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import MusicLibrary

@Suite("Searches for songs")
struct SearchTests {
    private func song(_ id: String, _ title: String, _ artist: String) -> Song {
        Song(id: id, title: title, artist: artist, duration: 200.5, albumArtURL: nil)
    }

    private var index: MusicIndex {
        get throws {
            try .inMemory([
                song("1", "Open Road", "The Milestones"), song("2", "Hyperballad", "Björk"),
                song("3", "Svefn-g-englar", "Sigur Rós"), song("4", "Road Trip", "Open Sky"),
                song("5", "Milestones", "Miles Davis"), song("6", "AND OR NOT", "NEAR"),
                song("7", "Don’t Stop", "Čechomor"),
            ])
        }
    }

    private func ids(_ typed: String, atMost limit: Int = 20) async throws -> [String] {
        try await index.songs(matching: typed, atMost: limit).map(\.id)
    }

    @Test(
        "the beginnings of words are enough, in any order, without accents and capitals",
        arguments: [
            ("bjork", ["2"]), ("BJÖ", ["2"]), ("hyper bj", ["2"]), ("ros sig", ["3"]), ("englar", ["3"]),
            ("svefn-g", ["3"]), ("cecho", ["7"]), ("don't", ["7"]), ("dont", ["7"]), ("oad", ["1", "4"]),
            ("road xyz", []),
        ])
    func beginnings(typed: String, expected: [String]) async throws {
        #expect(try await ids(typed) == expected)
    }

    @Test("a title comes before an artist")
    func ranked() async throws {
        #expect(try await ids("open") == ["1", "4"])
        #expect(try await ids("miles").first == "5")
        #expect(try await ids("milestones") == ["5", "1"])
    }

    @Test(
        "any typed text is words, never an error",
        arguments: [
            "\"", "\"\"", "road\"", "*", "ro*", "AND", "OR", "NOT", "NEAR(a b)", "title:road", "^road", "(", "-road",
            "+", "{a b} : c", "road\0", "🎉", "🎉 road", "'; DROP TABLE song; --", "\u{1B}[0m", "a\u{301}", "…", "½",
            String(repeating: "a ", count: 500), String(repeating: "\"", count: 127),
        ])
    func anything(typed: String) async throws {
        _ = try await index.songs(matching: typed, atMost: 20)
    }

    @Test("operators are normal words, and other characters do not count")
    func data() async throws {
        #expect(try await ids("NOT") == ["6"])
        #expect(try await ids("and or") == ["6"])
        #expect(try await ids("🎉 hyperballad \"") == ["2"])
        for nothing in ["", "  ", "🎉", "\"\""] { #expect(try await ids(nothing).isEmpty) }
    }

    @Test("the number of results is limited")
    func limited() async throws {
        #expect(try await ids("o", atMost: 1).count == 1)
        #expect(try await ids("o", atMost: 0).isEmpty)
    }

    @Test("a list's songs are in its order, complete, and of two with one id the first counts")
    func listed() async throws {
        let songs = [
            Song(id: "b", title: "Z", artist: "Z", duration: 1.25, albumArtURL: "https://a.example/z.png"),
            song("a", "A", "A"), song("b", "B", "B"),
        ]
        let listed = try MusicIndex.inMemory(songs)
        #expect(try await listed.songs() == Array(songs.prefix(2)))
    }
}
