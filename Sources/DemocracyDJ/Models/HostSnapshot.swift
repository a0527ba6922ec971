// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A song that a guest or the driver has asked for, queued or playing. The song's own fields can be read from it.
@dynamicMemberLookup
public struct QueueItem: Hashable, Sendable, Identifiable {
    /// The song.
    public var song: Song
    /// The peer that suggested the song.
    public var addedBy: Peer.ID
    /// The peers that voted for the song, in the order of their votes, each once.
    public var voters: [Peer.ID]
    /// The driver has fixed its position in the queue, and votes do not move it. The playing song is never pinned.
    public var isPinned: Bool

    /// The song's identifier. A song is in the queue at most once.
    public var id: Song.ID { song.id }
    /// The number of votes.
    public var votes: Int { voters.count }

    /// A queued song.
    public init(song: Song, addedBy: Peer.ID, voters: [Peer.ID] = [], isPinned: Bool = false) {
        self.song = song
        self.addedBy = addedBy
        self.voters = voters
        self.isPinned = isPinned
    }

    /// The song's fields.
    public subscript<Value>(dynamicMember field: KeyPath<Song, Value>) -> Value { song[keyPath: field] }
}

/// The host's full state, as guests see it.
public struct HostSnapshot: Hashable, Sendable, Codable {
    /// Distinguishes one run of a host from the next.
    public var epoch: UInt32
    /// Counts the changes in an epoch. A snapshot never overwrites one with a higher revision.
    public var revision: UInt64
    /// The song that plays, with the peer that suggested it and its voters; nil if no song plays.
    public var nowPlaying: QueueItem?
    /// Whether the song plays. False while it is paused, and while the host waits for an output or for its library.
    public var isPlaying: Bool
    /// Whether an output accepts the sound. Always true for a host that only keeps time.
    public var hasSound: Bool
    /// How long the song had played when this was made, in seconds. It is a sample; `revision` does not count it.
    public var elapsed: Double
    /// The queue, next song first.
    public var queue: [QueueItem]
    /// The linked guests; in a crowd some of them.
    public var connectedPeers: [Peer]
    /// The number of linked guests that `connectedPeers` does not name.
    public var unnamedGuests: Int
    /// The guests that want to skip the present song, if the host counts that (`Fairness.majoritySkip`).
    public var skipVoters: [Peer.ID]
    /// The linked guests that are co-hosts.
    public var drivers: [Peer.ID]

    /// A snapshot.
    public init(
        epoch: UInt32, revision: UInt64, nowPlaying: QueueItem?, isPlaying: Bool, hasSound: Bool = true,
        elapsed: Double = 0, queue: [QueueItem], connectedPeers: [Peer], unnamedGuests: Int = 0,
        skipVoters: [Peer.ID] = [], drivers: [Peer.ID] = []
    ) {
        self.epoch = epoch
        self.revision = revision
        self.nowPlaying = nowPlaying
        self.isPlaying = isPlaying
        self.hasSound = hasSound
        self.elapsed = elapsed
        self.queue = queue
        self.connectedPeers = connectedPeers
        self.unnamedGuests = unnamedGuests
        self.skipVoters = skipVoters
        self.drivers = drivers
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, revision, nowPlaying, isPlaying
        case hasSound = "sound"
        case elapsed, queue, connectedPeers, unnamedGuests, skipVoters, drivers
    }

    /// Writes the form of `docs/reference.md`: if nothing plays, the field is null and not missing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(epoch, forKey: .epoch)
        try container.encode(revision, forKey: .revision)
        try container.encode(nowPlaying, forKey: .nowPlaying)
        try container.encode(isPlaying, forKey: .isPlaying)
        try container.encode(hasSound, forKey: .hasSound)
        try container.encode(elapsed, forKey: .elapsed)
        try container.encode(queue, forKey: .queue)
        try container.encode(connectedPeers, forKey: .connectedPeers)
        try container.encode(unnamedGuests, forKey: .unnamedGuests)
        try container.encode(skipVoters, forKey: .skipVoters)
        try container.encode(drivers, forKey: .drivers)
    }

    /// The number of linked guests.
    public var guestCount: Int { connectedPeers.count + unnamedGuests }

    /// The playing song, followed by the queue.
    public var items: [QueueItem] { (nowPlaying.map { [$0] } ?? []) + queue }

    /// The first elements of `items`, without a copy of the rest.
    public func items(first count: Int) -> some Sequence<QueueItem> {
        let playing = nowPlaying.map { [$0] } ?? []
        return playing + queue.prefix(max(count - playing.count, 0))
    }

    /// The item of a song that is queued or playing.
    public func item(_ songID: Song.ID) -> QueueItem? {
        nowPlaying?.id == songID ? nowPlaying : queue.first { $0.id == songID }
    }

    /// Advances the playing song by this time, up to the song's end.
    public mutating func elapse(_ time: MeshInstant) {
        guard isPlaying, let nowPlaying else { return }
        elapsed = min(elapsed + time / .seconds(1), max(nowPlaying.song.duration, elapsed))
    }

    /// Whether this snapshot replaces another. Epochs of one host grow.
    public func supersedes(_ other: HostSnapshot) -> Bool {
        (epoch, revision) > (other.epoch, other.revision)
    }

    /// Whether this is an earlier state of the same run of the host. States of different runs have no certain order.
    public func isBehind(_ other: HostSnapshot) -> Bool { epoch == other.epoch && revision < other.revision }
}

extension Array<Peer> {
    /// The peers that an identifier, its first digits or a name refer to. 8 to 32 hexadecimal digits are always an
    /// identifier and never a name, since a peer may choose any name. An exact name comes first, then the name as
    /// people type it (`TypedName`). If the result has several peers, the person has to choose.
    package func meant(by text: String) -> [Peer] {
        if let exact = first(where: { $0.id == text }) { return [exact] }
        if let digits = Identity.digits(in: text) {
            // A host that has only been discovered has the head of its identifier as identifier.
            return filter { $0.id.utf8.count >= Identity.headDigits && Identity.mayBeSame($0.id, digits) }
        }
        let named = filter { $0.name == text }
        guard named.isEmpty else { return named }
        return filter { TypedName.isMeant($0.name, by: text) }
    }
}

extension QueueItem: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, title, artist, duration, albumArtURL, addedBy, votes, voters, pinned
    }

    /// Reads the flat form of `docs/reference.md`; `votes` follows from `voters`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            song: try Song(from: decoder),
            addedBy: try container.decode(String.self, forKey: .addedBy),
            voters: try container.decode([String].self, forKey: .voters),
            isPinned: try container.decodeIfPresent(Bool.self, forKey: .pinned) ?? false)
    }

    /// Writes the flat form of `docs/reference.md`.
    public func encode(to encoder: any Encoder) throws {
        try song.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(addedBy, forKey: .addedBy)
        try container.encode(votes, forKey: .votes)
        try container.encode(voters, forKey: .voters)
        if isPinned { try container.encode(true, forKey: .pinned) }
    }
}
