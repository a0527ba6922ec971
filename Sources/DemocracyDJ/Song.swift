// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A piece of music that the host can play.
public struct Song: Hashable, Sendable, Codable, Identifiable {
    /// The library's name for it: stable, at most `DJLimits.songIDBytes` bytes.
    public var id: String
    /// Title, as people know it.
    public var title: String
    /// Artist, as people know it.
    public var artist: String
    /// Length in seconds. Guests are told it to the millisecond.
    public var duration: Double
    /// Where its cover art is, if anywhere.
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

/// Limits of the application, each with its reason.
public enum DJLimits {
    /// Longest song identifier, in bytes: a hash in hexadecimal fits.
    public static let songIDBytes = 64
    /// Longest title or artist, in bytes: two lines of a head unit's screen.
    public static let songTextBytes = 160
    /// Longest address of a cover picture, in bytes: what browsers and servers are known to take.
    public static let albumArtURLBytes = 2_048
    /// Longest song, in seconds: a day. What is longer is a mistake in a song list.
    public static let songSeconds = 86_400.0
    /// Songs of a library that is a JSON list; larger ones come from a folder.
    public static let listedSongs = 10_000
    /// Songs in a queue: several hours of music, and a snapshot that still fits one message.
    public static let queuedSongs = 100
    /// Songs of a list that are queued when the host starts.
    public static let openingSongs = 100
    /// Votes for one song: a train's worth, and as many peers as a node remembers. It bounds what strangers with ever new
    /// identifiers can make everybody carry.
    public static let votes = 256
    /// Guests that a snapshot tells of: more than any host's links, and still few.
    public static let connectedPeers = 256
    /// Largest message, in bytes: what the transport carries.
    public static let messageBytes = Limits.messageBytes
    /// Votes of one guest that wait for their confirmation.
    public static let pendingVotes = 256
}
