// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Decides who of the passengers with browsers is there, what the host hears of them, and who is not let in.
struct WebGuests: Sendable {
    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Tell the host.
        case send(MultipeerEvent)
        /// What this guest sees is something else.
        case changed(Peer.ID)
    }

    /// Why somebody is not let in.
    enum Refusal: String, Error, Hashable, Sendable {
        /// The driver has sent this guest away.
        case banned
        /// There are as many as there may be.
        case full
    }

    private struct Entry: Sendable {
        var guest: WebGuest
        var sessions: [String] = []
        var streams = 0
        /// Since when it has no stream.
        var absentSince: MeshInstant?
    }

    private let host: Peer
    private var entries: [Peer.ID: Entry] = [:]
    private var banned = RecentTable<Peer.ID, Void>(limit: DJLimits.bannedPeers)
    private var snapshot: HostSnapshot?
    private var nextHeartbeat: MeshInstant = .zero

    /// Nobody is there yet.
    init(host: Peer) {
        self.host = host
    }

    /// Who is there.
    var present: Set<Peer.ID> { Set(entries.values.filter(\.guest.isLinked).map(\.guest.peer.id)) }

    /// What a guest sees by itself; nil for nobody of these.
    func viewpoint(_ id: Peer.ID) -> Viewpoint? { entries[id]?.guest.viewpoint }

    /// Whose session it is. A guest that was sent away keeps its own, to be told so.
    func guest(session: String) -> Peer.ID? {
        var found: Peer.ID?
        // All of them are compared, so that the time it takes tells nothing.
        for (id, entry) in entries {
            for one in entry.sessions where DashboardTokens.areSame(one, session) { found = id }
        }
        return found
    }

    // MARK: Coming and going

    /// Somebody wants to join, by a key that only they have; `session` is a new one for their browser.
    mutating func join(_ peer: Peer, session: String, now: MeshInstant) throws(Refusal) -> [Action] {
        guard banned[peer.id] == nil else { throw .banned }
        var actions: [Action] = []
        if entries[peer.id] == nil {
            if entries.count >= DashboardLimits.webGuests { actions += try makeRoom(now: now) }
            entries[peer.id] = Entry(guest: WebGuest(peer, host: host), absentSince: now)
        }
        if var entry = entries[peer.id] {
            entry.sessions = (entry.sessions + [session]).suffix(DashboardLimits.sessionsPerGuest)
            let hasNewName = entry.guest.peer.name != peer.name
            entry.guest.rename(peer.name)
            entries[peer.id] = entry
            // The host shows a guest by the name that it came with.
            if hasNewName, entry.guest.isLinked { actions += [.send(.peerConnected(peer)), .changed(peer.id)] }
        }
        return actions
    }

    /// Whoever has been away the longest gives up the place, but nobody who has a stream.
    private mutating func makeRoom(now: MeshInstant) throws(Refusal) -> [Action] {
        let absent = entries.filter { $0.value.streams == 0 }
        guard let oldest = absent.min(by: { ($0.value.absentSince ?? now) < ($1.value.absentSince ?? now) }) else {
            throw .full
        }
        return leave(oldest.key, .linkLost, now: now)
    }

    /// A page of this guest is open.
    mutating func opened(_ id: Peer.ID, now: MeshInstant) -> [Action] {
        guard entries[id] != nil else { return [] }
        entries[id]?.streams += 1
        entries[id]?.absentSince = nil
        return link(id, now: now)
    }

    /// A page of this guest is not open any more.
    mutating func closed(_ id: Peer.ID, now: MeshInstant) {
        guard let streams = entries[id]?.streams, streams > 0 else { return }
        entries[id]?.streams = streams - 1
        if streams == 1 { entries[id]?.absentSince = now }
    }

    /// Something that it sends is a sign of life too.
    private mutating func link(_ id: Peer.ID, now: MeshInstant) -> [Action] {
        guard var entry = entries[id], !entry.guest.isLinked, entry.guest.viewpoint.ended == nil else { return [] }
        let said = entry.guest.connect(snapshot, now: now)
        if entry.streams == 0 { entry.absentSince = now }
        entries[id] = entry
        return [.send(.peerConnected(entry.guest.peer))] + sent(said, by: entry.guest.peer) + [.changed(id)]
    }

    /// The person has enough.
    mutating func leave(_ id: Peer.ID, _ reason: DisconnectReason = .goodbye, now: MeshInstant) -> [Action] {
        guard let entry = entries.removeValue(forKey: id) else { return [] }
        return entry.guest.isLinked ? [.send(.peerDisconnected(entry.guest.peer, reason: reason))] : []
    }

    // MARK: What they want, and what becomes of it

    /// A guest wants something.
    mutating func want(_ event: GuestFeature.Event, by id: Peer.ID, now: MeshInstant) -> [Action] {
        let linked = link(id, now: now)
        guard let entry = entries[id], entry.guest.viewpoint.ended == nil else { return linked }
        return linked + with(id) { $0.want(event, now: now) } + [.changed(id)]
    }

    /// Takes what the host's node tells.
    mutating func handle(_ event: NodeEvent, now: MeshInstant) -> [Action] {
        switch event {
        case .snapshot(let snapshot, _):
            self.snapshot = snapshot
            return entries.keys.sorted().flatMap { id in with(id) { $0.show(snapshot, now: now) } }
        case .intent(let intent, let peer, let rejected):
            guard entries[peer.id] != nil else { return [] }
            return with(peer.id) { $0.answered(intent, rejected, now: now) } + [.changed(peer.id)]
        case .sentAway(let id): return sendAway(id, now: now)
        default: return []
        }
    }

    /// What a guest is told that was sent away: what every guest is told.
    static var banned: String {
        let notice = Notice(.kicked)
        return ([notice.message] + [notice.suggestion].compactMap(\.self)).joined(separator: " ")
    }

    private mutating func sendAway(_ id: Peer.ID, now: MeshInstant) -> [Action] {
        banned[id] = ()
        guard let entry = entries[id] else { return [] }
        let wasLinked = entry.guest.isLinked
        entries[id]?.guest.end(Self.banned, now: now)
        return (wasLinked ? [.send(.peerDisconnected(entry.guest.peer, reason: .refused))] : []) + [.changed(id)]
    }

    /// Lets time pass.
    mutating func tick(now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        for id in entries.keys.sorted() {
            if let since = entries[id]?.absentSince, now >= since + DashboardLimits.absence {
                actions += drop(id, now: now)
            } else if entries[id]?.guest.tick(now: now) == true {
                actions.append(.changed(id))
            }
        }
        return actions + beat(now: now)
    }

    /// A guest that is gone keeps its place and what it wanted until another needs the place.
    private mutating func drop(_ id: Peer.ID, now: MeshInstant) -> [Action] {
        guard let guest = entries[id]?.guest, guest.isLinked else { return [] }
        entries[id]?.guest.disconnect(now: now)
        return [.send(.peerDisconnected(guest.peer, reason: .linkLost))]
    }

    /// As a host does by radio: a wish whose song has left the queue meanwhile is asked for anew.
    private mutating func beat(now: MeshInstant) -> [Action] {
        guard let snapshot, now >= nextHeartbeat else { return [] }
        nextHeartbeat = now + DJLimits.stateHeartbeat
        let waiting = entries.filter { $0.value.guest.isLinked && $0.value.guest.hasOpenWishes }.keys.sorted()
        return waiting.flatMap { id in with(id) { $0.showAgain(snapshot, now: now) } + [.changed(id)] }
    }

    private mutating func with(_ id: Peer.ID, _ body: (inout WebGuest) -> [GuestIntent]) -> [Action] {
        guard var entry = entries[id] else { return [] }
        let said = body(&entry.guest)
        entries[id] = entry
        return sent(said, by: entry.guest.peer)
    }

    private func sent(_ said: [GuestIntent], by peer: Peer) -> [Action] {
        said.map { .send(.messageReceived(.intent($0), from: peer)) }
    }
}
