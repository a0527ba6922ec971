// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import TestSupport
import Testing

@testable import MusicLibrary

@Suite("Several artists of one song")
struct ArtistNamesTests {
    @Test(
        "each value of a tag, and each of several names in one value, is an artist",
        arguments: [
            (["Queen", "David Bowie"], "Queen, David Bowie", ["Queen", "David Bowie"]),
            (["Queen; David Bowie"], "Queen, David Bowie", ["Queen", "David Bowie"]),
            (["Queen / David Bowie"], "Queen, David Bowie", ["Queen", "David Bowie"]),
            (["Eminem feat. Dido"], "Eminem feat. Dido", ["Eminem", "Dido"]),
            (["Eminem (FEAT. Dido)"], "Eminem (FEAT. Dido)", ["Eminem", "Dido"]),
            (["A ft. B", "C"], "A ft. B, C", ["A", "B", "C"]),
            (["Jay-Z Featuring Alicia Keys"], "Jay-Z Featuring Alicia Keys", ["Jay-Z", "Alicia Keys"]),
            (["Queen", "queen", "QUEEN"], "Queen, queen, QUEEN", ["Queen"]),
            (["AC/DC"], "AC/DC", ["AC/DC"]),
            (["Simon & Garfunkel"], "Simon & Garfunkel", ["Simon & Garfunkel"]),
            (["Earth, Wind & Fire"], "Earth, Wind & Fire", ["Earth, Wind & Fire"]),
            (["Tyler, The Creator"], "Tyler, The Creator", ["Tyler, The Creator"]),
            (["Little Feat"], "Little Feat", ["Little Feat"]),
            ([], "", []),
        ] as [([String], String, [String])])
    func names(values: [String], shown: String, names: [String]) {
        let artists = ArtistNames(values, limits: .standard)
        #expect(artists.shown == shown)
        #expect(artists.names == names)
    }

    @Test("a guest that the title names is an artist as well")
    func ofTitle() {
        let text = SongText(title: "Stan (feat. Dido) [Live]", artist: "Eminem", album: "", path: "a.mp3")
        #expect(text.artists == ["Eminem", "Dido"])
        #expect(text.artist == "Eminem")
        #expect(SongText(title: "Feats", artist: "Eminem", album: "", path: "a.mp3").artists == ["Eminem"])
        #expect(SongText(title: "", artist: "", album: "", path: "a.mp3").artists == [SongText.unknownArtist])
    }

    @Test("a song is on the shelf of each of its artists, and each is found by its name")
    func shelves() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        // ID3v2.4 has a zero between two values.
        try shelf.put("1.mp3", title: "Under Pressure", artist: "Queen\0David Bowie")
        try shelf.put("2.mp3", title: "Innuendo", artist: "Queen")
        try shelf.put("3.mp3", title: "Stan", artist: "Eminem feat. Dido")
        try await shelf.withLibrary { library, updates in
            try await updates.songs { $0.count == 3 }
            let artists = await library.find(SongQuery(on: .artists), atMost: 20).groups
            #expect(artists.map(\.name) == ["David Bowie", "Dido", "Eminem", "Queen"])
            #expect(artists.map(\.songs) == [1, 1, 1, 2])
            for (artist, titles) in [
                ("David Bowie", ["Under Pressure"]), ("Dido", ["Stan"]), ("Queen", ["Innuendo", "Under Pressure"]),
            ] {
                let group = try #require(artists.first { $0.name == artist })
                let songs = await library.find(SongQuery(group.id, on: .artist), atMost: 20).songs
                #expect(songs.map(\.title).sorted() == titles)
                let found = await library.find(SongQuery(artist), atMost: 20)
                #expect(found.artists.map(\.name).contains(artist))
            }
            let song = await library.find(SongQuery("pressure"), atMost: 1).songs.first
            #expect(song?.artist == "Queen, David Bowie")
        }
    }
}
