// SPDX-License-Identifier: Apache-2.0

extension WireShelf {
    /// A shelf for the wire.
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
    /// A shelf that has arrived, or nil where it is none.
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
    /// Takes what was found.
    mutating func take(_ found: FoundSongs) {
        songs = found.songs.map { WireSong($0) }
        total = UInt32(clamping: found.total)
        lookedFor = found.lookedFor ?? ""
        groups = found.groups.map { group in
            var wire = WireGroup()
            wire.id = group.id
            wire.name = group.name
            wire.artist = group.artist
            wire.songs = UInt32(clamping: group.songs)
            return wire
        }
    }
}

extension FoundSongs {
    /// What has arrived; its limits are still to be looked at.
    init(_ wire: WireSearchResults) {
        let groups = wire.groups.prefix(DJLimits.searchResults + 1).map {
            SongGroup(id: $0.id, name: $0.name, artist: $0.artist, songs: Int($0.songs))
        }
        self.init(
            wire.songs.map { Song($0) }, groups: groups, total: max(Int(wire.total), wire.songs.count, groups.count),
            lookedFor: wire.lookedFor.isEmpty ? nil : wire.lookedFor)
    }
}
