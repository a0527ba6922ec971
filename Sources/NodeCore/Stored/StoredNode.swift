// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// All of a node's state at its last write.
public struct StoredNode: Hashable, Sendable {
    /// The conversations with known peers, for `MeshCore`.
    public var remembered: [ConversationKey: MeshCore.Remembered]
    /// The host's state; nil if this node has never been a host.
    public var host: HostRecord?
    /// The guest's state; nil if this node has never been a guest.
    public var guest: GuestRecord?
    /// The host's invitations, the oldest first.
    public var invitations: [GivenInvitation]
    /// Bans that outlive the session, oldest first.
    public var bans: [BanRecord]
    /// The co-hosts, the oldest first.
    public var drivers: [Peer]
    /// The co-hosts that have joined with a browser. They steer with a browser only.
    public var browserDrivers: [Peer]
    /// The hosts that the guest has joined, the longest ago first.
    public var knownHosts: [Peer]
    /// How often hosts could check a guess of the guest's PINs.
    public var unanswered: [UnansweredProof]

    /// Makes a node's state; empty for a new node.
    public init(
        remembered: [ConversationKey: MeshCore.Remembered] = [:], host: HostRecord? = nil, guest: GuestRecord? = nil,
        invitations: [GivenInvitation] = [], bans: [BanRecord] = [], drivers: [Peer] = [], browserDrivers: [Peer] = [],
        knownHosts: [Peer] = [], unanswered: [UnansweredProof] = []
    ) {
        self.remembered = remembered
        self.host = host
        self.guest = guest
        self.invitations = invitations
        self.bans = bans
        self.drivers = drivers
        self.browserDrivers = browserDrivers
        self.knownHosts = knownHosts
        self.unanswered = unanswered
    }
}

/// A peer that a host bans by its key.
public struct BanRecord: Hashable, Sendable {
    /// The peer, with its name.
    public var peer: Peer
    /// The end of the ban, in seconds since 1970; nil until the host's user lifts it.
    public var until: UInt32?

    /// A ban.
    public init(peer: Peer, until: UInt32?) { (self.peer, self.until) = (peer, until) }
}

/// A host's durable state: after a power cut, it continues from here.
public struct HostRecord: Hashable, Sendable {
    /// The epoch of the run that has written this. The next run uses a greater one.
    public var epoch: UInt32
    /// The song that plays. It is in `queue`, with its voters.
    public var nowPlaying: String?
    /// Whether the song plays or is paused.
    public var isPlaying: Bool
    /// The elapsed time of the current song, in milliseconds.
    public var elapsedMilliseconds: Int64
    /// The playing song and the queued ones, in order, each once.
    public var queue: [QueuedRecord]
    /// Played songs, in order.
    public var played: [String]
    /// The peers that added the last played songs, in order.
    public var lastAskers: [Peer.ID]
    /// The guests that were removed from this session.
    public var banned: [Peer.ID]
    /// The volume, in percent of the device's maximum.
    public var volume: Int64

    /// A host's state.
    public init(
        epoch: UInt32, nowPlaying: String? = nil, isPlaying: Bool = false,
        elapsedMilliseconds: Int64 = 0, queue: [QueuedRecord] = [], played: [String] = [],
        lastAskers: [Peer.ID] = [], banned: [Peer.ID] = [], volume: Int64 = 100
    ) {
        self.epoch = epoch
        self.nowPlaying = nowPlaying
        self.isPlaying = isPlaying
        self.elapsedMilliseconds = elapsedMilliseconds
        self.queue = queue
        self.played = played
        self.lastAskers = lastAskers
        self.banned = banned
        self.volume = volume
    }
}

/// A queued song and its voters.
public struct QueuedRecord: Hashable, Sendable {
    /// The song.
    public var songID: String
    /// The peer that has added it.
    public var addedBy: Peer.ID
    /// The song's number in the order of adding, for songs with equal votes.
    public var added: Int64
    /// The song's voters, in order, each once.
    public var voters: [Peer.ID]
    /// The driver has fixed its position, so votes do not move it.
    public var isHeld: Bool

    /// Makes a queued song.
    public init(songID: String, addedBy: Peer.ID, added: Int64, voters: [Peer.ID] = [], isHeld: Bool = false) {
        self.songID = songID
        self.addedBy = addedBy
        self.added = added
        self.voters = voters
        self.isHeld = isHeld
    }
}

/// A guest's durable state: its wishes, and the last snapshot of the host.
public struct GuestRecord: Hashable, Sendable {
    /// The chosen host.
    public var host: Peer.ID?
    /// The epoch of that host's last snapshot.
    public var hostEpoch: UInt32?
    /// Wishes that no snapshot has shown yet, in order.
    public var wishes: [WishRecord]
    /// The last snapshot, in the application's bytes.
    public var snapshot: [UInt8]?

    /// A guest's state.
    public init(
        host: Peer.ID? = nil, hostEpoch: UInt32? = nil, wishes: [WishRecord] = [], snapshot: [UInt8]? = nil
    ) {
        self.host = host
        self.hostEpoch = hostEpoch
        self.wishes = wishes
        self.snapshot = snapshot
    }
}

/// A wish of a guest.
public struct WishRecord: Hashable, Sendable {
    /// The song.
    public var songID: String
    /// The kind of wish, in the application's words.
    public var kind: String
    /// The peer with this wish in its outbox; nil if it waits for a host.
    public var handedTo: Peer.ID?
    /// The host that the wish is meant for; nil for the next host that is joined.
    public var meantFor: Peer.ID?

    /// A wish.
    public init(songID: String, kind: String, handedTo: Peer.ID? = nil, meantFor: Peer.ID? = nil) {
        self.songID = songID
        self.kind = kind
        self.handedTo = handedTo
        self.meantFor = meantFor
    }
}
