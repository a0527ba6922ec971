// SPDX-License-Identifier: Apache-2.0

/// A search in a host's library: for words, or one of its shelves.
public struct SongQuery: Hashable, Sendable {
    /// The part of the library that is searched.
    public enum Shelf: String, Hashable, Sendable, Codable, CaseIterable {
        /// Songs that have all of the words in title, artist or album.
        case words
        /// Artists, in alphabetical order.
        case artists
        /// Albums, by artist.
        case albums
        /// Songs, newest files first.
        case newest
        /// Songs that this session has played, most recent first.
        case heard
        /// Songs of an artist. `words` is the identifier of one of the artist's songs.
        case artist
        /// Songs of an album. `words` is the identifier of one of the album's songs.
        case album
    }

    /// The part of the library that is searched.
    public var shelf: Shelf
    /// The words to search for, or a song's identifier.
    public var words: String
    /// The index of the first wanted result, counted from 0.
    public var from: Int

    /// A query.
    public init(_ words: String = "", on shelf: Shelf = .words, from: Int = 0) {
        self.shelf = shelf
        self.words = words
        self.from = from
    }

    /// The query for the next page, if this page is full.
    public var next: SongQuery {
        var next = self
        next.from = min(from + DJLimits.searchResults, DJLimits.browsedSongs)
        return next
    }

    /// The query for the results after these; nil if there are no further ones.
    public func more(after found: FoundSongs) -> SongQuery? {
        let shown = from + max(found.songs.count, found.groups.count)
        guard shown > from, shown < found.total else { return nil }
        var more = self
        more.from = shown
        return more
    }
}

extension SongQuery: ExpressibleByStringInterpolation {
    /// A query for words.
    public init(stringLiteral words: String) { self.init(words) }
}

/// An artist, or an album.
public struct SongGroup: Hashable, Sendable, Codable, Identifiable {
    /// The identifier of one of its songs. A query for its songs names it.
    public var id: Song.ID
    /// The name of the group.
    public var name: String
    /// The artist of an album. Empty for an album of several artists, and for an artist.
    public var artist: String
    /// The number of songs in the group.
    public var songs: Int

    /// An artist, or an album.
    public init(id: Song.ID, name: String, artist: String = "", songs: Int) {
        (self.id, self.name, self.artist, self.songs) = (id, name, artist, songs)
    }
}

/// The results of a query: songs, artists or albums, depending on the shelf.
public struct FoundSongs: Hashable, Sendable {
    /// At most `DJLimits.searchResults` songs, best match first.
    public var songs: [Song]
    /// At most as many artists or albums, if the query asked for those.
    public var groups: [SongGroup]
    /// Artists with the words in their name, best match first: at most `DJLimits.foundGroups`. They come with the first
    /// page of songs.
    public var artists: [SongGroup]
    /// Albums with the words in their name, in the same order and with the same limit.
    public var albums: [SongGroup]
    /// The number of all results, of which these are a page.
    public var total: Int
    /// The words that were searched for instead, because the typed ones had no results; nil if the typed ones were
    /// used.
    public var lookedFor: String?

    /// Creates results. Without a `total` they are all that were found.
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
    /// Results that are only songs.
    public init(arrayLiteral songs: Song...) { self.init(songs) }
}
