// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A host's songs, in the library's order.
public struct SongLibrary: Hashable, Sendable {
    /// The songs in order, each identifier once.
    public let songs: [Song]
    private let places: [Song.ID: Int]
    /// Title and artist of each song, folded for the search.
    private let searched: [String]

    /// Creates a library. It leaves out songs that exceed `DJLimits`, and songs with the identifier of an earlier one.
    public init(_ songs: [Song]) {
        var places: [Song.ID: Int] = [:]
        var kept: [Song] = []
        for song in songs where song.isWithinLimits && places[song.id] == nil {
            places[song.id] = kept.count
            kept.append(song)
        }
        self.songs = kept
        self.places = places
        searched = kept.map { TypedName.folded("\($0.title) \($0.artist)") }
    }

    /// The song with an identifier.
    public subscript(id: Song.ID) -> Song? { places[id].map { songs[$0] } }

    /// The songs of a shelf, or those that have the words. This library has no albums.
    public func find(_ query: SongQuery, atMost limit: Int) -> FoundSongs {
        switch query.shelf {
        case .words: page(songs(matching: query.words, atMost: .max), query, limit)
        case .newest: page(songs.reversed(), query, limit)
        case .artist: page(songs.filter { $0.artist == self[query.words]?.artist }, query, limit)
        case .artists: artists(query, limit)
        case .albums, .album, .heard: []
        }
    }

    private func page(_ songs: [Song], _ query: SongQuery, _ limit: Int) -> FoundSongs {
        FoundSongs(Array(songs.dropFirst(query.from).prefix(limit)), total: songs.count)
    }

    private func artists(_ query: SongQuery, _ limit: Int) -> FoundSongs {
        let all = Dictionary(grouping: songs.filter { !$0.artist.isEmpty }, by: \.artist).sorted { $0.key < $1.key }
        let groups = all.dropFirst(query.from).prefix(limit).compactMap { artist, songs in
            songs.first.map { SongGroup(id: $0.id, name: artist, songs: songs.count) }
        }
        return FoundSongs(groups: groups, total: all.count)
    }

    /// The songs with all of these words in title or artist, in the library's order. Without words the result is empty.
    public func songs(matching words: String, atMost limit: Int) -> [Song] {
        let words = TypedName.folded(words).split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { return [] }
        var found: [Song] = []
        for (place, text) in searched.enumerated() where words.allSatisfy({ text.contains($0) }) {
            found.append(songs[place])
            if found.count == limit { break }
        }
        return found
    }
}
