// SPDX-License-Identifier: Apache-2.0

/// How many songs a host's library has, and how far it has been read.
public struct LibraryCount: Encodable, Hashable, Sendable {
    /// Songs that can be asked for.
    public var songs: Int
    /// Files that were read; nil where the library is complete.
    public var scanned: Int?
    /// Files that there are; nil where the library is complete.
    public var toScan: Int?

    /// The playlists in the library, by name.
    public var playlists: [String] = []
    /// The playlist whose songs play where nobody asks; nil for all songs.
    public var playlist: String?

    /// A count.
    public init(songs: Int, scanned: Int? = nil, toScan: Int? = nil) {
        self.songs = songs
        self.scanned = scanned
        self.toScan = toScan
    }

    private enum CodingKeys: String, CodingKey {
        case songs, scanned, toScan, playlists, playlist
    }

    /// Writes the form of `docs/dashboard.md`: what is not there is a null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(songs, forKey: .songs)
        try container.encode(scanned, forKey: .scanned)
        try container.encode(toScan, forKey: .toScan)
        try container.encode(playlists, forKey: .playlists)
        try container.encode(playlist, forKey: .playlist)
    }
}
