// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import MusicLibrary

@Suite("Browsing a library, and searches with a typing error")
struct BrowsingTests {
    private static let songs = [
        ("1", "Bohemian Rhapsody", "Queen"), ("2", "Killer Queen", "Queen"), ("3", "Yesterday", "The Beatles"),
        ("4", "Help!", "The Beatles"), ("5", "Für Elise", "Beethoven"), ("6", "Symphony No. 5", "Beethoven"),
        ("7", "Dancing Queen", "ABBA"), ("8", "Silence", ""),
    ].map { Song(id: $0.0, title: $0.1, artist: $0.2, duration: 200) }

    private func find(_ query: SongQuery, atMost limit: Int = 20) async throws -> FoundSongs {
        try await MusicIndex.inMemory(Self.songs).find(query, atMost: limit)
    }

    @Test(
        "a word that no song has is replaced by the most similar one, and this is reported",
        arguments: [
            ("qeen", "queen", 3), ("quene", "queen", 3), ("beetoven", "beethoven", 2),
            ("bethoven elise", "beethoven elise", 1),
            ("beatels", "beatles", 2), ("bohemain", "bohemian", 1), ("yesterdya", "yesterday", 1),
            ("symfony", "symphony", 1),
        ] as [(String, String, Int)])
    func slips(typed: String, meant: String, count: Int) async throws {
        let found = try await find(SongQuery(typed))
        #expect(found.lookedFor == meant)
        #expect(found.total == count && found.songs.count == count)
    }

    @Test(
        "a correct word is not replaced, and one without a similar word finds nothing",
        arguments: ["queen beethoven", "xyzzy", "abc", "qq", "", "!!", "qeen xyzzy", "\"", "queen\0"])
    func noSlip(typed: String) async throws {
        let found = try await find(SongQuery(typed))
        #expect(found.lookedFor == nil)
        if typed != "queen\0" { #expect(found == []) }
    }

    @Test("a search reports the number of results, and has more after the first page")
    func pages() async throws {
        let first = try await find("queen", atMost: 2)
        #expect(first.total == 3 && first.songs.count == 2)
        let query = try #require(SongQuery("queen").more(after: first))
        let second = try await find(query, atMost: 2)
        #expect(second.total == 3 && second.songs.count == 1)
        #expect(Set((first.songs + second.songs).map(\.id)) == ["1", "2", "7"])
        #expect(query.more(after: second) == nil)
        #expect(try await find(SongQuery("queen", from: 50)).songs.isEmpty)
    }

    @Test("artists are in alphabetical order, each once, and show their songs")
    func artists() async throws {
        let found = try await find(SongQuery(on: .artists))
        #expect(found.groups.map(\.name) == ["ABBA", "Beethoven", "Queen", "The Beatles"])
        #expect(found.groups.map(\.songs) == [1, 2, 2, 2] && found.total == 4)
        let queen = try #require(found.groups.first { $0.name == "Queen" })
        #expect(try await find(SongQuery(queen.id, on: .artist)).songs.map(\.id) == ["1", "2"])
        let rest = try await find(SongQuery(on: .artists, from: 3), atMost: 2)
        #expect(rest.groups.map(\.name) == ["The Beatles"] && rest.total == 4)
    }

    @Test("the last songs of a list are the newest")
    func newest() async throws {
        let found = try await find(SongQuery(on: .newest), atMost: 3)
        #expect(found.songs.map(\.id) == ["8", "7", "6"] && found.total == 8)
    }

    @Test("an album is a name and a folder: with many artists it is one, and two with one name are two")
    func albums() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("ana/1.mp3", title: "One", artist: "Ana", album: "Greatest Hits", track: 1)
        try shelf.put("ana/2.mp3", title: "Two", artist: "ANA", album: "Greatest Hits", track: 2)
        try shelf.put("bob/1.mp3", title: "Uno", artist: "Bob", album: "Greatest Hits", track: 1)
        try shelf.put("mix/1.mp3", title: "Eins", artist: "Ana", album: "Mix", track: 2)
        try shelf.put("mix/2.mp3", title: "Zwei", artist: "Bob", album: "Mix", track: 1)
        try await shelf.withLibrary { library, updates in
            _ = try await updates.songs { $0.count == 5 }
            let found = await library.find(SongQuery(on: .albums), atMost: 20)
            #expect(found.groups.map(\.name) == ["Greatest Hits", "Greatest Hits", "Mix"] && found.total == 3)
            #expect(found.groups.map(\.artist) == ["Ana", "Bob", ""])
            #expect(found.groups.map(\.songs) == [2, 1, 2])
            let first = await library.find(SongQuery(found.groups[0].id, on: .album), atMost: 20)
            #expect(first.songs.map(\.title) == ["One", "Two"])
            let artists = await library.find(SongQuery(on: .artists), atMost: 20)
            #expect(artists.groups.map(\.songs) == [3, 2])
            let newest = await library.find(SongQuery(on: .newest), atMost: 1)
            #expect(newest.total == 5 && newest.songs.count == 1)
        }
    }

    @Test("a shelf of something that does not exist is empty", arguments: SongQuery.Shelf.allCases)
    func nothing(shelf: SongQuery.Shelf) async throws {
        guard ![.artists, .newest].contains(shelf) else { return }
        #expect(try await find(SongQuery("nobody", on: shelf)) == [])
    }
}
