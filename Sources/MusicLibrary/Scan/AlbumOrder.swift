// SPDX-License-Identifier: Apache-2.0

/// Decides which songs with the same album name in one folder form an album, and derives the order of all songs.
///
/// Songs with different album artists are on different albums. Without that tag, the songs of several artists form one
/// album, such as a compilation, unless two of these artists have a song with the same number. Then each artist has an
/// album of that name.
struct AlbumOrder: Sendable {
    /// A song with this album name in the folder.
    struct Entry: Hashable, Sendable {
        /// The first artist.
        var artist: String
        /// The album's artist from the tags. Empty if they do not contain one.
        var albumArtist: String
        /// `AlbumPlace.key`.
        var place: String
    }

    /// The properties of a song that depend on its album.
    struct Result: Hashable, Sendable {
        /// Identifies the album. Empty without an album.
        var album: String
        /// The sort key in the order of all songs, compared byte by byte.
        var sortKey: String
    }

    private let name: String
    private let folder: String

    /// An album's name, and the folder of its songs. The name is empty for songs without an album.
    init(name: String, folder: String) { (self.name, self.folder) = (name, folder) }

    /// The results for some songs, in their order.
    func results(of entries: [Entry]) -> [Result] {
        guard !name.isEmpty else { return entries.map { result($0, album: "", artist: $0.artist) } }
        let unnamed = entries.filter { $0.albumArtist.isEmpty }
        let isSplit = haveCommonPlaces(unnamed)
        let isOne = Set(unnamed.map { Letters.caseless($0.artist) }).count == 1
        return entries.map { entry in
            if !entry.albumArtist.isEmpty { return result(entry, by: entry.albumArtist, artist: entry.albumArtist) }
            if isSplit { return result(entry, by: entry.artist, artist: entry.artist) }
            return result(entry, by: "", artist: isOne ? entry.artist : Self.several)
        }
    }

    /// The artist of an album of several artists.
    private static let several = "Various Artists"

    private func haveCommonPlaces(_ entries: [Entry]) -> Bool {
        let artists = Dictionary(grouping: entries) { Letters.caseless($0.artist) }
        guard artists.count > 1, artists.count == 2 || artists.values.allSatisfy({ $0.count > 1 }) else { return false }
        var taken: [Substring: String] = [:]
        for (artist, songs) in artists {
            for song in songs {
                // The song's place without the file name.
                let place = song.place[..<(song.place.lastIndex(of: "\u{1}") ?? song.place.endIndex)]
                if let other = taken.updateValue(artist, forKey: place), other != artist,
                    !place.hasSuffix(AlbumPlace.withoutTrack)
                {
                    return true
                }
            }
        }
        return false
    }

    private func result(_ entry: Entry, by albumArtist: String, artist: String) -> Result {
        let parts = [Letters.caseless(name), folder, Letters.caseless(albumArtist)]
        return result(entry, album: parts.joined(separator: "\u{1}"), artist: artist)
    }

    private func result(_ entry: Entry, album: String, artist: String) -> Result {
        let (natural, caseless) = (NaturalOrder.key(artist), Letters.caseless(artist))
        let parts = [
            // Keeps artists with the same folded name apart.
            natural, natural == caseless ? "" : caseless, NaturalOrder.key(name), NaturalOrder.key(folder),
            entry.place,
        ]
        return Result(album: album, sortKey: parts.joined(separator: "\u{1}"))
    }
}
