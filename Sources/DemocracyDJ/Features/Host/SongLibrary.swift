// SPDX-License-Identifier: Apache-2.0

/// The songs that a host has, in their order.
public struct SongLibrary: Hashable, Sendable {
    /// First to last, each identifier once.
    public let songs: [Song]
    private let places: [Song.ID: Int]
    /// Title and artist of each, as they are searched.
    private let searched: [String]

    /// A library. Songs that guests cannot be told of, since they go beyond `DJLimits` or an earlier one has their
    /// identifier, are left out.
    public init(_ songs: [Song]) {
        var places: [Song.ID: Int] = [:]
        var kept: [Song] = []
        for song in songs where song.isWithinLimits && places[song.id] == nil {
            places[song.id] = kept.count
            kept.append(song)
        }
        self.songs = kept
        self.places = places
        searched = kept.map { "\($0.title) \($0.artist)".lowercased() }
    }

    /// The song of an identifier.
    public subscript(id: Song.ID) -> Song? { places[id].map { songs[$0] } }

    /// The songs whose title and artist have all of these words, in the library's order. Without a word there are none.
    public func songs(matching words: String, atMost limit: Int) -> [Song] {
        let words = words.lowercased().split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { return [] }
        var found: [Song] = []
        for (place, text) in searched.enumerated() where words.allSatisfy({ text.contains($0) }) {
            found.append(songs[place])
            if found.count == limit { break }
        }
        return found
    }
}
