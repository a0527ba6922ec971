// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What is to be heard at the head unit.
public struct Playback: Hashable, Sendable {
    /// The song, or nil for silence.
    public var song: Song?
    /// Counts the songs that have begun: one that follows itself has another turn.
    public var turn: Int
    /// Whether it really plays, or pauses.
    public var isPlaying: Bool
    /// Whether something takes the sound; where nothing does, the song waits, though it is to play.
    public var hasSound: Bool
    /// How loud it is to be, in percent; nil leaves that as it is.
    public var volume: Int?
    /// Whether there is a song before it to go back to.
    public var canGoBack: Bool
    /// For how long it has played.
    public var elapsed: MeshInstant
    /// Counts the jumps to another place of a song.
    public var seeks: Int
    /// The playlist that the driver has chosen, empty for all songs; nil where it is the one of the start.
    public var playlist: String?
    /// What is to follow it without a gap, as things stand.
    public var next: Song?

    /// A playback.
    public init(
        song: Song?, turn: Int = 0, isPlaying: Bool, hasSound: Bool = true, volume: Int? = nil,
        canGoBack: Bool = false, elapsed: MeshInstant, seeks: Int = 0,
        playlist: String? = nil, next: Song?
    ) {
        self.song = song
        self.turn = turn
        self.isPlaying = isPlaying
        self.hasSound = hasSound
        self.volume = volume
        self.canGoBack = canGoBack
        self.elapsed = elapsed
        self.seeks = seeks
        self.playlist = playlist
        self.next = next
    }

    /// Whether another one says the same, but for the time that has passed.
    public func isSame(as other: Playback?) -> Bool {
        guard var other else { return false }
        other.elapsed = elapsed
        return self == other
    }
}

/// What a player says of a song that it was given.
public enum PlayerReport: Hashable, Sendable {
    /// For how long it has played. Said when it begins, and now and then.
    case elapsed(Song.ID, MeshInstant)
    /// It cannot be heard now, and waits at this place for something that it can be heard on.
    case waits(Song.ID, at: MeshInstant)
    /// It has been played to its end.
    case ended(Song.ID)
    /// It cannot be played, or not to its end.
    case failed(Song.ID)
}
