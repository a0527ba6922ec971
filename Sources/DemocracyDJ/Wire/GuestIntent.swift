// SPDX-License-Identifier: Apache-2.0

// What a guest can want, and how that travels: one more is a case, and a line in each list below.

/// What a guest can want of a song.
public enum GuestIntent: Hashable, Sendable {
    /// Put a song of the host's library into the queue.
    case suggestSong(songID: Song.ID)
    /// Vote for a song in the queue.
    case vote(songID: Song.ID)
    /// Take one's vote for a song back.
    case takeBackVote(songID: Song.ID)
    /// On to the next song. The identifier is that of the song that plays, so that a wish that comes late skips no other.
    case skip(songID: Song.ID)

    /// The song it is about.
    public var songID: Song.ID {
        switch self {
        case .suggestSong(let songID), .vote(let songID), .takeBackVote(let songID), .skip(let songID): songID
        }
    }

    /// Its name in `docs/using.md`'s terms.
    public var kind: String {
        switch self {
        case .suggestSong: "suggestSong"
        case .vote: "vote"
        case .takeBackVote: "takeBackVote"
        case .skip: "skip"
        }
    }

    /// Whether there is a vote for the song after it; nil where it has nothing to do with votes.
    public var makesVote: Bool? {
        switch self {
        case .vote, .suggestSong: true
        case .takeBackVote: false
        case .skip: nil
        }
    }

    /// Whether it means something only now: it is no wish that is kept until a snapshot shows it.
    public var isOfTheMoment: Bool { makesVote == nil }
}

extension WireIntent {
    /// An intent for the wire.
    init(_ intent: GuestIntent) {
        self.init()
        switch intent {
        case .vote(let songID): vote = songID
        case .suggestSong(let songID): suggestion = songID
        case .takeBackVote(let songID): takeBack = songID
        case .skip(let songID): skip = songID
        }
    }
}

extension GuestIntent {
    /// An intent that has arrived, or nil where it is none that this version knows.
    init?(_ wire: WireIntent) {
        switch wire.wish {
        case .vote(let songID): self = .vote(songID: songID)
        case .suggestion(let songID): self = .suggestSong(songID: songID)
        case .takeBack(let songID): self = .takeBackVote(songID: songID)
        case .skip(let songID): self = .skip(songID: songID)
        case nil: return nil
        }
        guard DJLimits.isSongID(songID) else { return nil }
    }
}
