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

// Applies a batch to stored state without a disk. The simulator's nodes store their state this way.

extension StoredNode {
    /// Becomes the value that `NodeStore.contents` returns after `NodeStore.write` of this batch. If the store would
    /// throw, throws and changes nothing: for a gap in an outbox, or a queue with a repeated song.
    package mutating func apply(_ batch: StoreBatch) throws(NodeStoreError) {
        var next = self
        for key in batch.forgotten { next.remembered[key] = nil }
        for met in batch.met { next.keep(met.conversation, met.remembered) }
        for receipt in batch.receipts { next.take(receipt) }
        for outgoing in batch.outgoing { try next.take(outgoing) }
        for acknowledged in batch.acknowledged {
            next.remembered[acknowledged.conversation]?.conversation.trim(upTo: acknowledged.upTo)
        }
        if let host = batch.host {
            guard Set(host.queue.map(\.songID)).count == host.queue.count else {
                throw NodeStoreError(.failed, cause: "the queue has a song twice")
            }
            next.host = host
        }
        if let guest = batch.guest { next.guest = guest }
        if let invitations = batch.invitations { next.invitations = invitations }
        if let bans = batch.bans { next.bans = bans }
        if let drivers = batch.drivers { next.drivers = drivers }
        if let drivers = batch.browserDrivers { next.browserDrivers = drivers }
        if let knownHosts = batch.knownHosts { next.knownHosts = knownHosts }
        if let unanswered = batch.unanswered { next.unanswered = unanswered }
        self = next
    }

    /// See `ConversationTables.keep`.
    private mutating func keep(_ key: ConversationKey, _ remembered: MeshCore.Remembered) {
        let durable = remembered.conversation
        var row = self.remembered[key] ?? remembered
        if self.remembered[key]?.conversation.epoch != durable.epoch {
            row = remembered
            row.conversation.outbox = []
            row.conversation.lastNumber = 0
        }
        row.publicKey = remembered.publicKey
        row.conversation.trim(upTo: durable.lastNumber - min(UInt64(durable.outbox.count), durable.lastNumber))
        self.remembered[key] = row
    }

    private mutating func take(_ receipt: StoreBatch.Receipt) {
        keep(receipt.conversation, receipt.remembered)
        guard var conversation = remembered[receipt.conversation]?.conversation else { return }
        let isSameEpoch = conversation.theirEpoch == receipt.epoch
        conversation.accepted = isSameEpoch ? max(conversation.accepted, receipt.number) : receipt.number
        conversation.theirEpoch = receipt.epoch
        remembered[receipt.conversation]?.conversation = conversation
    }

    private mutating func take(_ outgoing: StoreBatch.Outgoing) throws(NodeStoreError) {
        keep(outgoing.conversation, outgoing.remembered)
        guard let last = remembered[outgoing.conversation]?.conversation.lastNumber, outgoing.number > last else {
            return
        }
        guard outgoing.number == last + 1 else {
            throw NodeStoreError(.failed, cause: "message \(outgoing.number) follows \(last) in an outbox")
        }
        remembered[outgoing.conversation]?.conversation.outbox.append(outgoing.body)
        remembered[outgoing.conversation]?.conversation.lastNumber = outgoing.number
    }
}

extension Conversation.Durable {
    /// The peer has all messages up to a number, and these numbers are not used again.
    fileprivate mutating func trim(upTo number: UInt64) {
        let first = lastNumber - UInt64(outbox.count) + 1
        if number >= first { outbox.removeFirst(min(outbox.count, Int(clamping: number - first) + 1)) }
        lastNumber = max(lastNumber, number)
    }
}
