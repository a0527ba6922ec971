// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Testing

@testable import MusicLibrary

@Suite("The order of albums")
struct AlbumOrderTests {
    /// The titles of a folder's songs in playing order, and its albums with their titles.
    private func read(
        _ fill: (MusicShelf) throws -> Int
    ) async throws -> (titles: [String], albums: [[String]], artists: [String]) {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        let count = try fill(shelf)
        return try await shelf.withLibrary { library, updates in
            let songs = try await updates.songs { $0.count == count }
            var albums: [[String]] = []
            for group in await library.find(SongQuery(on: .albums), atMost: 20).groups {
                albums.append(await library.find(SongQuery(group.id, on: .album), atMost: 50).songs.map(\.title))
            }
            let artists = await library.find(SongQuery(on: .artists), atMost: 20).groups.map(\.name)
            return (songs.map(\.title), albums, artists)
        }
    }

    @Test("an album plays by disc and then by track")
    func discs() async throws {
        let read = try await read { shelf in
            for disc in 1...2 {
                for track in 1...3 {
                    try shelf.put(
                        "The Wall/\(9 - track)\(disc).mp3", title: "\(disc).\(track)", artist: "Pink Floyd",
                        album: "The Wall", track: track, disc: disc)
                }
            }
            return 6
        }
        #expect(read.titles == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"])
        #expect(read.albums == [read.titles])
    }

    @Test(
        "folders of discs are one album, and give the disc number if the tags lack it",
        arguments: [
            ("W/CD1", "W/CD2"), ("W/Disc 1", "W/Disc 2"), ("W/W (Disc 1)", "W/W (Disc 2)"), ("W/cd 02", "W/CD 10"),
            ("W/Disk One", "W/Disk Two"),
        ])
    func folders(first: String, second: String) async throws {
        let read = try await read { shelf in
            for (disc, folder) in [first, second].enumerated() {
                for track in 1...2 {
                    try shelf.put(
                        "\(folder)/\(track).mp3", title: "\(disc + 1).\(track)", artist: "Pink Floyd",
                        album: "The Wall",
                        track: track)
                }
            }
            return 4
        }
        #expect(read.titles == ["1.1", "1.2", "2.1", "2.2"])
        #expect(read.albums == [read.titles])
    }

    @Test("an album of several artists plays by track, with an album artist and without", arguments: ["", "Various"])
    func compilation(albumArtist: String) async throws {
        let artists = ["Zappa", "Abba", "Muse", "Beck", "Air", "Can", "Blur", "Yes", "ELO", "Kiss", "INXS"]
        let read = try await read { shelf in
            for (place, artist) in artists.enumerated() {
                try shelf.put(
                    "Now/\(artist).mp3", title: "\(place + 1)", artist: artist, album: "Now 1", track: place + 1,
                    albumArtist: albumArtist)
            }
            return artists.count
        }
        #expect(read.titles == (1...11).map(String.init))
        #expect(read.albums == [read.titles])
    }

    @Test("files without tags play by name with numbers in numerical order, and are the album of their folder")
    func untagged() async throws {
        let read = try await read { shelf in
            for name in ["10 Ten", "9 Nine", "1 One", "02 Two"] { try shelf.put("Road Mix/\(name).mp3") }
            try shelf.put("Road Mix/CD 2/1 Other.mp3")
            try shelf.put("loose.mp3")
            return 6
        }
        #expect(read.titles == ["loose", "1 One", "Two", "9 Nine", "10 Ten", "1 Other"])
        #expect(read.albums == [Array(read.titles.dropFirst())])
    }

    @Test("songs without a track number come after those with one, by name, which may begin with it")
    func withoutTracks() async throws {
        let read = try await read { shelf in
            func put(_ name: String, _ title: String, _ track: Int = 0, _ disc: Int = 0) throws {
                try shelf.put("a/" + name, title: title, artist: "A", album: "Album", track: track, disc: disc)
            }
            try put("x.mp3", "1", 1)
            try put("02 - y.mp3", "2")
            try put("1-03 z.mp3", "3")
            try put("bonus 10.mp3", "5")
            try put("bonus 9.mp3", "4")
            try put("2-01 w.mp3", "6")
            return 6
        }
        #expect(read.titles == ["1", "2", "3", "4", "5", "6"])
    }

    @Test("similar albums stay separate: in other folders, by other artists, with other letters")
    func albumsAlike() async throws {
        let read = try await read { shelf in
            for track in 1...2 {
                for artist in ["Queen", "ABBA"] {
                    try shelf.put(
                        "loose/\(artist)\(track).mp3", title: "\(artist) \(track)", artist: artist,
                        album: "Greatest Hits",
                        track: track)
                    try shelf.put(
                        "named/\(artist)\(track).mp3", title: "\(artist) tagged \(track)", artist: "\(track)",
                        album: "Live",
                        track: track, albumArtist: artist)
                }
                for (place, album) in ["!!!", "???", "Résumé", "Resume"].enumerated() {
                    try shelf.put(
                        "odd/\(place)-\(track).mp3", title: "\(album) \(track)", artist: "C", album: album, track: track
                    )
                }
            }
            return 16
        }
        #expect(
            Set(read.albums) == [
                ["Queen 1", "Queen 2"], ["ABBA 1", "ABBA 2"], ["Queen tagged 1", "Queen tagged 2"],
                ["ABBA tagged 1", "ABBA tagged 2"], ["!!! 1", "!!! 2"], ["??? 1", "??? 2"], ["Résumé 1", "Résumé 2"],
                ["Resume 1", "Resume 2"],
            ])
    }

    @Test("similar artists stay separate, except for different capitals")
    func artistsAlike() async throws {
        let names = ["!!!", "???", "Mø", "Mo", "Mö", "BTS", "bts", "АВВА", "ABBA", "की", "का"]
        let read = try await read { shelf in
            for name in names { try shelf.put("\(name).mp3", title: name, artist: name, album: "A") }
            return names.count
        }
        #expect(Set(read.artists.map { $0.uppercased() }) == Set(names.map { $0.uppercased() }))
        #expect(read.artists.count == names.count - 1)
    }

    @Test("the order follows a moved song, and a new or removed artist")
    func changes() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("Mix/CD1/1.mp3", title: "1", artist: "B", album: "Mix", track: 1)
        try shelf.put("Mix/CD1/2.mp3", title: "2", artist: "B", album: "Mix", track: 2)
        try shelf.put("Mix/CD2/1.mp3", title: "3", artist: "B", album: "Mix", track: 1)
        try shelf.put("M.mp3", title: "M", artist: "M", album: "M")
        try await shelf.withLibrary { _, updates in
            try await updates.songs { $0.map(\.title) == ["1", "2", "3", "M"] }
            shelf.move("Mix/CD1/1.mp3", to: "Mix/CD2/9.mp3")
            try await updates.songs { $0.map(\.title) == ["2", "3", "1", "M"] }
            try shelf.put("Mix/CD2/4.mp3", title: "4", artist: "A", album: "Mix", track: 4)
            // With several artists it is under "Various Artists".
            try await updates.songs { $0.map(\.title) == ["M", "2", "3", "1", "4"] }
            shelf.remove("Mix/CD2/4.mp3")
            try await updates.songs { $0.map(\.title) == ["2", "3", "1", "M"] }
        }
    }

    @Test("an index of an earlier version keeps the ids of songs, and its files are read again")
    func migrated() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a/1.mp3", title: "Ёлка", artist: "A", album: "Album", track: 2, disc: 2)
        try shelf.put("a/2.mp3", title: "Later", artist: "A", album: "Album", track: 1, disc: 2)
        let file = try FolderWalk(shelf.folder, limits: .standard).files[0]
        let queue = try DatabaseQueue(path: shelf.database)
        try IndexSchema.migrator.migrate(queue, upTo: "2: the words themselves, and what is newest")
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO song VALUES
                    (1, 'edited', ?, ?, ?, ?, 'c', 0, 1, 'Ёлка', 'A', 'Album', 500, 0, 0, NULL, 'a')
                    """, arguments: file.arguments)
            try db.execute(sql: "INSERT INTO folder VALUES (1, ?, 1, 1)", arguments: [shelf.folder])
        }
        try queue.close()
        try await shelf.withLibrary { library, updates in
            let first = try await updates.songs()
            #expect(first.map(\.id) == ["edited"])
            #expect(await library.find(SongQuery("елка"), atMost: 5).songs.map(\.id) == ["edited"])
            let songs = try await updates.songs { $0.count == 2 }
            #expect(songs.map(\.title) == ["Later", "Ёлка"] && songs[1].id == "edited")
        }
    }
}
