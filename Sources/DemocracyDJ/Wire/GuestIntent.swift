// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Everything that a guest can want, and its encoding. A new intent is a case, and a line in each list below.

/// A guest's wish for the host.
public enum GuestIntent: Hashable, Sendable {
    /// Add a song of the host's library to the queue.
    case suggestSong(songID: Song.ID)
    /// Vote for a song in the queue.
    case vote(songID: Song.ID)
    /// Take back the guest's vote for a song.
    case takeBackVote(songID: Song.ID)
    /// Skip the present song. The identifier names it, so that a late wish does not skip another song.
    case skip(songID: Song.ID)
    /// Use a control of the driver, from a co-host.
    case steer(SteeringWish)

    /// The song that the intent is about; nil if it is about none.
    public var songID: Song.ID? {
        switch self {
        case .suggestSong(let songID), .vote(let songID), .takeBackVote(let songID), .skip(let songID): songID
        case .steer(let wish): wish.songID
        }
    }

    /// The name of the request, as in `docs/reference.md`.
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

    /// Whether the guest has a vote for the song afterwards; nil if the intent does not concern votes.
    public var makesVote: Bool? {
        switch self {
        case .vote, .suggestSong: true
        case .takeBackVote: false
        case .skip, .steer: nil
        }
    }

    /// Whether the intent is useless later. Such an intent is not kept until a snapshot shows it.
    public var isOfTheMoment: Bool { makesVote == nil }
}

/// A wish that only co-hosts can have.
public enum SteeringWish: Hashable, Sendable {
    /// Skip the present song at once.
    case skip(songID: Song.ID)
    /// Remove a song from the queue.
    case remove(songID: Song.ID)
    /// Move a song of the queue to a position, counted from 0.
    case move(songID: Song.ID, to: Int)
    /// Remove a guest.
    case kick(Peer.ID)

    /// The song that the wish is about.
    public var songID: Song.ID? {
        switch self {
        case .skip(let songID), .remove(let songID), .move(let songID, _): songID
        case .kick: nil
        }
    }

    /// The guest that the wish is about.
    public var peer: Peer.ID? { if case .kick(let peer) = self { peer } else { nil } }

    /// The new position of the song.
    public var place: Int? { if case .move(_, let place) = self { place } else { nil } }
}

extension WireIntent {
    /// Encodes an intent.
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
    /// Decodes an intent; nil if this version does not know it.
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
