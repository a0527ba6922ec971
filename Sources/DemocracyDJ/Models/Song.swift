// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A piece of music that the host can play.
public struct Song: Hashable, Sendable, Codable, Identifiable {
    /// The library's identifier of the song: stable, at most `DJLimits.songIDBytes` bytes.
    public var id: String
    /// Title, as people know it.
    public var title: String
    /// Artist, as people know it.
    public var artist: String
    /// Length in seconds. Guests receive it in milliseconds.
    public var duration: Double
    /// The address of the song's cover art; nil without cover art.
    public var albumArtURL: String?

    /// A song.
    public init(id: String, title: String, artist: String, duration: Double, albumArtURL: String? = nil) {
        self.id = id
        self.title = title
        self.artist = artist
        self.duration = duration
        self.albumArtURL = albumArtURL
    }
}
