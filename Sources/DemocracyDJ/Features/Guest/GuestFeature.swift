// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides everything about a guest's view and wishes: an event goes in, effects come out.
public struct GuestFeature: Feature {
    /// What happens to a guest.
    public enum Event: Hashable, Sendable {
        /// The network says something.
        case multipeerEvent(MultipeerEvent)
        /// The person votes.
        case vote(Song.ID)
        /// The person takes a vote back.
        case takeBackVote(Song.ID)
        /// The person suggests a song.
        case suggest(Song.ID)
        /// The person wants another song than the one that plays.
        case skip
        /// The person at a device of the driver's steers. A guest to send away is meant by identifier, its head or name.
        case steer(SteeringWish)
        /// The person looks for songs in the host's library.
        case search(SongQuery)
        /// Look for what comes behind what was found last.
        case more
        /// The host that was lost is not waited for any longer.
        case gaveUp
        /// Over the link that has just come up a relay brings the state, and that may be behind; or, where it continues what came over
        /// earlier links, what follows on that.
        case isServedByRelay(continues: Bool = false)
        /// On the link that has just come up the host was told which state this guest has, and may send what follows on that.
        case mayGoOn
        /// The key of the host that was joined, which begins like this, is forgotten: another one may be the same host's.
        case forgotHost(Peer.ID)
    }

    /// What is to be done.
    public enum Effect: Hashable, Sendable {
        /// Give a wish for the host to the transport, which keeps it until the host has it, across links.
        case send(GuestIntent, to: Peer.ID)
        /// Ask the host on this link only: `MeshMessage.stateRequest` or `.search`.
        case request(MeshMessage, from: Peer.ID)
        /// Show where a wish has got to.
        case wishChanged(songID: Song.ID, Wish.Kind, WishState)
        /// Show the host's state.
        case show(HostSnapshot)
        /// Show what the host has found for these words.
        case showResults(FoundSongs, for: SongQuery)
        /// The link to the host broke: find the way back to it.
        case reconnect(to: Peer)
        /// The host has ended its session, or does not want this guest: back to the start, where a host is chosen.
        case returnToStart(Peer, DisconnectReason)
        /// Tell the person something.
        case notice(Notice)
    }

    /// Where a guest stands with its host.
    public enum ConnectionStatus: String, Hashable, Sendable {
        /// A host is to be chosen.
        case choosing
        /// There is a link to the host.
        case connected
        /// The link broke, and the way back is looked for. What is on view is the last that is known.
        case reconnecting
    }

    /// A host that was joined.
    public struct KnownHost: Hashable, Sendable {
        /// Who it is.
        public var id: Peer.ID
        /// The run of it that its last state told of; nil before the first.
        public var epoch: UInt32?

        /// A host.
        public init(id: Peer.ID, epoch: UInt32? = nil) {
            self.id = id
            self.epoch = epoch
        }
    }

    /// What is known of the host's present state where a relay brings it.
    public enum Present: Hashable, Sendable {
        /// The host says it with its first heartbeat on the link.
        case awaited
        /// It was this one then.
        case told(epoch: UInt32, revision: UInt64)

        /// Whether a state is at least as new. A state of another run is not comparable.
        func isReached(by update: HostSnapshot) -> Bool {
            guard case .told(let epoch, let revision) = self else { return false }
            return update.epoch == epoch && update.revision >= revision
        }

        /// Whether a state is of another run than the host's present one: a relay can keep what an earlier run has signed.
        func isOtherRun(_ update: HostSnapshot) -> Bool {
            if case .told(let epoch, _) = self { update.epoch != epoch } else { false }
        }
    }

    /// What a guest knows.
    public struct State: Hashable, Sendable {
        /// What is still on its way about songs that nothing is wanted of any more: the next wish comes behind it.
        public var overtaken: [Song.ID: Overtaken] = [:]
        /// Where it stands with its host.
        public var connectionStatus = ConnectionStatus.choosing
        /// The host that this guest is linked to.
        public var host: Peer?
        /// The host that was joined last: the transport keeps what is for it while it is out of reach.
        public var known: KnownHost?
        /// The host's last known state; it stays on view through a gap.
        public var hostSnapshot: HostSnapshot?
        /// That state came over the present link.
        public var isCurrent = false
        /// What came first over the present link where that is older than what is on view, or than the host says: a relay is
        /// behind. What follows builds on it, and it is not shown before it has caught up. Nil beside a present state.
        public var base: HostSnapshot?
        /// What the last link had brought when it ended, where that was not shown.
        public var left: HostSnapshot?
        /// Nothing older is shown. Nil where the host itself brings the state.
        public var present: Present?
        /// When its `elapsed` was right.
        public var sampledAt = MeshInstant.zero
        /// What this guest wants and no snapshot has shown yet, the oldest first.
        public var wishes: [Wish] = []
        /// What it wants of other hosts than the one that was joined last, the oldest first.
        public var elsewhere: [Wish] = []
        /// The host was asked for its whole state.
        public var isWaitingForWhole = false
        /// The host has told of a state that is not here since it was asked for the whole.
        public var isToldInVain = false
        /// What has come since it was asked.
        public var held = HeldChanges()
        /// The words that were looked for last, and the number of that search.
        public var search: Search?

        /// Nobody is known yet.
        public init() {}
    }

    /// A search.
    public struct Search: Hashable, Sendable {
        /// Grows with each.
        public var number: UInt32
        /// What was looked for.
        public var query: SongQuery
        /// The host has not answered it.
        public var isOpen: Bool
        /// What the host has found.
        public var found: [Song] = []
    }

    /// Who votes.
    public let local: Peer
    /// What the guest knows.
    public internal(set) var state: State
    /// What has come of late: what another relay brings may build on it.
    private var recent = RecentStates()

    /// A guest without a host.
    public init(local: Peer) {
        self.local = local
        state = State()
    }

    /// The votes that no snapshot has shown yet, oldest first.
    public var pendingVotes: [Song.ID] { state.wishes.filter { $0.kind == .vote }.map(\.songID) }

    /// Whether the state on view may be out of date.
    public var isStale: Bool { !state.isCurrent }

    /// Takes an event. Only elapsed time depends on `now`.
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

    /// What was wanted of a host that is forgotten is for the one that is joined next.
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

    /// What the transport has for another host does not reach this one, and what that one played says nothing of it: what was
    /// wanted of that one waits for it. But a host whose key was to be forgotten may be back with it, and have an earlier wish of
    /// the same song.
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

    /// What is kept for the host stays with it.
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

    /// What plays has gone on; while the host is out of reach nobody knows.
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

    /// Whether the host lets this device steer.
    public var isDriver: Bool { state.hostSnapshot?.drivers.contains(local.id) == true }

    /// What the host would not follow is told at once.
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
        case .sendFailed(.intent(let intent), let error): return sendFailed(intent, to: error.peer.id)
        case .messageDelivered, .sendFailed, .peerDiscovered, .peerLost, .networkUnavailable, .sessionInvalidated:
            return []
        }
    }

    private mutating func connected(to peer: Peer) -> [Effect] {
        if state.known?.id != peer.id { meet(KnownHost(id: peer.id)) }
        state.host = peer
        state.connectionStatus = .connected
        // The first snapshot on a link counts whatever its epoch is: another host's epochs, or those of a device whose clock was
        // set back, say nothing.
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

    /// The last states that are here of the host that was joined last, the newest first.
    public var stateNames: [StateName] { recent.names }

    /// Another link begins from nothing, unless a relay has what follows.
    private mutating func forgetStream() {
        state.left = state.isCurrent ? nil : state.base ?? state.left
        (state.isCurrent, state.base, state.present) = (false, nil, nil)
    }

    private mutating func disconnected(from peer: Peer, _ reason: DisconnectReason) -> [Effect] {
        // Another guest left: the next snapshot shows it.
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
        // A guest's own kinds of message, sent by a host, mean nothing here.
        case .intent, .stateRequest, .search, .coverRequest, .coverPiece: return []
        }
    }

    // MARK: The host's state

    /// A change makes the next state of the one it builds on. A guest that has another asks for the whole, once. One that fits was only
    /// late, and the whole is waited for no longer.
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
            // An old one that comes late tells nothing new.
            if (change.epoch, change.revision) <= (snapshot.epoch, snapshot.revision) { return [] }
        }
        return [askForWhole(host)]
    }

    /// The host says which state is its present one.
    private mutating func take(
        _ epoch: UInt32, _ revision: UInt64, _ elapsed: Double?, from host: Peer
    ) -> [Effect] {
        if state.present != nil { state.present = .told(epoch: epoch, revision: revision) }
        if !state.isCurrent, state.present != nil {
            // What does not catch up is asked for when the relay has had its time.
            guard var base = state.base else { return [] }
            if (base.epoch, base.revision) == (epoch, revision) { base.elapsed = elapsed ?? base.elapsed }
            return take(base)
        }
        // It is what this guest had when it came back.
        if !state.isCurrent, var base = state.base, (base.epoch, base.revision) == (epoch, revision) {
            base.elapsed = elapsed ?? base.elapsed
            return take(base)
        }
        guard let snapshot = state.isCurrent ? state.hostSnapshot : state.base else { return [] }
        if state.isCurrent, (snapshot.epoch, snapshot.revision) == (epoch, revision) {
            return correct(elapsed) + settleWishes(by: snapshot)
        }
        // It has been under way for longer than a state that a relay has brought.
        if state.isCurrent, snapshot.epoch == epoch, revision < snapshot.revision { return [] }
        guard state.isWaitingForWhole else { return [askForWhole(host)] }
        // While the whole comes a host says nothing of it. Where it does twice, what was asked for is not on its way.
        guard state.isToldInVain else {
            state.isToldInVain = true
            return []
        }
        return [askForWhole(host)]
    }

    /// The host's clock is the one that counts. What nobody would notice is not shown again.
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
        // One request takes the place of another that has not left.
        return .request(
            .search(SearchRequest(number: search.number, query: search.query, asksForState: true)), from: host.id)
    }

    /// Nobody sees the queue go back within a run of the host.
    private mutating func take(_ update: HostSnapshot) -> [Effect] {
        if state.present?.isOtherRun(update) == true { return [] }
        recent.append(update, at: state.sampledAt)
        // A relay that goes on behind what the host itself has sent: what it brings next may lead past that.
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
    /// Whether the person wants something of the host, which could be forgotten.
    public var isWish: Bool {
        switch self {
        case .vote, .takeBackVote, .suggest, .skip, .steer: true
        case .multipeerEvent, .search, .more, .gaveUp, .isServedByRelay, .mayGoOn, .forgotHost: false
        }
    }

    /// The song that it is about, where it names one.
    public var songID: Song.ID? {
        switch self {
        case .vote(let songID), .takeBackVote(let songID), .suggest(let songID): songID
        case .steer(let wish): wish.songID
        case .skip, .search, .more, .gaveUp, .isServedByRelay, .mayGoOn, .forgotHost, .multipeerEvent: nil
        }
    }
}
