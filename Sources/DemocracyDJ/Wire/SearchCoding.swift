// SPDX-License-Identifier: Apache-2.0

extension WireShelf {
    /// Encodes a shelf.
    init(_ shelf: SongQuery.Shelf) {
        self =
            switch shelf {
            case .words: .words
            case .artists: .artists
            case .albums: .albums
            case .newest: .newest
            case .heard: .heard
            case .artist: .artist
            case .album: .album
            }
    }
}

extension SongQuery.Shelf {
    /// Decodes a shelf; nil if it is unknown.
    init?(_ wire: WireShelf) {
        switch wire {
        case .words: self = .words
        case .artists: self = .artists
        case .albums: self = .albums
        case .newest: self = .newest
        case .heard: self = .heard
        case .artist: self = .artist
        case .album: self = .album
        case .UNRECOGNIZED: return nil
        }
    }
}

extension WireSearchResults {
    /// Encodes results.
    mutating func take(_ found: FoundSongs) {
        songs = found.songs.map { WireSong($0) }
        total = UInt32(clamping: found.total)
        lookedFor = found.lookedFor ?? ""
        groups = found.groups.map { WireGroup($0) }
        artists = found.artists.map { WireGroup($0) }
        albums = found.albums.map { WireGroup($0) }
    }
}

extension WireGroup {
    fileprivate init(_ group: SongGroup) {
        self.init()
        id = group.id
        name = group.name
        artist = group.artist
        songs = UInt32(clamping: group.songs)
    }
}

extension SongGroup {
    fileprivate init(_ wire: WireGroup) {
        self.init(id: wire.id, name: wire.name, artist: wire.artist, songs: Int(wire.songs))
    }
}

extension FoundSongs {
    /// Decodes results. Their limits are not checked yet.
    init(_ wire: WireSearchResults) {
        // One element beyond the limit shows that there are too many.
        let groups = wire.groups.prefix(DJLimits.searchResults + 1).map { SongGroup($0) }
        let some = [wire.artists, wire.albums].map { $0.prefix(DJLimits.foundGroups + 1).map { SongGroup($0) } }
        self.init(
            wire.songs.map { Song($0) }, groups: groups, artists: some[0], albums: some[1],
            total: max(Int(wire.total), wire.songs.count, groups.count),
            lookedFor: wire.lookedFor.isEmpty ? nil : wire.lookedFor)
    }
}
