// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// What a guest can want, and how that travels: one more is a case, and a line in each list below.

/// What a guest can want.
public enum GuestIntent: Hashable, Sendable {
    /// Put a song of the host's library into the queue.
    case suggestSong(songID: Song.ID)
    /// Vote for a song in the queue.
    case vote(songID: Song.ID)
    /// Take one's vote for a song back.
    case takeBackVote(songID: Song.ID)
    /// On to the next song. The identifier is that of the song that plays, so that a wish that comes late skips no other.
    case skip(songID: Song.ID)
    /// What the driver does at the head unit, from a device of the driver's.
    case steer(SteeringWish)

    /// The song it is about; nil where it is about none.
    public var songID: Song.ID? {
        switch self {
        case .suggestSong(let songID), .vote(let songID), .takeBackVote(let songID), .skip(let songID): songID
        case .steer(let wish): wish.songID
        }
    }

    /// Its name in `docs/using.md`'s terms.
    public var kind: String {
        switch self {
        case .suggestSong: "suggestSong"
        case .vote: "vote"
        case .takeBackVote: "takeBackVote"
        case .skip: "skip"
        case .steer(.skip): "skipNow"
        case .steer(.remove): "remove"
        case .steer(.move): "move"
        case .steer(.kick): "kick"
        }
    }

    /// Whether there is a vote for the song after it; nil where it has nothing to do with votes.
    public var makesVote: Bool? {
        switch self {
        case .vote, .suggestSong: true
        case .takeBackVote: false
        case .skip, .steer: nil
        }
    }

    /// Whether it means something only now: it is no wish that is kept until a snapshot shows it.
    public var isOfTheMoment: Bool { makesVote == nil }
}

/// What a driver's device can want beyond a passenger's.
public enum SteeringWish: Hashable, Sendable {
    /// On to the next song at once.
    case skip(songID: Song.ID)
    /// Take a song out of the queue.
    case remove(songID: Song.ID)
    /// Give a song of the queue a place in it, counted from 0.
    case move(songID: Song.ID, to: Int)
    /// Send a guest away.
    case kick(Peer.ID)

    /// The song it is about.
    public var songID: Song.ID? {
        switch self {
        case .skip(let songID), .remove(let songID), .move(let songID, _): songID
        case .kick: nil
        }
    }

    /// The guest it is about.
    public var peer: Peer.ID? { if case .kick(let peer) = self { peer } else { nil } }

    /// The place that a song is to have.
    public var place: Int? { if case .move(_, let place) = self { place } else { nil } }
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
        case .steer(.skip(let songID)): skipNow = songID
        case .steer(.remove(let songID)): remove = songID
        case .steer(.move(let songID, let place)):
            move.song = songID
            move.at = UInt32(clamping: place)
        case .steer(.kick(let peer)): kick = peer
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
        case .skipNow(let songID): self = .steer(.skip(songID: songID))
        case .remove(let songID): self = .steer(.remove(songID: songID))
        case .move(let place): self = .steer(.move(songID: place.song, to: Int(place.at)))
        case .kick(let peer): self = .steer(.kick(peer))
        case nil: return nil
        }
        guard isWithinLimits else { return nil }
    }
}
