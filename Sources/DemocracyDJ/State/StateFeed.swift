// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which state each guest is sent, and when: an event goes in, actions come out.
///
/// A guest gets the whole state first on every link, or what has changed since a recent one that it says it has, and then
/// only what has changed since what it was sent last. At most one update a guest is under way: while it waits to leave,
/// further changes add up, so that a slow link gets fewer updates and nothing queues up in front of it.
public struct StateFeed: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// A link to a guest is up, maybe in the place of an older one. A guest that comes with a change of the state is told
        /// after it (`stateChanged` first), so that the guest's first update has it. `has` is the state that has left with
        /// the answer to the guest (`welcome`), if one has.
        case guestConnected(
            Peer.ID, has: HostSnapshot? = nil, served: Delivery = .byHost, isMetered: Bool = false)
        /// A guest's link is gone.
        case guestGone(Peer.ID)
        /// The host's state is another one.
        case stateChanged(HostSnapshot)
        /// The update that was given to the transport last has left.
        case updateHasLeft(Peer.ID)
        /// Guests that have everything are told which state that is: `MeshMessage.stateHeartbeat`.
        case heartbeat
        /// A guest's search has an answer.
        case answered(SearchResults, for: Peer.ID)
        /// A guest has asked for this piece of a cover: it leaves when there is nothing else for it.
        case covered(CoverPiece, for: Peer.ID)
        /// A guest cannot use changes and asks for the whole (`MeshMessage.stateRequest`).
        case wholeRequested(Peer.ID)
    }

    /// Who brings a guest the state.
    public enum Delivery: Hashable, Sendable {
        /// The host itself.
        case byHost
        /// The host itself, and the guest takes it to others: now and then it gets the whole, for those who come later.
        case forOthers
        /// A relay. The host sends it where it is asked.
        case byRelay
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Give an update to the transport, in the class `latest`, and tell when it has left.
        case send(MeshMessage, to: Peer.ID)
        /// The same with the whole state, which says nothing new to who has everything before it: for those who come later.
        case checkpoint(MeshMessage, to: Peer.ID)
    }

    private enum UnderWay: Hashable {
        case nothing, change, whole, other
    }

    private struct Guest {
        let id: Peer.ID
        /// The state that the guest has once everything sent has arrived; nil where it needs the whole.
        var sent: HostSnapshot?
        var underWay = UnderWay.nothing
        /// What its last search has found, until it leaves.
        var answer: SearchResults?
        /// What it is shown of a cover, until it leaves.
        var cover: CoverPiece?
        var service = Delivery.byHost
        /// Its bytes cost money.
        var isMetered = false
        /// Those behind it would need more for the changes than for the whole, which it is to be sent as well.
        var owesCheckpoint = false
        /// Bytes of the changes that it was sent since the last whole.
        var changeBytes = 0
    }

    private var state: HostSnapshot
    /// When that state was made: what plays has gone on since.
    private var madeAt: MeshInstant
    /// The state and those before it: what guests may have that were gone for a moment.
    private var recent = RecentStates()
    private var guests: [Guest] = []
    /// Where each guest stands among them.
    private var places: [Peer.ID: Int] = [:]
    /// Updates to the present state, by the revision that they build on: most guests need the same one.
    private var updates: [UInt64: MeshMessage] = [:]
    private var wholeBytes: Int?
    private var heartbeats = 0
    /// Those behind relays that have asked for the whole, the first first, and those of them that are being sent it.
    private var asking: [(id: Peer.ID, since: MeshInstant)] = []
    private var answered: Set<Peer.ID> = []
    /// How many turns those behind relays have had.
    private var turns = 0

    /// A feed without guests. `now` is when the state was made.
    public init(_ state: HostSnapshot, now: MeshInstant = .zero) {
        self.state = state.fitted
        madeAt = now
        recent.append(self.state, at: now)
    }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant = .zero) -> [Action] {
        goOn(until: now)
        switch event {
        case .guestConnected(let id, let welcome, let service, let isMetered):
            remove(id)
            places[id] = guests.count
            // That it has left is told as for any other update.
            guests.append(
                Guest(
                    id: id, sent: welcome, underWay: welcome == nil ? .nothing : .whole, service: service,
                    isMetered: isMetered))
            // A relay that is behind is found out at once.
            return service == .byRelay ? sendHeartbeat(guests.count - 1) : catchUp(guests.count - 1)
        case .guestGone(let id):
            remove(id)
            return answerNext()
        case .stateChanged(let state):
            // A guest must have what the next change builds on, so what no message has room for is left out here.
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
            // A whole that is under way already is the answer.
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

    /// The first update for a guest whose answer is about to leave, and the state that it has then: the whole, or what is new to who has a
    /// recent state.
    public mutating func welcome(having name: StateName?, now: MeshInstant) -> (
        message: MeshMessage, state: HostSnapshot
    ) {
        goOn(until: now)
        let base = name.flatMap { recent.state($0) }
        if isCurrent(base) { return (heartbeat, state) }
        guard case .stateChange(var change) = update(from: base) else { return (.stateUpdate(state), state) }
        // Nobody knows for how long it has not heard of what plays.
        change.elapsed = elapsed
        return (.stateChange(change), state)
    }

    /// For how long what plays has played.
    private var elapsed: Double? { state.nowPlaying == nil ? nil : state.elapsed }

    /// Which state is the present one.
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

    /// What plays has gone on.
    private mutating func goOn(until now: MeshInstant) {
        state.elapse(now - madeAt)
        madeAt = now
    }

    /// Sends the whole to those who have asked first: what goes to one guest alone takes the air of all on its way, and a crowd that asks
    /// at once would get nothing, nor what the relays bring meanwhile.
    private mutating func answerNext() -> [Action] {
        var actions: [Action] = []
        // Most of those who have waited for long have it from their relay meanwhile.
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

    /// Sends a guest what it lacks, where nothing is under way to it: the transport keeps one at a time.
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

    /// Whether what a relay keeps of changes has become much more than the whole.
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

    /// Who is told which state is the present one. Behind relays each has a heartbeat of its own, and those of a crowd pass the same few
    /// links: some of them are told at a time.
    private mutating func heartbeatTurn() -> [Int] {
        let far = guests.indices.filter { guests[$0].service == .byRelay }
        let groups = (far.count + DJLimits.heartbeatsAtOnce - 1) / DJLimits.heartbeatsAtOnce
        guard groups > 1 else { return Array(guests.indices) }
        turns += 1
        let due = Set(far.enumerated().filter { ($0.offset + turns).isMultiple(of: groups) }.map(\.element))
        return guests.indices.filter { guests[$0].service != .byRelay || due.contains($0) }
    }

    /// A guest that has an update under way learns more from that.
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
        // Revisions of another epoch have nothing to do with the present one's.
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
    /// Whether it says for how long what plays has played, and so has to be made when it leaves.
    fileprivate var isSample: Bool {
        switch self {
        case .stateChange(let change): change.elapsed != nil
        default: true
        }
    }
}
