// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides everything about the host's music: an event goes in, effects come out. It reads no clock; `now` is an
/// argument.
public struct HostFeature: Feature {
    /// An input of a host.
    public enum Event: Hashable, Sendable {
        /// An event of the network.
        case multipeerEvent(MultipeerEvent)
        /// A command of the person at the head unit.
        case command(Command)
        /// A report of the player.
        case player(PlayerReport)
        /// The library has changed.
        case library(SongLibrary)
        /// The library's files are gone, or back.
        case libraryAway(Bool)
        /// The songs to play when the queue is empty; an empty array allows all songs of the library.
        case playlist([Song.ID])
        /// The head unit has looked for the playlist that the driver asks for.
        case playlistFound(PlaylistAnswer)
        /// The identifiers of the co-hosts.
        case drivers([Peer.ID])
        /// Time has passed: see `deadline`.
        case tick
    }

    /// A command of the person at the head unit.
    public enum Command: Hashable, Sendable {
        /// Resume.
        case play
        /// Pause.
        case pause
        /// Play the next song.
        case skip
        /// Search the library: `Effect.search` for the host itself.
        case search(SongQuery)
        /// Show the next page of the last search.
        case more
        /// Add a song of the library to the queue.
        case add(Song.ID)
        /// Remove a song from the queue.
        case remove(Song.ID)
        /// Remove a guest, by identifier or name, until the session ends.
        case kick(Peer.ID)
        /// Play a song next: one of the queue, whatever its votes, or another one of the library.
        case playNext(Song.ID)
        /// Move a song of the queue to a position, counted from 0, and pin it there.
        case move(Song.ID, to: Int)
        /// Let votes decide the position of a pinned song again.
        case unpin(Song.ID)
        /// Remove all songs from the queue.
        case clear
        /// Undo the last `remove`, `clear`, `playNext`, `move`, `kick` or ban.
        case undo
        /// A guest was banned beyond the session.
        case noteBan(Peer)
        /// Go back to the previous song.
        case previous
        /// Set the volume, in percent of the device's maximum.
        case volume(Int)
        /// Lower the volume by this many decibels, until the next such command; 0 ends it.
        case duck(Int)
        /// Continue at this position of the present song, in seconds.
        case seek(Double)
        /// Whether songs for an empty queue come in random order.
        case shuffle(Bool)
        /// Play the songs of the playlist with this name when the queue is empty; an empty name is all songs.
        case choosePlaylist(String)
        /// Admit a removed guest again, by identifier.
        case unban(Peer.ID)
    }

    /// An output that the owner performs.
    public enum Effect: Hashable, Sendable {
        /// Bring every guest up to this state, and show it: `StateFeed.Event.stateChanged`.
        case broadcast(HostSnapshot)
        /// Send one guest the full state: `StateFeed.Event.wholeRequested`.
        case send(HostSnapshot, to: Peer.ID)
        /// Report the current revision to every guest: `StateFeed.Event.heartbeat`.
        case heartbeat
        /// Search the library for a guest and send the answer: `StateFeed.Event.answered`.
        case search(SearchRequest, for: Peer.ID)
        /// Answer a search with the reason for its refusal: `StateFeed.Event.answered`.
        case refuseSearch(SearchResults, Peer.ID)
        /// Send a guest the rejection of its intent.
        case reject(GuestIntent, RejectionReason, to: Peer.ID)
        /// Show the person an intent of a guest and its outcome.
        case report(GuestIntent, from: Peer, rejected: RejectionReason?)
        /// Disconnect a guest, and do not admit it again.
        case disconnect(Peer.ID)
        /// A removed guest may join again.
        case admit(Peer.ID)
        /// Show the person why a command had no effect.
        case notice(Notice)
    }

    /// Everything that a host knows.
    public struct State: Hashable, Sendable {
        /// Distinguishes this run from other runs.
        public var epoch: UInt32
        /// Counts the changes in this run.
        public var revision: UInt64
        /// The time of the last change.
        public var changedAt = MeshInstant.zero
        /// The present song; nil if nothing plays.
        public var nowPlaying: QueueItem?
        /// How long the song had played when playback last started. The time since then is added.
        public var playedBefore: MeshInstant
        /// When playback last started; nil while paused.
        public var playingSince: MeshInstant?
        /// No output is available for the sound, so the song's time stands still.
        public var waitsForSound = false
        /// The library's files are gone, so the song's time stands still until they are back.
        public var waitsForLibrary = false
        /// The queue, next song first.
        public var queue: [QueuedSong]
        /// The guests that are linked.
        public var connectedPeers: [Peer]
        /// Arrivals and departures that the guests have not been notified of.
        public var untold: UntoldGuests?
        /// The guests that want to skip the present song.
        public var skipVoters: [Peer.ID]
        /// The songs that have been played, each once, the one played longest ago first.
        public var played: [Song.ID]
        /// The peers that asked for the last songs, most recent last.
        public var lastAskers: [Peer.ID]
        /// The guests that this session does not admit.
        public var banned: [Peer.ID]
        /// The names of the guests that this run has removed.
        public var bannedNames: [Peer.ID: String] = [:]
        /// The co-hosts, linked or not.
        public var drivers: [Peer.ID] = []
        /// The songs that the player has failed on, oldest failure first.
        public var unplayable: [Song.ID] = []
        /// Number of songs that have begun to play in this run.
        public var turns = 0
        /// The songs before the present one, most recent last. `previous` goes back through them.
        public var history: [Song.ID] = []
        /// The steps of the driver that can be undone, most recent last.
        public var undoable: [UndoStep] = []
        /// Number of undoable steps of the driver in this run.
        public var steps = 0
        /// The player's volume in percent.
        public var volume = DJLimits.loudest
        /// How many decibels the music is lowered at present. Not stored: the reason may be over at the next start.
        public var ducked = 0
        /// Counts the seeks of this run.
        public var seeks = 0
        /// The playlist that the driver has chosen in this run; nil for the one that was active at the start.
        public var chosenPlaylist: String?
        /// The playlist that the driver asks for, until the head unit has looked for it.
        public var wantedPlaylist: String?
        /// Number of songs that were ever added.
        public var added: Int
        /// The search rate of each linked guest.
        public var searches: [Peer.ID: RateLimit] = [:]
        /// The last search of the person at the head unit.
        public var search: SearchRequest?
        /// When the next heartbeat is due.
        public var nextHeartbeat: MeshInstant

        /// Whether a song plays. False while it is paused.
        public var isPlaying: Bool { playingSince != nil }

        /// How long the present song has played.
        public func elapsed(_ now: MeshInstant) -> MeshInstant {
            playedBefore + (waitsForSound || waitsForLibrary ? .zero : playingSince.map { now - $0 } ?? .zero)
        }
    }

    /// Arrivals and departures that the guests have not been notified of.
    public struct UntoldGuests: Hashable, Sendable {
        /// The guest list of the last announcement.
        public var told: [Peer]
        /// When arrivals and goodbyes are announced, unless another change comes first; nil if there are no such
        /// changes.
        public var due: MeshInstant?
        /// The lost guests of that list, each with the time of its announcement.
        public var lost: [Peer.ID: MeshInstant] = [:]

        /// When the next announcement is due.
        var deadline: MeshInstant? { (lost.values + [due].compactMap(\.self)).min() }
    }

    /// The host itself.
    public let local: Peer
    /// The songs that guests can ask for.
    public internal(set) var library: SongLibrary
    /// The policies for guests' wishes.
    public let fairness: Fairness
    /// Whether a player reports the end of a song. Otherwise the song's length decides.
    public let hasPlayer: Bool
    /// Whether songs for an empty queue come in a random order, different in each run, instead of the library's order.
    public internal(set) var shuffles: Bool
    /// Everything that the host knows.
    public internal(set) var state: State
    /// The wish rate of each guest. The rate outlives the guest's link, so reconnecting does not reset the limit.
    var wishes: [Peer.ID: RateLimit] = [:]
    /// Number of the library's songs that a session starts with in its queue.
    private var opens = DJLimits.openingSongs
    /// The songs to play when the queue is empty; an empty array allows all songs of the library.
    var playlist: [Song.ID] = []
    /// The next song if the queue is empty. It is chosen when a song begins, since a large library takes time.
    var spare: Song?

    /// Creates a host that plays the first song of its library and queues the next `opens` ones. With `opens` of 0 it
    /// plays the first choice for an empty queue instead, and leaves the queue to the guests.
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

    /// Creates a host that resumes an interrupted run of the same session.
    public init(
        local: Peer, library: SongLibrary, fairness: Fairness = Fairness(), hasPlayer: Bool = false,
        opens: Int = DJLimits.openingSongs, shuffles: Bool = false, playlist: [Song.ID] = [],
        resuming saved: SavedSession, epoch: UInt32, now: MeshInstant
    ) {
        if !saved.items.isEmpty, saved.missingSongs(in: library) == saved.items.count {
            // The library contains none of its songs, so the session belongs to another library. The new one starts
            // afresh.
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

    /// The session that follows this one in the same run. It starts like a new host, but keeps the device's settings:
    /// the volume, the co-hosts, the chosen playlist, and whether the music is paused.
    package func nextSession(epoch: UInt32, now: MeshInstant) -> HostFeature {
        var next = HostFeature(
            local: local, library: library, fairness: fairness, hasPlayer: hasPlayer, opens: opens,
            volume: state.volume, shuffles: shuffles, playlist: playlist, epoch: epoch, now: now)
        next.wishes = wishes
        next.state.searches = state.searches
        next.state.search = state.search
        next.state.drivers = state.drivers
        next.state.chosenPlaylist = state.chosenPlaylist
        next.state.ducked = state.ducked
        next.state.unplayable = state.unplayable
        // The player distinguishes songs by their turn.
        next.state.turns += state.turns
        if state.nowPlaying != nil, !state.isPlaying { next.state.playingSince = nil }
        next.chooseSpare()
        return next
    }

    /// A host that plays nothing and has an empty queue.
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

    /// The state as guests see it, with the elapsed time of its last change.
    public var snapshot: HostSnapshot {
        HostSnapshot(
            epoch: state.epoch, revision: state.revision, nowPlaying: state.nowPlaying,
            isPlaying: state.isPlaying && !state.waitsForSound && !state.waitsForLibrary,
            hasSound: !state.waitsForSound,
            elapsed: state.elapsed(state.changedAt) / .seconds(1), queue: state.queue.map(\.item),
            connectedPeers: state.untold?.told ?? state.connectedPeers, skipVoters: state.skipVoters,
            drivers: linkedDrivers)
    }

    /// When the present song ends; nil if the player reports that.
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

    /// Handles an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Effect] {
        switch event {
        case .multipeerEvent(let event): handle(event, now: now)
        case .command(let command): handle(command, now: now)
        case .player(let report): handle(report, now: now)
        case .library(let library): take(library, now: now)
        case .libraryAway(let isAway): take(libraryAway: isAway, now: now)
        case .playlist(let songs): take(playlist: songs)
        case .playlistFound(let answer): take(answer)
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

    /// Finishes a change of the state: arranges the queue and notifies all guests.
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

    /// Keeps as many askers as the limit of songs in a row needs.
    mutating func noteAskers(_ askers: [Peer.ID]) {
        state.lastAskers = Array((state.lastAskers + askers).suffix(max(1, fairness.songsInARow ?? 1)))
    }
}
