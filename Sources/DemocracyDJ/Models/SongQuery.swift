// SPDX-License-Identifier: Apache-2.0

/// What somebody looks for in a host's library: words, or a shelf of it.
public struct SongQuery: Hashable, Sendable {
    /// Where it is looked for.
    public enum Shelf: String, Hashable, Sendable, Codable, CaseIterable {
        /// Songs that have all of the words in title, artist or album.
        case words
        /// Artists, in alphabetical order.
        case artists
        /// Albums, by artist.
        case albums
        /// Songs, the newest files first.
        case newest
        /// Songs that this session has played, the last one first.
        case heard
        /// Songs of an artist: that of the song whose identifier the words are.
        case artist
        /// Songs of an album: that of the song whose identifier the words are.
        case album
    }

    /// Where it is looked for.
    public var shelf: Shelf
    /// What is looked for there.
    public var words: String
    /// The first of what is there that is wanted, counted from 0.
    public var from: Int

    /// A query.
    public init(_ words: String = "", on shelf: Shelf = .words, from: Int = 0) {
        self.shelf = shelf
        self.words = words
        self.from = from
    }

    /// The same, for what comes behind what it may find at most.
    public var next: SongQuery {
        var next = self
        next.from = min(from + DJLimits.searchResults, DJLimits.browsedSongs)
        return next
    }

    /// The same, for what comes behind what was found; nil where that is all.
    public func more(after found: FoundSongs) -> SongQuery? {
        let shown = from + max(found.songs.count, found.groups.count)
        guard shown > from, shown < found.total else { return nil }
        var more = self
        more.from = shown
        return more
    }
}

extension SongQuery: ExpressibleByStringInterpolation {
    /// Words.
    public init(stringLiteral words: String) { self.init(words) }
}

/// An artist, or an album.
public struct SongGroup: Hashable, Sendable, Codable, Identifiable {
    /// The identifier of one of its songs: what to ask for it with.
    public var id: Song.ID
    /// What it is called.
    public var name: String
    /// The artist of an album; empty where there are several, and of an artist.
    public var artist: String
    /// How many songs it has.
    public var songs: Int

    /// An artist, or an album.
    public init(id: Song.ID, name: String, artist: String = "", songs: Int) {
        (self.id, self.name, self.artist, self.songs) = (id, name, artist, songs)
    }
}

/// What was found for a query: songs, or on a shelf of artists or albums those.
public struct FoundSongs: Hashable, Sendable {
    /// At most `DJLimits.searchResults` songs, the best first.
    public var songs: [Song]
    /// At most as many artists or albums, where those were asked for.
    public var groups: [SongGroup]
    /// The artists that have the words, the best first: at most `DJLimits.foundGroups`. They come with the first songs.
    public var artists: [SongGroup]
    /// The same of albums.
    public var albums: [SongGroup]
    /// How many there are in all.
    public var total: Int
    /// What was looked for instead of words that nothing has; nil where those were.
    public var lookedFor: String?

    /// What was found; `total` counts no more than that where it is nil.
    public init(
        _ songs: [Song] = [], groups: [SongGroup] = [], artists: [SongGroup] = [], albums: [SongGroup] = [],
        total: Int? = nil, lookedFor: String? = nil
    ) {
        self.songs = songs
        (self.groups, self.artists, self.albums) = (groups, artists, albums)
        self.total = total ?? max(songs.count, groups.count)
        self.lookedFor = lookedFor
    }
}

extension FoundSongs: ExpressibleByArrayLiteral {
    /// Songs, and no more.
    public init(arrayLiteral songs: Song...) { self.init(songs) }
}
