// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What the head unit plays.
public struct Playback: Hashable, Sendable {
    /// The song, or nil for silence.
    public var song: Song?
    /// Counts the songs that have begun. A song that follows itself gets another number.
    public var turn: Int
    /// Whether the song plays. False while it is paused.
    public var isPlaying: Bool
    /// Whether an output accepts the sound. Without one the song waits, even if `isPlaying` is true.
    public var hasSound: Bool
    /// The volume in percent; nil leaves the volume unchanged.
    public var volume: Int?
    /// How many decibels the music is lowered at present.
    public var ducked: Int
    /// Whether "previous" has a song to go back to.
    public var canGoBack: Bool
    /// How long the song has played.
    public var elapsed: MeshInstant
    /// Counts the seeks within a song.
    public var seeks: Int
    /// The playlist that the driver has chosen or asks for, empty for all songs; nil for the one that was active at the
    /// start.
    public var playlist: String?
    /// The song that would follow without a gap, as of now.
    public var next: Song?

    /// A playback.
    public init(
        song: Song?, turn: Int = 0, isPlaying: Bool, hasSound: Bool = true, volume: Int? = nil,
        ducked: Int = 0, canGoBack: Bool = false, elapsed: MeshInstant, seeks: Int = 0,
        playlist: String? = nil, next: Song?
    ) {
        self.song = song
        self.turn = turn
        self.isPlaying = isPlaying
        self.hasSound = hasSound
        self.volume = volume
        self.ducked = ducked
        self.canGoBack = canGoBack
        self.elapsed = elapsed
        self.seeks = seeks
        self.playlist = playlist
        self.next = next
    }

    /// Whether the other playback is equal apart from the elapsed time.
    public func isSame(as other: Playback?) -> Bool {
        guard var other else { return false }
        other.elapsed = elapsed
        return self == other
    }
}

/// The head unit's answer to a driver who asks for a playlist.
public struct PlaylistAnswer: Hashable, Sendable {
    /// The name that the driver has asked for; empty for all songs.
    public var asked: String
    /// The playlist with that name; nil if the library has no such playlist.
    public var name: String?
    /// The songs of the playlist.
    public var songs: [Song.ID]
    /// Every playlist of the library.
    public var known: [String]

    /// An answer.
    public init(asked: String, name: String?, songs: [Song.ID] = [], known: [String] = []) {
        (self.asked, self.name, self.songs, self.known) = (asked, name, songs, known)
    }
}

/// A player's report about the song that it was given.
public enum PlayerReport: Hashable, Sendable {
    /// How long the song has played. Sent at the start and from time to time.
    case elapsed(Song.ID, MeshInstant)
    /// No output plays it now. It waits at this position for one.
    case waits(Song.ID, at: MeshInstant)
    /// The song has played to its end.
    case ended(Song.ID)
    /// The song cannot be played, or not to its end.
    case failed(Song.ID)
}
