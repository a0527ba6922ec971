// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Finds songs in a library that a node hosts.
public protocol SongSearch: Sendable {
    /// What is on a shelf, or has all of these words, the best first. Without a word there is nothing.
    func find(_ query: SongQuery, atMost limit: Int) async -> FoundSongs
}

/// What a node hosts with.
public struct Hosting: Sendable {
    /// The songs that can be asked for.
    public var library: SongLibrary
    /// How the guests' wishes are weighed.
    public var fairness: Fairness
    /// Whether a player says when a song is over (`NodeInput.player`); without one, its length does.
    public var hasPlayer: Bool
    /// How many songs of the library a new session queues by itself.
    public var opens: Int
    /// Whether what plays where nobody asks is shuffled.
    public var shuffles: Bool
    /// The songs that play where nobody asks; none for any of the library.
    public var playlist: [Song.ID]
    /// Who looks through the library; nil for the library itself.
    public var search: (any SongSearch)?
    /// What guests have to know to be let in; nil where everybody is welcome.
    public var pin: JoiningSecret?
    /// Whether guests have to be bonded. The radio checks its own links; guests behind a relay are refused.
    public var requiresBond = false
    /// The time since 1970: the epoch of a node that has none stored.
    public var wallClockSeconds: UInt32

    /// What a node hosts with.
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
