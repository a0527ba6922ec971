// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What hosts and guests say to one another.
public enum MeshMessage: Hashable, Sendable {
    /// A guest wants something.
    case intent(GuestIntent)
    /// The host's state, whole.
    case stateUpdate(HostSnapshot)
    /// What has become of the host's state since an earlier one.
    case stateChange(HostChange)
    /// The host's answer to an intent that it does not follow.
    case rejection(GuestIntent, RejectionReason)
    /// A guest has missed a change, and asks for the host's whole state.
    case stateRequest
}

/// What a guest can want.
public enum GuestIntent: Hashable, Sendable {
    /// Put a song of the host's library into the queue.
    case suggestSong(songID: Song.ID)
    /// Vote for a song in the queue.
    case vote(songID: Song.ID)

    /// The song it is about.
    public var songID: Song.ID {
        switch self {
        case .suggestSong(let songID), .vote(let songID): songID
        }
    }

    /// Its name in `docs/using.md`'s terms.
    public var kind: String {
        switch self {
        case .suggestSong: "suggestSong"
        case .vote: "vote"
        }
    }
}

/// Why a host does not follow an intent.
public enum RejectionReason: String, Hashable, Sendable, Codable {
    /// No song of this identifier.
    case unknownSong
    /// The song is in the library, but not in the queue.
    case notQueued
    /// The song is playing.
    case alreadyPlaying
    /// This guest's vote for the song is counted already.
    case alreadyVoted
    /// The queue holds `DJLimits.queuedSongs`, or the song `DJLimits.votes`.
    case queueFull
}

/// A song in the queue.
public struct QueueItem: Hashable, Sendable, Identifiable {
    /// The song.
    public var song: Song
    /// Who put it there.
    public var addedBy: Peer.ID
    /// Who voted for it, in the order of their votes, each once.
    public var voters: [Peer.ID]

    /// The song's identifier: a song is in the queue once.
    public var id: Song.ID { song.id }
    /// How many voted for it.
    public var votes: Int { voters.count }

    /// A queued song.
    public init(song: Song, addedBy: Peer.ID, voters: [Peer.ID] = []) {
        self.song = song
        self.addedBy = addedBy
        self.voters = voters
    }
}

/// The host's whole state, as guests see it.
public struct HostSnapshot: Hashable, Sendable, Codable {
    /// Distinguishes one run of a host from the next.
    public var epoch: UInt32
    /// Counts the changes in an epoch. A snapshot never overwrites one with a higher revision.
    public var revision: UInt64
    /// What plays, or nil.
    public var nowPlaying: Song?
    /// Whether it really plays, or pauses.
    public var isPlaying: Bool
    /// What plays next, first to last.
    public var queue: [QueueItem]
    /// The guests that are linked.
    public var connectedPeers: [Peer]

    /// A snapshot.
    public init(
        epoch: UInt32, revision: UInt64, nowPlaying: Song?, isPlaying: Bool, queue: [QueueItem], connectedPeers: [Peer]
    ) {
        self.epoch = epoch
        self.revision = revision
        self.nowPlaying = nowPlaying
        self.isPlaying = isPlaying
        self.queue = queue
        self.connectedPeers = connectedPeers
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, revision, nowPlaying, isPlaying, queue, connectedPeers
    }

    /// Writes the form of `docs/using.md`: silence is a null, not a missing field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(epoch, forKey: .epoch)
        try container.encode(revision, forKey: .revision)
        try container.encode(nowPlaying, forKey: .nowPlaying)
        try container.encode(isPlaying, forKey: .isPlaying)
        try container.encode(queue, forKey: .queue)
        try container.encode(connectedPeers, forKey: .connectedPeers)
    }

    /// Whether this snapshot takes the place of another. Epochs of one host grow.
    public func supersedes(_ other: HostSnapshot) -> Bool {
        (epoch, revision) > (other.epoch, other.revision)
    }
}

extension QueueItem: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, title, artist, duration, albumArtURL, addedBy, votes, voters
    }

    /// Reads the flat form of `docs/using.md`; `votes` follows from `voters`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            song: try Song(from: decoder),
            addedBy: try container.decode(String.self, forKey: .addedBy),
            voters: try container.decode([String].self, forKey: .voters))
    }

    /// Writes the flat form of `docs/using.md`.
    public func encode(to encoder: any Encoder) throws {
        try song.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(addedBy, forKey: .addedBy)
        try container.encode(votes, forKey: .votes)
        try container.encode(voters, forKey: .voters)
    }
}
