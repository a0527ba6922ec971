// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which state to send to each guest, and when: an event goes in, actions come out.
///
/// On every link a guest first gets the full state, or the changes since a recent state that it names. After that it
/// gets only the changes since the last update that it was sent. At most one update per guest is under way. Until that
/// update has left, further changes are merged into the next update. So a slow link gets fewer updates, and no queue
/// builds up in front of it.
public struct StateFeed: Sendable {
    /// An input.
    public enum Event: Hashable, Sendable {
        /// A link to a guest is up, and may replace an older one. If the guest's arrival changes the state,
        /// `stateChanged` comes first, so that the guest's first update includes it. `has` is the state that was sent
        /// with the answer to the guest (`welcome`), if one was.
        case guestConnected(
            Peer.ID, has: HostSnapshot? = nil, served: Delivery = .byHost, isMetered: Bool = false)
        /// The link to a guest has ended.
        case guestGone(Peer.ID)
        /// The host's state has changed.
        case stateChanged(HostSnapshot)
        /// The last update that was given to the transport has left.
        case updateHasLeft(Peer.ID)
        /// Report the current revision to the guests that have it: `MeshMessage.stateHeartbeat`.
        case heartbeat
        /// The answer to a guest's search is ready.
        case answered(SearchResults, for: Peer.ID)
        /// A piece of a cover that a guest has asked for. It is sent when nothing else is waiting for the guest.
        case covered(CoverPiece, for: Peer.ID)
        /// A guest cannot use changes and asks for the full state (`MeshMessage.stateRequest`).
        case wholeRequested(Peer.ID)
    }

    /// Which node sends the state to a guest.
    public enum Delivery: Hashable, Sendable {
        /// The host.
        case byHost
        /// The host, and the guest forwards it to others. From time to time it gets the full state, for guests that
        /// join later.
        case forOthers
        /// A relay. The host sends the state only on request.
        case byRelay
    }

    /// An output that the owner performs.
    public enum Action: Hashable, Sendable {
        /// Pass an update to the transport, in the class `latest`, and report when it has left.
        case send(MeshMessage, to: Peer.ID)
        /// Pass the full state to the transport in the same way. A relay keeps it for guests that join later. Guests
        /// that have the changes need it no more.
        case checkpoint(MeshMessage, to: Peer.ID)
    }

    private enum UnderWay: Hashable {
        case nothing, change, whole, other
    }

    private struct Guest {
        let id: Peer.ID
        /// The state that the guest has once everything sent has arrived; nil if it needs the full state.
        var sent: HostSnapshot?
        var underWay = UnderWay.nothing
        /// The results of the guest's last search, until they are sent.
        var answer: SearchResults?
        /// The next piece of a cover, until it is sent.
        var cover: CoverPiece?
        var service = Delivery.byHost
        /// Whether the guest's link is metered.
        var isMetered = false
        /// Whether the guest also needs a full state. The changes for the guests behind it would be larger than a full
        /// state.
        var owesCheckpoint = false
        /// Bytes of the changes that it was sent since the last full state.
        var changeBytes = 0
    }

    private var state: HostSnapshot
    /// The time at which that state's `elapsed` was right.
    private var madeAt: MeshInstant
    /// The present state and earlier ones. A guest that returns may have one of them.
    private var recent = RecentStates()
    private var guests: [Guest] = []
    /// The index of each guest in `guests`.
    private var places: [Peer.ID: Int] = [:]
    /// Updates to the present state, by the revision that they build on. Most guests need the same one.
    private var updates: [UInt64: MeshMessage] = [:]
    private var wholeBytes: Int?
    private var heartbeats = 0
    /// Guests behind relays that have asked for the full state, oldest request first; and those that are being sent it.
    private var asking: [(id: Peer.ID, since: MeshInstant)] = []
    private var answered: Set<Peer.ID> = []
    /// Number of heartbeat rounds for guests behind relays.
    private var turns = 0

    /// Creates a feed without guests. `now` is the time of the state.
    public init(_ state: HostSnapshot, now: MeshInstant = .zero) {
        self.state = state.fitted
        madeAt = now
        recent.append(self.state, at: now)
    }

    /// Handles an event.
    public mutating func handle(_ event: Event, now: MeshInstant = .zero) -> [Action] {
        goOn(until: now)
        switch event {
        case .guestConnected(let id, let welcome, let service, let isMetered):
            remove(id)
            places[id] = guests.count
            // The transport reports when the state of the welcome has left, as for any other update.
            guests.append(
                Guest(
                    id: id, sent: welcome, underWay: welcome == nil ? .nothing : .whole, service: service,
                    isMetered: isMetered))
            // The heartbeat shows at once whether the relay is behind.
            return service == .byRelay ? sendHeartbeat(guests.count - 1) : catchUp(guests.count - 1)
        case .guestGone(let id):
            remove(id)
            return answerNext()
        case .stateChanged(let state):
            // The next change builds on what guests have, so everything that does not fit a message is left out here.
            self.state = state.fitted
            recent.append(self.state, at: now)
            updates = [:]
            wholeBytes = nil
            return guests.indices.flatMap { catchUp($0) }
        case .updateHasLeft(let id):
            guard let index = places[id] else { return [] }
            let wasWhole = guests[index].underWay == .whole
            guests[index].underWay = .nothing
            if wasWhole { answered.remove(id) }
            return catchUp(index) + answerNext()
        case .heartbeat:
            heartbeats += 1
            let isRare = heartbeats % DJLimits.meteredHeartbeats == 0
            return heartbeatTurn().flatMap { isRare || !guests[$0].isMetered ? sendHeartbeat($0) : [] }
        case .answered(let results, let id):
            guard let index = places[id] else { return [] }
            guests[index].answer = results
            return catchUp(index)
        case .covered(let piece, let id):
            guard let index = places[id] else { return [] }
            guests[index].cover = piece
            return catchUp(index)
        case .wholeRequested(let id):
            // If a full state is under way, it answers the request.
            guard let index = places[id], guests[index].underWay != .whole else {
                return []
            }
            guests[index].sent = nil
            guests[index].owesCheckpoint = false
            guard guests[index].service == .byRelay else { return catchUp(index) }
            if let place = asking.firstIndex(where: { $0.id == id }) {
                asking[place].since = now
            } else {
                asking.append((id, since: now))
            }
            return answerNext()
        }
    }

    /// The first update for a guest that is about to be answered, and the state that it then has. The update is the
    /// full state, or the changes since the recent state that the guest names.
    public mutating func welcome(having name: StateName?, now: MeshInstant) -> (
        message: MeshMessage, state: HostSnapshot
    ) {
        goOn(until: now)
        let base = name.flatMap { recent.state($0) }
        if isCurrent(base) { return (heartbeat, state) }
        guard case .stateChange(var change) = update(from: base) else { return (.stateUpdate(state), state) }
        // The guest has been without updates for an unknown time, so the change includes the elapsed time.
        change.elapsed = elapsed
        return (.stateChange(change), state)
    }

    /// How long the present song has played.
    private var elapsed: Double? { state.nowPlaying == nil ? nil : state.elapsed }

    /// The message with the current revision.
    private var heartbeat: MeshMessage {
        .stateHeartbeat(epoch: state.epoch, revision: state.revision, elapsed: elapsed)
    }

    private mutating func remove(_ id: Peer.ID) {
        guard let place = places.removeValue(forKey: id) else { return }
        asking.removeAll { $0.id == id }
        answered.remove(id)
        guests.remove(at: place)
        for next in place..<guests.count { places[guests[next].id] = next }
    }

    /// Advances the present song.
    private mutating func goOn(until now: MeshInstant) {
        state.elapse(now - madeAt)
        madeAt = now
    }

    /// Sends the full state to the oldest requests first. A message to one guest takes air time on all links of its
    /// route. If a crowd were answered at once, neither the answers nor the relays' own updates would get through.
    private mutating func answerNext() -> [Action] {
        var actions: [Action] = []
        // Most guests that have waited this long have got it from their relay.
        asking.removeAll { madeAt - $0.since >= DJLimits.askedForWhole }
        while answered.count < DJLimits.answeredAtOnce,
            let next = asking.firstIndex(where: { places[$0.id].map { guests[$0].underWay == .nothing } == true })
        {
            let id = asking.remove(at: next).id
            answered.insert(id)
            if let place = places[id] { actions += catchUp(place) }
        }
        return actions
    }

    /// Sends a guest what it lacks, unless something is under way to it: the transport keeps one message at a time.
    private mutating func catchUp(_ index: Int) -> [Action] {
        let guest = guests[index]
        guard guest.underWay == .nothing else { return [] }
        if guest.service == .byRelay ? answered.contains(guest.id) : !isCurrent(guest.sent) {
            let update = update(from: guest.sent)
            guests[index].sent = state
            guests[index].underWay = if case .stateChange = update { .change } else { .whole }
            guests[index].owesCheckpoint = guest.service == .forOthers && isCheckpointDue(after: update, index)
            return [.send(update, to: guest.id)]
        }
        if guest.owesCheckpoint {
            guests[index].owesCheckpoint = false
            guests[index].changeBytes = 0
            guests[index].underWay = .whole
            return [.checkpoint(.stateUpdate(state), to: guest.id)]
        }
        guard let rest = guest.answer.map(MeshMessage.searchResults) ?? guest.cover.map(MeshMessage.coverPiece) else {
            return []
        }
        if guest.answer == nil { guests[index].cover = nil }
        guests[index].answer = nil
        guests[index].underWay = .other
        return [.send(rest, to: guest.id)]
    }

    /// Whether the changes that a relay keeps have become much larger than the full state.
    private mutating func isCheckpointDue(after update: MeshMessage, _ index: Int) -> Bool {
        guard case .stateChange = update else {
            guests[index].changeBytes = 0
            return false
        }
        guests[index].changeBytes += update.encoded.count
        wholeBytes = wholeBytes ?? MeshMessage.stateUpdate(state).encoded.count
        let limit = min(DJLimits.changesPerCheckpoint * (wholeBytes ?? 0), DJLimits.messageBytes)
        return guests[index].changeBytes > limit
    }

    /// The guests that get a heartbeat now. Each guest behind a relay has a heartbeat of its own, and those of a crowd
    /// cross the same few links, so a round has only some of them.
    private mutating func heartbeatTurn() -> [Int] {
        let far = guests.indices.filter { guests[$0].service == .byRelay }
        let groups = (far.count + DJLimits.heartbeatsAtOnce - 1) / DJLimits.heartbeatsAtOnce
        guard groups > 1 else { return Array(guests.indices) }
        turns += 1
        let due = Set(far.enumerated().filter { ($0.offset + turns).isMultiple(of: groups) }.map(\.element))
        return guests.indices.filter { guests[$0].service != .byRelay || due.contains($0) }
    }

    /// Sends a heartbeat, unless an update is under way, which contains the revision too.
    private mutating func sendHeartbeat(_ index: Int) -> [Action] {
        let guest = guests[index]
        guard guest.underWay == .nothing, guest.service == .byRelay || isCurrent(guest.sent) else { return [] }
        guests[index].underWay = .other
        return [.send(heartbeat, to: guest.id)]
    }

    private func isCurrent(_ sent: HostSnapshot?) -> Bool {
        sent?.epoch == state.epoch && sent?.revision == state.revision
    }

    private mutating func update(from base: HostSnapshot?) -> MeshMessage {
        let whole = MeshMessage.stateUpdate(state)
        // Revisions of different epochs are unrelated.
        guard let base, base.epoch == state.epoch else { return whole }
        if let update = updates[base.revision], !update.isSample { return update }
        var update = whole
        if let change = HostChange(from: base, to: state) {
            let size = MeshMessage.stateChange(change).encoded.count
            if size >= state.leastBytes { wholeBytes = wholeBytes ?? whole.encoded.count }
            if size < wholeBytes ?? state.leastBytes { update = .stateChange(change) }
        }
        updates[base.revision] = update
        return update
    }
}

extension MeshMessage {
    /// Whether the message includes an elapsed time, and so has to be built when it leaves.
    fileprivate var isSample: Bool {
        switch self {
        case .stateChange(let change): change.elapsed != nil
        default: true
        }
    }
}
