// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Finds songs in a library that a node hosts.
public protocol SongSearch: Sendable {
    /// Returns what is on a shelf, or the songs that contain all words, best first. Without words the result is empty.
    func find(_ query: SongQuery, atMost limit: Int) async -> FoundSongs
}

/// The settings of a node that hosts.
public struct Hosting: Sendable {
    /// The songs that guests can ask for.
    public var library: SongLibrary
    /// How the guests' wishes are weighted.
    public var fairness: Fairness
    /// Whether a player reports the end of a song (`NodeInput.player`). Without a player, the length of the song
    /// decides.
    public var hasPlayer: Bool
    /// How many songs of the library a new session queues at its start.
    public var opens: Int
    /// Whether songs without a wish play in random order.
    public var shuffles: Bool
    /// The songs that play while no guest has a wish; empty for the full library.
    public var playlist: [Song.ID]
    /// The search over the library; nil for the library's own search.
    public var search: (any SongSearch)?
    /// The secret that guests must know to join; nil if every guest may join.
    public var pin: JoiningSecret?
    /// Whether guests have to be bonded. The radio checks its own links; guests behind a relay are refused.
    public var requiresBond = false
    /// The time in seconds since 1970. A node without a stored epoch uses it as its epoch.
    public var wallClockSeconds: UInt32

    /// Creates the settings.
    public init(
        _ library: SongLibrary, _ fairness: Fairness = Fairness(), hasPlayer: Bool = false,
        opens: Int = DJLimits.openingSongs, shuffles: Bool = false, playlist: [Song.ID] = [],
        search: (any SongSearch)? = nil,
        pin: JoiningSecret? = nil,
        wallClockSeconds: UInt32
    ) {
        self.library = library
        self.fairness = fairness
        self.hasPlayer = hasPlayer
        self.opens = opens
        self.shuffles = shuffles
        self.playlist = playlist
        self.search = search
        self.pin = pin
        self.wallClockSeconds = wallClockSeconds
    }
}

extension SongLibrary: SongSearch {}
