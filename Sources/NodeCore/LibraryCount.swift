// SPDX-License-Identifier: Apache-2.0

/// The number of songs in a host's library, and how much of it has been read.
public struct LibraryCount: Encodable, Hashable, Sendable {
    /// Songs that guests can ask for.
    public var songs: Int
    /// Files read so far; nil when the library is complete.
    public var scanned: Int?
    /// All files to read; nil when the library is complete.
    public var toScan: Int?

    /// The playlists in the library, by name.
    public var playlists: [String] = []
    /// The playlist that plays while no guest has a wish; nil for all songs.
    public var playlist: String?

    /// Creates a count.
    public init(songs: Int, scanned: Int? = nil, toScan: Int? = nil) {
        self.songs = songs
        self.scanned = scanned
        self.toScan = toScan
    }

    private enum CodingKeys: String, CodingKey {
        case songs, scanned, toScan, playlists, playlist
    }

    /// Writes the form of `docs/dashboard.md`: a missing value is a null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(songs, forKey: .songs)
        try container.encode(scanned, forKey: .scanned)
        try container.encode(toScan, forKey: .toScan)
        try container.encode(playlists, forKey: .playlists)
        try container.encode(playlist, forKey: .playlist)
    }
}
