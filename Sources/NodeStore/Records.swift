// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// All that a node knew when it last wrote.
public struct StoredNode: Hashable, Sendable {
    /// The conversations with the peers that it has met, for `MeshCore`.
    public var remembered: [ConversationKey: MeshCore.Remembered]
    /// The host's state; nil where this node has never been a host.
    public var host: HostRecord?
    /// The guest's state; nil where this node has never been a guest.
    public var guest: GuestRecord?
    /// The host's invitations, the oldest first.
    public var invitations: [GivenInvitation]
    /// Whom the host keeps out beyond a session, the oldest first.
    public var bans: [BanRecord]
    /// Whose devices steer the host, the oldest first.
    public var drivers: [Peer]
    /// Those of them whose keys a browser has sent: they steer with a browser only.
    public var browserDrivers: [Peer]
    /// The hosts that the guest has joined, the longest ago first.
    public var knownHosts: [Peer]
    /// How often hosts could check a guess of the guest's PINs.
    public var unanswered: [UnansweredProof]

    /// What a node knows; nothing for one that begins.
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

/// Somebody whom a host keeps out by key.
public struct BanRecord: Hashable, Sendable {
    /// Who, and under what name.
    public var peer: Peer
    /// Until when, in seconds since 1970; nil until its person says otherwise.
    public var until: UInt32?

    /// A ban.
    public init(peer: Peer, until: UInt32?) { (self.peer, self.until) = (peer, until) }
}

/// What a host must not forget: it goes on after a power cut where it was.
public struct HostRecord: Hashable, Sendable {
    /// The epoch of the run that has written this. The next run takes a greater one.
    public var epoch: UInt32
    /// The song that plays. It is in `queue`, with who wants it.
    public var nowPlaying: String?
    /// Whether it plays, or pauses.
    public var isPlaying: Bool
    /// How far it has played, in milliseconds.
    public var elapsedMilliseconds: Int64
    /// What plays and what waits, in order. A song is in it once.
    public var queue: [QueuedRecord]
    /// Songs in the order in which they were played.
    public var played: [String]
    /// Who has asked last, in order.
    public var lastAskers: [Peer.ID]
    /// Who was sent away.
    public var banned: [Peer.ID]
    /// How loud it plays, in percent of what the device can.
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

/// A song that waits, and who wants it.
public struct QueuedRecord: Hashable, Sendable {
    /// The song.
    public var songID: String
    /// Who has added it.
    public var addedBy: Peer.ID
    /// Its place in the order of adding, for songs with equal votes.
    public var added: Int64
    /// Who has voted for it, in order, each once.
    public var voters: [Peer.ID]
    /// Somebody has given it its place, and votes do not move it.
    public var isHeld: Bool

    /// A song that waits.
    public init(songID: String, addedBy: Peer.ID, added: Int64, voters: [Peer.ID] = [], isHeld: Bool = false) {
        self.songID = songID
        self.addedBy = addedBy
        self.added = added
        self.voters = voters
        self.isHeld = isHeld
    }
}

/// What a guest must not forget: what its person wants, and what was last seen of the host.
public struct GuestRecord: Hashable, Sendable {
    /// The host that it has chosen.
    public var host: Peer.ID?
    /// The epoch of that host's last snapshot.
    public var hostEpoch: UInt32?
    /// What the person wants and the host has not shown yet, in order.
    public var wishes: [WishRecord]
    /// The last snapshot, as the application has written it.
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

/// Something that a guest's person wants.
public struct WishRecord: Hashable, Sendable {
    /// The song that it is about.
    public var songID: String
    /// What is wanted, in the application's words.
    public var kind: String
    /// The peer whose outbox it was given to; nil where it waits for a host.
    public var handedTo: Peer.ID?
    /// The host that it is meant for; nil for the one that is joined next.
    public var meantFor: Peer.ID?

    /// A wish.
    public init(songID: String, kind: String, handedTo: Peer.ID? = nil, meantFor: Peer.ID? = nil) {
        self.songID = songID
        self.kind = kind
        self.handedTo = handedTo
        self.meantFor = meantFor
    }
}
