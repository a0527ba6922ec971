// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The state that a host keeps across restarts within the same session.
public struct SavedSession: Hashable, Sendable {
    /// A queued or playing song, by its identifier. The library has the rest.
    public struct Item: Hashable, Sendable {
        /// The song.
        public var songID: Song.ID
        /// The peer that suggested the song.
        public var addedBy: Peer.ID
        /// The song's number in the order of adding.
        public var added: Int
        /// The peers that voted for the song, in the order of their votes.
        public var voters: [Peer.ID]
        /// The driver has fixed its position.
        public var isHeld: Bool

        /// An item.
        public init(songID: Song.ID, addedBy: Peer.ID, added: Int, voters: [Peer.ID], isHeld: Bool = false) {
            self.songID = songID
            self.addedBy = addedBy
            self.added = added
            self.voters = voters
            self.isHeld = isHeld
        }
    }

    /// The song that played.
    public var nowPlaying: Item?
    /// Whether the song played; false if it was paused.
    public var isPlaying: Bool
    /// How long the song had played.
    public var elapsed: MeshInstant
    /// The queue.
    public var queue: [Item]
    /// See `HostFeature.State`.
    public var played: [Song.ID]
    /// See `HostFeature.State`.
    public var lastAskers: [Peer.ID]
    /// See `HostFeature.State`.
    public var banned: [Peer.ID]
    /// See `HostFeature.State`.
    public var volume: Int

    /// A session.
    public init(
        nowPlaying: Item?, isPlaying: Bool, elapsed: MeshInstant, queue: [Item], played: [Song.ID],
        lastAskers: [Peer.ID], banned: [Peer.ID], volume: Int = DJLimits.loudest
    ) {
        self.nowPlaying = nowPlaying
        self.isPlaying = isPlaying
        self.elapsed = elapsed
        self.queue = queue
        self.played = played
        self.lastAskers = lastAskers
        self.banned = banned
        self.volume = volume
    }
}

extension SavedSession {
    /// The song that played, followed by the queue.
    public var items: [Item] { (nowPlaying.map { [$0] } ?? []) + queue }

    /// How many of the session's songs a library lacks.
    public func missingSongs(in library: SongLibrary) -> Int { items.count { library[$0.songID] == nil } }
}

extension HostFeature {
    /// What the host keeps across restarts.
    public func savedSession(now: MeshInstant) -> SavedSession {
        SavedSession(
            nowPlaying: state.nowPlaying.map { SavedSession.Item(QueuedSong($0, added: 0)) },
            isPlaying: state.isPlaying,
            elapsed: state.elapsed(now), queue: state.queue.map { SavedSession.Item($0) },
            played: state.played, lastAskers: state.lastAskers, banned: state.banned,
            volume: state.volume)
    }

    /// Resumes an interrupted run. Songs that the library lacks are left out. If that leaves no present song, the next
    /// one starts.
    mutating func resume(_ saved: SavedSession, now: MeshInstant) {
        // Numbered again in the order of adding, since the stored numbers may be arbitrary.
        let order = saved.queue.sorted { $0.added < $1.added }.map(\.songID)
        let places = Dictionary(zip(order, 0...)) { first, _ in first }
        state.queue = saved.queue.compactMap { saved in
            item(saved).map { QueuedSong($0, added: places[saved.songID] ?? 0, isHeld: saved.isHeld) }
        }
        state.added = order.count
        state.played = saved.played.filter { library[$0] != nil }
        chooseSpare()
        noteAskers(saved.lastAskers)
        state.banned = saved.banned
        state.volume = min(max(saved.volume, 0), DJLimits.loudest)
        state.nowPlaying = saved.nowPlaying.flatMap(item)
        state.history = state.played.filter { $0 != state.nowPlaying?.id }.suffix(DJLimits.heardSongs)
        state.playedBefore = state.nowPlaying == nil ? .zero : saved.elapsed
        state.playingSince = saved.isPlaying && state.nowPlaying != nil ? now : nil
        // The policies may have changed, and songs may be missing.
        arrangeQueue()
        if state.nowPlaying == nil { _ = playNext(now: now, pauses: saved.nowPlaying != nil && !saved.isPlaying) }
    }

    private func item(_ saved: SavedSession.Item) -> QueueItem? {
        library[saved.songID].map { QueueItem(song: $0, addedBy: saved.addedBy, voters: saved.voters) }
    }
}

extension SavedSession.Item {
    fileprivate init(_ queued: QueuedSong) {
        let item = queued.item
        self.init(
            songID: item.id, addedBy: item.addedBy, added: queued.added, voters: item.voters, isHeld: queued.isHeld)
    }
}
