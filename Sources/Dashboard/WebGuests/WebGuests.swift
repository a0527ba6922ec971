// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Decides who of the passengers with browsers has a link of the node, and what is said on it. Whom the node lets in, the
/// node decides.
struct WebGuests: Sendable {
    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Say this on a link.
        case say(WebGuest.Said, on: MeshCore.LinkID)
        /// The guest of a link has another name.
        case rename(MeshCore.LinkID, Peer)
        /// Give a link up.
        case leave(MeshCore.LinkID, LinkEnd)
        /// What this guest sees is something else.
        case changed(Peer.ID)
    }

    private struct Entry: Sendable {
        var guest: WebGuest
        /// Where its browser joined from last.
        var address = ""
        var sessions: [String] = []
        var streams = 0
        /// Since when it has no stream.
        var absentSince: MeshInstant?
    }

    private let host: Peer
    private var entries: [Peer.ID: Entry] = [:]
    /// What guests had said that have left, and the node had not made safe.
    private var stillComing: [Peer.ID: [Song.ID: Overtaken]] = [:]
    /// The addresses of guests that are about to get a link.
    private var coming: [Peer.ID: String] = [:]

    /// Nobody is there yet.
    init(host: Peer) {
        self.host = host
    }

    /// Who is there.
    var present: Set<Peer.ID> { Set(entries.filter { $0.value.guest.link != nil }.keys) }

    /// The link of a guest that is there.
    func link(_ id: Peer.ID) -> MeshCore.LinkID? { entries[id]?.guest.link }

    /// What a guest sees by itself; nil for nobody of these.
    func viewpoint(_ id: Peer.ID) -> Viewpoint? { entries[id]?.guest.viewpoint }

    /// A guest that has no link and is to have one again.
    func unlinked(_ id: Peer.ID) -> Peer? {
        guard let guest = entries[id]?.guest, guest.link == nil, guest.viewpoint.ended == nil else { return nil }
        return guest.viewpoint.me
    }

    /// Whether a guest has said as much as may wait for the node at a time.
    func hasTooMuchWaiting(_ id: Peer.ID) -> Bool {
        (entries[id]?.guest.unacknowledged.count ?? 0) >= DashboardLimits.waitingTaps
    }

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

    /// A guest is about to get a link; `address` is nil for a guest that has joined before. False if that address has its
    /// share: three times as many as are free, so that one phone leaves places to the others. Call `hasCome` afterwards.
    mutating func begins(_ id: Peer.ID, from address: String? = nil) -> Bool {
        let address = address ?? entries[id]?.address ?? ""
        // This device itself, and what ends on it: a tunnel, a proxy.
        if !DashboardAddress.isLoopback(address) {
            let others = entries.filter { $0.key != id && $0.value.guest.link != nil && coming[$0.key] == nil }.values
            let all = others.map(\.address) + coming.filter { $0.key != id }.values
            let free = max(0, DashboardLimits.webGuests - all.count)
            guard all.count(where: { $0 == address }) < DashboardLimits.webGuestShare * free else { return false }
        }
        coming[id] = address
        return true
    }

    /// The guest has a link now, or was refused.
    mutating func hasCome(_ id: Peer.ID) { coming[id] = nil }

    /// Before the node is asked for somebody new: where all places are taken, who has been away the longest gives up its
    /// own, but nobody who has a stream.
    mutating func makeRoom(for id: Peer.ID) -> [Action] {
        guard entries[id] == nil, entries.count >= DashboardLimits.webGuests else { return [] }
        let absent = entries.filter { $0.value.streams == 0 }
        let oldest = absent.min { ($0.value.absentSince ?? .zero) < ($1.value.absentSince ?? .zero) }
        return oldest.map { leave($0.key, .linkLost) } ?? []
    }

    /// The node has let a guest in by this link. A link too many of the same guest is given up.
    mutating func linked(
        _ peer: Peer, by link: MeshCore.LinkID, _ snapshot: HostSnapshot?, now: MeshInstant
    ) -> [Action] {
        let behind = stillComing.removeValue(forKey: peer.id) ?? [:]
        var entry = entries[peer.id] ?? Entry(guest: WebGuest(peer, host: host, behind: behind))
        guard entry.guest.link == nil else { return [.leave(link, .goodbye())] }
        if entry.guest.viewpoint.ended != nil { entry.guest = WebGuest(peer, host: host) }
        if entry.streams == 0 { entry.absentSince = now }
        entries[peer.id] = entry
        return with(peer.id) { $0.connect(link, snapshot, now: now) }
    }

    /// Somebody who has a link has joined, by a key that only they have; `session` is a new one for their browser.
    mutating func joined(_ peer: Peer, session: String, from address: String = "") -> [Action] {
        guard var entry = entries[peer.id] else { return [] }
        entry.address = address
        entry.sessions = (entry.sessions + [session]).suffix(DashboardLimits.sessionsPerGuest)
        let hasNewName = entry.guest.viewpoint.me.name != peer.name
        entry.guest.rename(peer.name)
        entries[peer.id] = entry
        // The host shows a guest by the name that it came with.
        guard hasNewName, let link = entry.guest.link else { return [] }
        return [.rename(link, peer), .changed(peer.id)]
    }

    /// A page of this guest is open.
    mutating func opened(_ id: Peer.ID) {
        entries[id]?.streams += 1
        entries[id]?.absentSince = nil
    }

    /// A page of this guest is not open any more.
    mutating func closed(_ id: Peer.ID, now: MeshInstant) {
        guard let streams = entries[id]?.streams, streams > 0 else { return }
        entries[id]?.streams = streams - 1
        if streams == 1 { entries[id]?.absentSince = now }
    }

    /// The person leaves, and may come again before the node has followed all that was said.
    mutating func leave(_ id: Peer.ID, _ end: LinkEnd = .goodbye()) -> [Action] {
        guard let guest = entries.removeValue(forKey: id)?.guest else { return [] }
        if stillComing.count >= DashboardLimits.webGuests { stillComing = [:] }
        if !guest.unacknowledged.isEmpty { stillComing[id] = guest.feature.stillComing }
        return guest.link.map { [.leave($0, end)] } ?? []
    }

    // MARK: What they want, and what becomes of it

    /// A guest wants something. Nil where it is nobody who may.
    mutating func want(
        _ event: GuestFeature.Event, by id: Peer.ID, now: MeshInstant
    ) -> (tapped: WebGuest.Tapped, actions: [Action])? {
        guard entries[id]?.guest.link != nil else { return nil }
        var tapped = WebGuest.Tapped.said([], until: nil)
        let actions = with(id) { guest in
            tapped = guest.want(event, now: now)
            return if case .said(let said, _) = tapped { said } else { [] }
        }
        return (tapped, actions)
    }

    /// The node says something on a guest's link.
    mutating func handle(
        _ event: LocalLink.Event, on link: MeshCore.LinkID, of id: Peer.ID, now: MeshInstant
    ) -> [Action] {
        guard entries[id]?.guest.link == link else { return [] }
        return with(id) { guest in
            switch event {
            case .message(let message): return guest.hear(message, now: now)
            case .acknowledged(let number): return guest.acknowledged(number, now: now)
            case .ended(.refused(.banned)): guest.end(Self.banned, now: now)
            case .ended(.goodbye(.ended)): guest.sessionEnded(now: now)
            case .ended: guest.disconnect(now: now)
            }
            return []
        }
    }

    /// A guest has tapped the button of a notice.
    mutating func retried(_ id: Peer.ID) -> [Action] {
        with(id) { guest in
            guest.retried()
            return []
        }
    }

    /// Only these are kept out of the host. Who was sent away and is let in again gets a link as soon as its page asks.
    mutating func admit(allBut banned: Set<Peer.ID>) -> [Action] {
        let admitted = entries.filter { $0.value.guest.viewpoint.ended != nil && !banned.contains($0.key) }.keys
            .sorted()
        for id in admitted {
            guard let peer = entries[id]?.guest.viewpoint.me else { continue }
            entries[id]?.guest = WebGuest(peer, host: host)
        }
        return admitted.map(Action.changed)
    }

    /// What a guest is told that was sent away: what every guest is told.
    static var banned: String {
        let notice = Notice(.kicked)
        return ([notice.message] + [notice.suggestion].compactMap(\.self)).joined(separator: " ")
    }

    /// Time has passed. A guest that is gone keeps its place and what it wanted until another needs the place; its link
    /// stays until the node has what was said on it.
    mutating func tick(now: MeshInstant) -> [Action] {
        entries.keys.sorted().flatMap { id -> [Action] in
            guard let entry = entries[id] else { return [] }
            let isGone = entry.absentSince.map { now >= $0 + DashboardLimits.absence } ?? false
            let given = isGone && entry.guest.unacknowledged.isEmpty ? entry.guest.link : nil
            let changed = with(id) { guest in
                guest.tick(now: now)
                if given != nil { guest.disconnect(now: now) }
                return []
            }
            return (given.map { [.leave($0, .linkLost)] } ?? []) + changed
        }
    }

    private mutating func with(_ id: Peer.ID, _ body: (inout WebGuest) -> [WebGuest.Said]) -> [Action] {
        guard var entry = entries[id] else { return [] }
        let before = entry.guest.viewpoint
        let said = body(&entry.guest)
        entries[id] = entry
        let link = entry.guest.link
        return said.compactMap { said in link.map { .say(said, on: $0) } }
            + (entry.guest.viewpoint == before ? [] : [.changed(id)])
    }
}
