// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides everything about a guest's view and wishes: an event goes in, effects come out.
public struct GuestFeature: Feature {
    /// An input of a guest.
    public enum Event: Hashable, Sendable {
        /// An event of the network.
        case multipeerEvent(MultipeerEvent)
        /// The person votes.
        case vote(Song.ID)
        /// The person takes a vote back.
        case takeBackVote(Song.ID)
        /// The person suggests a song.
        case suggest(Song.ID)
        /// The person wants to skip the present song.
        case skip
        /// The person at a co-host uses one of the driver's controls. A guest to remove is named by its identifier, the
        /// head of that, or its name.
        case steer(SteeringWish)
        /// The person searches the host's library.
        case search(SongQuery)
        /// The person asks for the next page of the last search.
        case more
        /// The guest has stopped waiting for the host that it lost.
        case gaveUp
        /// A relay brings the state over the link that has just come up. The state may be old. With `continues` the
        /// relay sends the changes after the states that came over earlier links.
        case isServedByRelay(continues: Bool = false)
        /// The guest has named its state to the host on the link that has just come up, and the host may send the
        /// changes after this state.
        case mayGoOn
        /// The node has forgotten the key of a host; the argument is the head of its identifier. The same host may
        /// return with another key.
        case forgotHost(Peer.ID)
    }

    /// An output that the owner performs.
    public enum Effect: Hashable, Sendable {
        /// Pass a wish to the transport, which keeps it across links until the host has it.
        case send(GuestIntent, to: Peer.ID)
        /// Ask the host on this link only, with `MeshMessage.stateRequest` or `.search`.
        case request(MeshMessage, from: Peer.ID)
        /// Show the progress of a wish.
        case wishChanged(songID: Song.ID, Wish.Kind, WishState)
        /// Show the host's state.
        case show(HostSnapshot)
        /// Show the results of a search.
        case showResults(FoundSongs, for: SongQuery)
        /// The link to the host broke: reconnect.
        case reconnect(to: Peer)
        /// The host has ended its session or has rejected this guest: return to the start, where the person chooses a
        /// host.
        case returnToStart(Peer, DisconnectReason)
        /// Show a notice.
        case notice(Notice)
    }

    /// A guest's connection to its host.
    public enum ConnectionStatus: String, Hashable, Sendable {
        /// The person has yet to choose a host.
        case choosing
        /// A link to the host is up.
        case connected
        /// The link broke, and the guest tries to reconnect. It shows the last known state.
        case reconnecting
    }

    /// A host that was joined.
    public struct KnownHost: Hashable, Sendable {
        /// The identifier of the host.
        public var id: Peer.ID
        /// The run of the host that sent its last state; nil before the first state.
        public var epoch: UInt32?

        /// A host.
        public init(id: Peer.ID, epoch: UInt32? = nil) {
            self.id = id
            self.epoch = epoch
        }
    }

    /// The knowledge of a guest behind a relay about the host's present state.
    public enum Present: Hashable, Sendable {
        /// The host reports it with its first heartbeat on the link.
        case awaited
        /// The last heartbeat reported this revision.
        case told(epoch: UInt32, revision: UInt64)

        /// Whether a state is at least as new. A state of another run is not comparable.
        func isReached(by update: HostSnapshot) -> Bool {
            guard case .told(let epoch, let revision) = self else { return false }
            return update.epoch == epoch && update.revision >= revision
        }

        /// Whether a state belongs to another run than the host's present one. A relay can still have a state that an
        /// earlier run has signed.
        func isOtherRun(_ update: HostSnapshot) -> Bool {
            if case .told(let epoch, _) = self { update.epoch != epoch } else { false }
        }
    }

    /// Everything that a guest knows.
    public struct State: Hashable, Sendable {
        /// Messages still under way about songs for which the guest wants nothing any more. The messages of the next
        /// wish for such a song come after these.
        public var overtaken: [Song.ID: Overtaken] = [:]
        /// The state of the connection to the host.
        public var connectionStatus = ConnectionStatus.choosing
        /// The host that this guest is linked to.
        public var host: Peer?
        /// The host that was joined last. The transport keeps messages for it while it is out of reach.
        public var known: KnownHost?
        /// The host's last known state. It stays visible while the link is down.
        public var hostSnapshot: HostSnapshot?
        /// Whether that state came over the present link.
        public var isCurrent = false
        /// The first state of the present link, if it is older than the shown state or than the host reports: the relay
        /// is behind. Changes build on it, and it is not shown until it has caught up. Nil if the shown state is
        /// current.
        public var base: HostSnapshot?
        /// The state that the last link had reached when it ended, if it was not shown.
        public var left: HostSnapshot?
        /// The host's present state. Older states are not shown. Nil if the host itself sends the state.
        public var present: Present?
        /// The time at which the snapshot's `elapsed` was right.
        public var sampledAt = MeshInstant.zero
        /// The wishes that no snapshot has shown yet, oldest first.
        public var wishes: [Wish] = []
        /// Wishes for other hosts than the one that was joined last, oldest first.
        public var elsewhere: [Wish] = []
        /// The guest has asked the host for its full state.
        public var isWaitingForWhole = false
        /// While the guest waits for the full state, a heartbeat has reported a revision that the guest does not have.
        public var isToldInVain = false
        /// Changes that have arrived since that request.
        public var held = HeldChanges()
        /// The last search.
        public var search: Search?

        /// Creates the state of a guest that knows no host.
        public init() {}
    }

    /// A search.
    public struct Search: Hashable, Sendable {
        /// Grows with each search.
        public var number: UInt32
        /// The words or shelf of the search.
        public var query: SongQuery
        /// Whether the host has not answered the search yet.
        public var isOpen: Bool
        /// The songs that the host has found.
        public var found: [Song] = []
    }

    /// The peer that votes.
    public let local: Peer
    /// Everything that the guest knows.
    public internal(set) var state: State
    /// Recent states. The changes from another relay may be relative to one of these states.
    private var recent = RecentStates()

    /// Creates a guest without a host.
    public init(local: Peer) {
        self.local = local
        state = State()
    }

    /// The votes that no snapshot has shown yet, oldest first.
    public var pendingVotes: [Song.ID] { state.wishes.filter { $0.kind == .vote }.map(\.songID) }

    /// Whether the shown state may be out of date.
    public var isStale: Bool { !state.isCurrent }

    /// Handles an event. Only the elapsed time depends on `now`.
    public mutating func handle(_ event: Event, now: MeshInstant = .zero) -> [Effect] {
        goOn(until: now)
        return switch event {
        case .multipeerEvent(let event): handle(event)
        case .vote(let songID): cast(.vote, songID)
        case .takeBackVote(let songID): cast(.takeBack, songID)
        case .suggest(let songID): cast(.suggest, songID)
        case .skip: skip()
        case .steer(let wish): steer(wish)
        case .search(let query): search(query)
        case .more: more()
        case .gaveUp: gaveUp()
        case .isServedByRelay(let continues): isServedByRelay(continues)
        case .mayGoOn: mayGoOn()
        case .forgotHost(let head): forgotHost(head)
        }
    }

    /// Wishes for a forgotten host go to the next host that the guest joins.
    private mutating func forgotHost(_ head: Peer.ID) -> [Effect] {
        let freed = state.elsewhere.filter { $0.host?.hasPrefix(head) == true }
        state.elsewhere.removeAll { freed.contains($0) }
        let isKnown = state.known?.id.hasPrefix(head) == true && state.host == nil
        if isKnown {
            for index in state.wishes.indices { state.wishes[index].host = nil }
            meet(nil)
        }
        for old in freed where !state.wishes.contains(where: { $0.songID == old.songID }) {
            state.wishes.append(Wish(old.kind, old.songID))
        }
        return []
    }

    /// Makes a host the last joined one. Messages for the host before never reach the new one, so its state and its
    /// messages are dropped, and its wishes stay queued for it. A forgotten host may return with its old key and still
    /// have an earlier wish for the same song, so wishes without a host keep `needsDelivery`.
    private mutating func meet(_ host: KnownHost?) {
        let id = host?.id
        let (left, old) = (state.wishes.filter { $0.host != nil && $0.host != id }, state.wishes)
        let back = state.elsewhere.filter { $0.host == id }
        state.known = host
        (state.hostSnapshot, state.left, recent) = (nil, nil, RecentStates())
        state.overtaken = [:]
        state.elsewhere = Array((state.elsewhere.filter { $0.host != id } + left).suffix(DJLimits.pendingVotes))
        let new = old.filter { $0.host == nil || $0.host == id }.map { old in
            var wish = Wish(old.kind, old.songID)
            wish.needsDelivery = old.needsDelivery
            wish.host = id
            return wish
        }
        state.wishes = back.filter { wish in !new.contains { $0.songID == wish.songID } } + new
    }

    /// The transport keeps its messages for the host queued.
    private mutating func gaveUp() -> [Effect] {
        if state.connectionStatus == .reconnecting { state.connectionStatus = .choosing }
        return []
    }

    private mutating func isServedByRelay(_ continues: Bool) -> [Effect] {
        guard !state.isCurrent else { return [] }
        state.present = .awaited
        return continues ? mayGoOn() : []
    }

    private mutating func mayGoOn() -> [Effect] {
        guard !state.isCurrent else { return [] }
        state.base = state.left ?? state.hostSnapshot
        return []
    }

    /// Advances the shown song. While the host is out of reach its position is unknown.
    private mutating func goOn(until now: MeshInstant) {
        if state.isCurrent { state.hostSnapshot?.elapse(now - state.sampledAt) }
        state.base?.elapse(now - state.sampledAt)
        state.sampledAt = now
    }

    private mutating func skip() -> [Effect] {
        guard let host = state.host else { return [.notice(Notice(.notConnected))] }
        guard let song = state.hostSnapshot?.nowPlaying else { return [.notice(Notice(.nothingPlays))] }
        return [.send(isDriver ? .steer(.skip(songID: song.id)) : .skip(songID: song.id), to: host.id)]
    }

    /// Whether this device is a co-host.
    public var isDriver: Bool { state.hostSnapshot?.drivers.contains(local.id) == true }

    /// Wishes that the host would reject are rejected here at once.
    private mutating func steer(_ wish: SteeringWish) -> [Effect] {
        guard let host = state.host, let snapshot = state.hostSnapshot else { return [.notice(Notice(.notConnected))] }
        guard isDriver else { return [.notice(Notice(.cannotAdd("", .driverOnly)))] }
        if let songID = wish.songID, snapshot.item(songID) == nil { return [.notice(Notice(.notInQueue(songID)))] }
        guard case .kick(let name) = wish else { return [.send(.steer(wish), to: host.id)] }
        let meant = snapshot.connectedPeers.meant(by: name)
        guard let guest = meant.first else { return [.notice(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.notice(Notice(.severalGuests(meant)))] }
        return [.send(.steer(.kick(guest.id)), to: host.id)]
    }

    private mutating func more() -> [Effect] {
        guard let query = state.search?.query.next else { return [.notice(Notice(.nothingFoundYet))] }
        return search(query)
    }

    private mutating func search(_ query: SongQuery) -> [Effect] {
        guard let host = state.host else { return [.notice(Notice(.notConnected))] }
        let request = SearchRequest(
            number: (state.search?.number ?? 0) &+ 1, query: query, asksForState: state.isWaitingForWhole)
        guard request.isWithinLimits else { return [.notice(Notice(.searchTooLong))] }
        state.search = Search(number: request.number, query: query, isOpen: true)
        return [.request(.search(request), from: host.id)]
    }

    // MARK: The network

    private mutating func handle(_ event: MultipeerEvent) -> [Effect] {
        switch event {
        case .peerConnected(let peer): return connected(to: peer)
        case .peerDisconnected(let gone): return disconnected(from: gone.peer, gone.reason)
        case .messageReceived(let message, from: let peer):
            return state.host?.id == peer.id ? handle(message, from: peer) : []
        case .messageDelivered(.intent(let intent), to: let peer):
            delivered(intent, to: peer)
            return handOverWaiting()
        case .sendFailed(.intent(let intent), let error):
            // Another error does not name the receiver, but a guest has only one host.
            guard let peer = (error as? SendError)?.peer.id ?? state.known?.id else { return [] }
            return sendFailed(intent, to: peer)
        case .messageDelivered, .sendFailed, .peerDiscovered, .peerLost, .networkUnavailable, .sessionInvalidated:
            return []
        }
    }

    private mutating func connected(to peer: Peer) -> [Effect] {
        if state.known?.id != peer.id { meet(KnownHost(id: peer.id)) }
        state.host = peer
        state.connectionStatus = .connected
        // The first snapshot on a link counts whatever its epoch is. The epochs of another host, or of a device whose
        // clock was set back, do not compare.
        forgetStream()
        (state.isWaitingForWhole, state.held) = (false, HeldChanges())
        state.search?.isOpen = false
        return state.wishes.indices.flatMap { index -> [Effect] in
            let wish = state.wishes[index]
            guard wish.progress != .sent else { return [] }
            state.wishes[index].progress = .sent
            let shown = Effect.wishChanged(songID: wish.songID, wish.kind, .sent)
            return wish.progress == .waiting ? [send(index, to: peer.id), shown] : [shown]
        }
    }

    /// The names of the recent states of the known host, newest first.
    public var stateNames: [StateName] { recent.names }

    /// A new link starts without a state, unless a relay continues the earlier one.
    private mutating func forgetStream() {
        state.left = state.isCurrent ? nil : state.base ?? state.left
        (state.isCurrent, state.base, state.present) = (false, nil, nil)
    }

    private mutating func disconnected(from peer: Peer, _ reason: DisconnectReason) -> [Effect] {
        // Another guest left. The next snapshot shows that.
        guard state.host?.id == peer.id else { return [] }
        state.host = nil
        forgetStream()
        let waiting = state.wishes.indices.filter { state.wishes[$0].progress == .sent }.map { index -> Effect in
            state.wishes[index].progress = .handedOver
            return .wishChanged(songID: state.wishes[index].songID, state.wishes[index].kind, .queued)
        }
        switch reason {
        case .goodbye, .refused:
            state.connectionStatus = .choosing
            return waiting + [.returnToStart(peer, reason)]
        case .linkLost, .replaced:
            state.connectionStatus = .reconnecting
            return waiting + [.reconnect(to: peer)]
        }
    }

    private mutating func handle(_ message: MeshMessage, from host: Peer) -> [Effect] {
        switch message {
        case .stateUpdate(let update):
            state.isWaitingForWhole = false
            return take(update) + state.held.take().flatMap { take($0, from: host) }
        case .stateChange(let change): return take(change, from: host)
        case .stateHeartbeat(let epoch, let revision, let elapsed):
            return take(epoch, revision, elapsed, from: host)
        case .rejection(let intent, let reason): return rejected(intent, reason)
        case .searchResults(let results):
            guard let search = state.search, search.isOpen, search.number == results.number else { return [] }
            state.search?.isOpen = false
            if let reason = results.refused { return [.notice(Notice(.searchRefused(search.query.words, reason)))] }
            state.search?.found = results.found.songs
            return [.showResults(results.found, for: search.query)]
        // Ignore messages that only guests send.
        case .intent, .stateRequest, .search, .coverRequest, .coverPiece: return []
        }
    }

    // MARK: The host's state

    /// Applies a change to the state that it builds on. A guest with another state asks for the full state, once. A
    /// change that fits was only late, and the guest no longer needs the full state.
    private mutating func take(_ change: HostChange, from host: Peer) -> [Effect] {
        let snapshot = state.isCurrent ? state.hostSnapshot : state.base
        if let next = snapshot?.applying(change) {
            state.isWaitingForWhole = false
            return take(next)
        }
        if state.present != nil || state.isCurrent || state.base != nil,
            let next = recent.applying(change, at: state.sampledAt)
        {
            let isPresent = state.isCurrent && state.hostSnapshot.map { next.supersedes($0) } != false
            if isPresent { (state.isWaitingForWhole, state.held) = (false, HeldChanges()) }
            return take(next)
        }
        guard !state.isWaitingForWhole else {
            state.held.hold(change)
            return []
        }
        if let snapshot {
            // A late change that is older than the state is useless.
            if (change.epoch, change.revision) <= (snapshot.epoch, snapshot.revision) { return [] }
        }
        return [askForWhole(host)]
    }

    /// The host has reported its current revision.
    private mutating func take(
        _ epoch: UInt32, _ revision: UInt64, _ elapsed: Double?, from host: Peer
    ) -> [Effect] {
        if state.present != nil { state.present = .told(epoch: epoch, revision: revision) }
        if !state.isCurrent, state.present != nil {
            // The guest asks for the full state only when the relay has had its time to catch up.
            guard var base = state.base else { return [] }
            if (base.epoch, base.revision) == (epoch, revision) { base.elapsed = elapsed ?? base.elapsed }
            return take(base)
        }
        // The host still has the state that this guest had when it returned.
        if !state.isCurrent, var base = state.base, (base.epoch, base.revision) == (epoch, revision) {
            base.elapsed = elapsed ?? base.elapsed
            return take(base)
        }
        guard let snapshot = state.isCurrent ? state.hostSnapshot : state.base else { return [] }
        if state.isCurrent, (snapshot.epoch, snapshot.revision) == (epoch, revision) {
            return correct(elapsed) + settleWishes(by: snapshot)
        }
        // This heartbeat was under way for longer than a state that a relay has brought.
        if state.isCurrent, snapshot.epoch == epoch, revision < snapshot.revision { return [] }
        guard state.isWaitingForWhole else { return [askForWhole(host)] }
        // A host sends no heartbeat to a guest while an update for it is under way. The first heartbeat may have
        // crossed the request. A second heartbeat shows that the requested state is not under way.
        guard state.isToldInVain else {
            state.isToldInVain = true
            return []
        }
        return [askForWhole(host)]
    }

    /// The host's clock is authoritative. A correction that people would not notice is not shown.
    private mutating func correct(_ elapsed: Double?) -> [Effect] {
        guard let elapsed, let snapshot = state.hostSnapshot else { return [] }
        state.hostSnapshot?.elapsed = elapsed
        guard abs(elapsed - snapshot.elapsed) > DJLimits.noticedSeconds, let corrected = state.hostSnapshot else {
            return []
        }
        return [.show(corrected)]
    }

    private mutating func askForWhole(_ host: Peer) -> Effect {
        (state.isWaitingForWhole, state.isToldInVain) = (true, false)
        guard let search = state.search, search.isOpen else { return .request(.stateRequest, from: host.id) }
        // A new request replaces an unsent one, so one message asks for both.
        return .request(
            .search(SearchRequest(number: search.number, query: search.query, asksForState: true)), from: host.id)
    }

    /// Shows a new state. Within a run of the host the queue never goes back to an older state.
    private mutating func take(_ update: HostSnapshot) -> [Effect] {
        if state.present?.isOtherRun(update) == true { return [] }
        recent.append(update, at: state.sampledAt)
        // A relay continues from a state behind the one that the host itself has sent. Later changes of the relay may
        // result in a newer state.
        if state.isCurrent, let snapshot = state.hostSnapshot, update.epoch == snapshot.epoch,
            !update.supersedes(snapshot)
        {
            return []
        }
        let isBehind = state.hostSnapshot.map { update.isBehind($0) } == true
        guard !state.isCurrent, isBehind || state.present?.isReached(by: update) == false else { return show(update) }
        if state.base.map({ update.supersedes($0) || update.epoch != $0.epoch }) != false { state.base = update }
        return []
    }

    private mutating func show(_ update: HostSnapshot) -> [Effect] {
        state.base = nil
        let isNewRun = state.known?.epoch != nil && state.known?.epoch != update.epoch
        state.hostSnapshot = update
        state.isCurrent = true
        state.known?.epoch = update.epoch
        return [.show(update)] + (isNewRun ? repeatWishes(by: update) : settleWishes(by: update))
    }
}

extension GuestFeature.Event {
    /// Whether the event is a wish for the host, which must not be lost.
    public var isWish: Bool {
        switch self {
        case .vote, .takeBackVote, .suggest, .skip, .steer: true
        case .multipeerEvent, .search, .more, .gaveUp, .isServedByRelay, .mayGoOn, .forgotHost: false
        }
    }

    /// The song that the event names, if it names one.
    public var songID: Song.ID? {
        switch self {
        case .vote(let songID), .takeBackVote(let songID), .suggest(let songID): songID
        case .steer(let wish): wish.songID
        case .skip, .search, .more, .gaveUp, .isServedByRelay, .mayGoOn, .forgotHost, .multipeerEvent: nil
        }
    }
}
