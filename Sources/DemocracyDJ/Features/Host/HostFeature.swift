// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides everything about the host's music: an event goes in, effects come out. Reads no clock; `now` is an argument.
public struct HostFeature: Feature {
    /// What happens to a host.
    public enum Event: Hashable, Sendable {
        /// The network says something.
        case multipeerEvent(MultipeerEvent)
        /// The person at the head unit says something.
        case command(Command)
        /// The player says something.
        case player(PlayerReport)
        /// The library is another one.
        case library(SongLibrary)
        /// The library's files are away, or back.
        case libraryAway(Bool)
        /// These songs of it play where nobody asks; none for any of them.
        case playlist([Song.ID])
        /// These devices are the driver's, by identifier.
        case drivers([Peer.ID])
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What the person at the head unit can say.
    public enum Command: Hashable, Sendable {
        /// Go on playing.
        case play
        /// Pause.
        case pause
        /// On to the next song.
        case skip
        /// Look for songs of the library: `Effect.search` for this host itself.
        case search(SongQuery)
        /// Look for what comes behind what was found last.
        case more
        /// Put a song of the library into the queue.
        case add(Song.ID)
        /// Take a song out of the queue.
        case remove(Song.ID)
        /// Send a guest away, by identifier or name, until the session ends.
        case kick(Peer.ID)
        /// Play a song next: one of the queue, whatever its votes, or another one of the library.
        case playNext(Song.ID)
        /// Give a song of the queue a place in it, counted from 0.
        case move(Song.ID, to: Int)
        /// Votes decide the place of this song of the queue again.
        case unpin(Song.ID)
        /// Take all songs out of the queue.
        case clear
        /// Undo what was done last, of `remove`, `clear`, `playNext`, `move`, `kick` and a ban.
        case undo
        /// A guest is kept out beyond the session.
        case noteBan(Peer)
        /// Back to the song that was heard before.
        case previous
        /// How loud, in percent of what the device can.
        case volume(Int)
        /// Go on at this place of the present song, in seconds.
        case seek(Double)
        /// Whether the library's songs play in a random order where nobody asks.
        case shuffle(Bool)
        /// Play the songs of this playlist where nobody asks, by its name; an empty one is all songs.
        case choosePlaylist(String)
        /// Let a guest in again that was sent away, by identifier.
        case unban(Peer.ID)
    }

    /// What is to be done.
    public enum Effect: Hashable, Sendable {
        /// Bring every guest up to this state, and show it: `StateFeed.Event.stateChanged`.
        case broadcast(HostSnapshot)
        /// Send one guest the whole state: `StateFeed.Event.wholeRequested`.
        case send(HostSnapshot, to: Peer.ID)
        /// Tell every guest which state is the present one: `StateFeed.Event.heartbeat`.
        case heartbeat
        /// Look through the library for what a guest searches, and answer: `StateFeed.Event.answered`.
        case search(SearchRequest, for: Peer.ID)
        /// Tell a guest that its search is not followed, and why: `StateFeed.Event.answered`.
        case refuseSearch(SearchResults, Peer.ID)
        /// Tell a guest that its wish is not followed.
        case reject(GuestIntent, RejectionReason, to: Peer.ID)
        /// Tell the person what a guest wanted and what became of it.
        case report(GuestIntent, from: Peer, rejected: RejectionReason?)
        /// Send a guest away, and do not let it in again.
        case disconnect(Peer.ID)
        /// A guest that was sent away may come again.
        case admit(Peer.ID)
        /// Tell the person that a command led to nothing, and why.
        case notice(Notice)
    }

    /// What a host knows.
    public struct State: Hashable, Sendable {
        /// Distinguishes this run from the others.
        public var epoch: UInt32
        /// Counts the changes in this run.
        public var revision: UInt64
        /// When the last of them was.
        public var changedAt = MeshInstant.zero
        /// What plays, or nil.
        public var nowPlaying: QueueItem?
        /// For how long it had played when it last began to; and since when it plays, or nil where it pauses.
        public var playedBefore: MeshInstant
        /// See `playedBefore`.
        public var playingSince: MeshInstant?
        /// Nothing is there that a song can be heard on: its time stands still.
        public var waitsForSound = false
        /// The library's files are away: the song's time stands still until they are back.
        public var waitsForLibrary = false
        /// What plays next, first to last.
        public var queue: [QueuedSong]
        /// The guests that are linked.
        public var connectedPeers: [Peer]
        /// Some of these have come or gone, and the others are not told yet.
        public var untold: UntoldGuests?
        /// The guests that want the present song skipped.
        public var skipVoters: [Peer.ID]
        /// What has been played, each song once, the longest ago first.
        public var played: [Song.ID]
        /// Who asked for the songs that played last, the last of them last.
        public var lastAskers: [Peer.ID]
        /// Who is kept out.
        public var banned: [Peer.ID]
        /// The names of those that this run has sent away.
        public var bannedNames: [Peer.ID: String] = [:]
        /// Whose devices steer, linked or not.
        public var drivers: [Peer.ID] = []
        /// The songs that the player has failed on, the longest ago first.
        public var unplayable: [Song.ID] = []
        /// Songs that have begun to play in this run.
        public var turns = 0
        /// The songs that were heard before the present one, the last of them last: the way back.
        public var history: [Song.ID] = []
        /// What the driver has done and can undo, the last of it last.
        public var undoable: [UndoStep] = []
        /// How many such steps there were in this run.
        public var steps = 0
        /// How loud the player plays, in percent.
        public var volume = DJLimits.loudest
        /// Counts the jumps to another place of a song in this run.
        public var seeks = 0
        /// The playlist that the driver has chosen in this run; nil where it is the one of the start.
        public var chosenPlaylist: String?
        /// Songs that were ever added.
        public var added: Int
        /// How often each linked guest has searched.
        public var searches: [Peer.ID: RateLimit] = [:]
        /// What the person at the head unit has looked for last.
        public var search: SearchRequest?
        /// When guests are told next which state is the present one.
        public var nextHeartbeat: MeshInstant

        /// Whether a song really plays, or pauses.
        public var isPlaying: Bool { playingSince != nil }

        /// For how long the present song has played.
        public func elapsed(_ now: MeshInstant) -> MeshInstant {
            playedBefore + (waitsForSound || waitsForLibrary ? .zero : playingSince.map { now - $0 } ?? .zero)
        }
    }

    /// What the others are not told yet of who is there.
    public struct UntoldGuests: Hashable, Sendable {
        /// The guests that they were told of last.
        public var told: [Peer]
        /// When they are told of who has come and who has said goodbye, if nothing else is before; nil where nobody has.
        public var due: MeshInstant?
        /// Those of them who are lost, and when that is told.
        public var lost: [Peer.ID: MeshInstant] = [:]

        /// When the others are told something.
        var deadline: MeshInstant? { (lost.values + [due].compactMap(\.self)).min() }
    }

    /// Who hosts.
    public let local: Peer
    /// The songs that can be asked for.
    public internal(set) var library: SongLibrary
    /// How the guests' wishes are weighed.
    public let fairness: Fairness
    /// Whether a player says when a song is over; without one, its length does.
    public let hasPlayer: Bool
    /// Whether what plays where nobody asks comes in an order of its own, another one in each run, and not in the library's.
    public internal(set) var shuffles: Bool
    /// What the host knows.
    public internal(set) var state: State
    /// How much each guest has wanted. It stays when a link ends: who comes again has wanted as much as before.
    var wishes: [Peer.ID: RateLimit] = [:]
    /// Songs of the library that a session begins with in its queue.
    private var opens = DJLimits.openingSongs
    /// The songs that play where nobody asks; none for any of the library.
    var playlist: [Song.ID] = []
    /// What plays where the queue is empty. Chosen when a song begins, since a large library takes its time.
    var spare: Song?

    /// A host that starts to play the first song of its library. Of a list, the next ones are queued; `opens` with none of
    /// them, a library that is there to be chosen from leaves the queue to its guests.
    public init(
        local: Peer, library: SongLibrary, fairness: Fairness = Fairness(), hasPlayer: Bool = false,
        opens: Int = DJLimits.openingSongs, volume: Int? = nil, shuffles: Bool = false, playlist: [Song.ID] = [],
        epoch: UInt32, now: MeshInstant
    ) {
        self.init(
            silent: local, library: library, fairness: fairness, hasPlayer: hasPlayer, shuffles: shuffles, epoch: epoch,
            now: now)
        if let volume { state.volume = min(max(volume, 0), DJLimits.loudest) }
        self.opens = opens
        let opening = library.songs.dropFirst().prefix(opens)
        state.queue = opening.enumerated().map { QueuedSong(QueueItem(song: $1, addedBy: local.id), added: $0) }
        state.added = opening.count
        self.playlist = playlist
        chooseSpare()
        if let first = opens == 0 ? spare : library.songs.first {
            begin(QueueItem(song: first, addedBy: local.id), now: now)
        }
    }

    /// A host that goes on where an earlier run of the same session was cut off.
    public init(
        local: Peer, library: SongLibrary, fairness: Fairness = Fairness(), hasPlayer: Bool = false,
        opens: Int = DJLimits.openingSongs, shuffles: Bool = false, playlist: [Song.ID] = [],
        resuming saved: SavedSession, epoch: UInt32, now: MeshInstant
    ) {
        if !saved.items.isEmpty, saved.missingSongs(in: library) == saved.items.count {
            // Nothing of it is in this library: it is another one's session, and this one begins as new.
            self.init(
                local: local, library: library, fairness: fairness, hasPlayer: hasPlayer, opens: opens,
                volume: saved.volume, shuffles: shuffles, playlist: playlist, epoch: epoch, now: now)
            state.banned = saved.banned
        } else {
            self.init(
                silent: local, library: library, fairness: fairness, hasPlayer: hasPlayer, shuffles: shuffles,
                epoch: epoch,
                now: now)
            self.playlist = playlist
            self.opens = opens
            resume(saved, now: now)
        }
    }

    /// The session that follows this one in the same run. It begins as a new host does, with the device's own settings: the
    /// volume, the co-hosts, and whether the music is paused.
    package func nextSession(epoch: UInt32, now: MeshInstant) -> HostFeature {
        var next = HostFeature(
            local: local, library: library, fairness: fairness, hasPlayer: hasPlayer, opens: opens,
            volume: state.volume, shuffles: shuffles, playlist: playlist, epoch: epoch, now: now)
        next.wishes = wishes
        next.state.searches = state.searches
        next.state.search = state.search
        next.state.drivers = state.drivers
        next.state.unplayable = state.unplayable
        // The player tells songs apart by their turn.
        next.state.turns += state.turns
        if state.nowPlaying != nil, !state.isPlaying { next.state.playingSince = nil }
        next.chooseSpare()
        return next
    }

    /// A host that plays nothing and has nothing queued.
    private init(
        silent local: Peer, library: SongLibrary, fairness: Fairness, hasPlayer: Bool, shuffles: Bool, epoch: UInt32,
        now: MeshInstant
    ) {
        self.local = local
        self.library = library
        self.fairness = fairness
        self.hasPlayer = hasPlayer
        self.shuffles = shuffles
        state = State(
            epoch: epoch, revision: 1, changedAt: now, nowPlaying: nil, playedBefore: .zero, playingSince: nil,
            queue: [], connectedPeers: [], skipVoters: [], played: [], lastAskers: [], banned: [], added: 0,
            nextHeartbeat: now + DJLimits.stateHeartbeat)
    }

    /// What guests see, as it was when it changed last.
    public var snapshot: HostSnapshot {
        HostSnapshot(
            epoch: state.epoch, revision: state.revision, nowPlaying: state.nowPlaying,
            isPlaying: state.isPlaying && !state.waitsForSound && !state.waitsForLibrary,
            hasSound: !state.waitsForSound,
            elapsed: state.elapsed(state.changedAt) / .seconds(1), queue: state.queue.map(\.item),
            connectedPeers: state.untold?.told ?? state.connectedPeers, skipVoters: state.skipVoters,
            drivers: linkedDrivers)
    }

    /// When the current song is over; nil where the player says so.
    public var songEnds: MeshInstant? {
        guard !hasPlayer, !state.waitsForLibrary, let item = state.nowPlaying, let since = state.playingSince else {
            return nil
        }
        return since + max(.seconds(item.song.duration), DJLimits.shortestSong) - state.playedBefore
    }

    /// When `tick` is due.
    public var deadline: MeshInstant {
        ([state.nextHeartbeat, songEnds, state.untold?.deadline] + state.undoable.map(\.until)).compactMap(\.self).min()
            ?? state.nextHeartbeat
    }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Effect] {
        switch event {
        case .multipeerEvent(let event): handle(event, now: now)
        case .command(let command): handle(command, now: now)
        case .player(let report): handle(report, now: now)
        case .library(let library): take(library, now: now)
        case .libraryAway(let isAway): take(libraryAway: isAway, now: now)
        case .playlist(let songs): take(playlist: songs)
        case .drivers(let drivers): take(drivers: drivers, now: now)
        case .tick: tick(now: now)
        }
    }

    private mutating func tick(now: MeshInstant) -> [Effect] {
        var effects: [Effect] = []
        forgetOldSteps(now)
        if let songEnds, songEnds <= now { effects += playNext(now: now) }
        if let due = state.untold?.deadline, due <= now { effects += tellGathered(now: now) }
        if state.nextHeartbeat <= now {
            state.nextHeartbeat = now + DJLimits.stateHeartbeat
            effects.append(.heartbeat)
        }
        return effects
    }

    /// The state is another one: the queue is put in order, and everybody is told.
    mutating func changed(now: MeshInstant) -> [Effect] {
        arrangeQueue()
        settleGuests(now: now)
        state.revision += 1
        state.changedAt = now
        return [.broadcast(snapshot)]
    }

    mutating func arrangeQueue() {
        var order = PlayOrder(after: state.lastAskers, host: local.id, songsInARow: fairness.songsInARow)
        state.queue = order.arrange(state.queue)
    }

    /// As many as it takes to know whose turn is over.
    mutating func noteAskers(_ askers: [Peer.ID]) {
        state.lastAskers = Array((state.lastAskers + askers).suffix(max(1, fairness.songsInARow ?? 1)))
    }
}
