// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import NodeCore

/// Decides which passengers with browsers have a link to the node, and sends their messages on it. The node itself
/// decides which guests it admits.
struct WebGuests: Sendable {
    /// What the dashboard must do.
    enum Action: Hashable, Sendable {
        /// Send this on a link.
        case say(WebGuest.Said, on: MeshCore.LinkID)
        /// The guest of a link has a new name.
        case rename(MeshCore.LinkID, Peer)
        /// Close a link.
        case leave(MeshCore.LinkID, LinkEnd)
        /// This guest's view has changed.
        case changed(Peer.ID)
    }

    private struct Entry: Sendable {
        var guest: WebGuest
        /// The address from which the guest's browser joined last.
        var address = ""
        var sessions: [String] = []
        var streams = 0
        /// When the guest's last stream closed.
        var absentSince: MeshInstant?
    }

    private let host: Peer
    private var entries: [Peer.ID: Entry] = [:]
    /// Messages of guests that have left, which the node had not stored yet.
    private var stillComing: [Peer.ID: [Song.ID: Overtaken]] = [:]
    /// The addresses of guests that are about to get a link.
    private var coming: [Peer.ID: String] = [:]

    /// Creates an empty list of guests.
    init(host: Peer) {
        self.host = host
    }

    /// Guests with a link.
    var present: Set<Peer.ID> { Set(entries.filter { $0.value.guest.link != nil }.keys) }

    /// The link of a guest. Nil without a link.
    func link(_ id: Peer.ID) -> MeshCore.LinkID? { entries[id]?.guest.link }

    /// The guest's own view. Nil for an unknown guest.
    func viewpoint(_ id: Peer.ID) -> Viewpoint? { entries[id]?.guest.viewpoint }

    /// A guest that has lost its link and should get another one.
    func unlinked(_ id: Peer.ID) -> Peer? {
        guard let guest = entries[id]?.guest, guest.link == nil, guest.viewpoint.ended == nil else { return nil }
        return guest.viewpoint.me
    }

    /// Whether a guest has reached the limit of messages that wait for the node.
    func hasTooMuchWaiting(_ id: Peer.ID) -> Bool {
        (entries[id]?.guest.unacknowledged.count ?? 0) >= DashboardLimits.waitingTaps
    }

    /// The guest of a session. A removed guest keeps its session, so that its page can show the removal.
    func guest(session: String) -> Peer.ID? {
        var found: Peer.ID?
        // Compares all sessions, so that the time reveals nothing.
        for (id, entry) in entries {
            for one in entry.sessions where DashboardTokens.areSame(one, session) { found = id }
        }
        return found
    }

    // MARK: Coming and going

    /// A guest is about to get a link. `address` is nil for a guest that has joined before. Returns false if the
    /// address already has its share: three times the number of free slots, so that one phone leaves slots to other
    /// phones. Call `hasCome` afterwards.
    mutating func begins(_ id: Peer.ID, from address: String? = nil) -> Bool {
        let address = address ?? entries[id]?.address ?? ""
        // This device's own address is exempt, because many people may use a tunnel or a proxy on this device.
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

    /// Call this before the node is asked to admit a new guest. If all slots are in use, the guest that has been absent
    /// for the longest loses its slot. A guest with a stream never loses its slot.
    mutating func makeRoom(for id: Peer.ID) -> [Action] {
        guard entries[id] == nil, entries.count >= DashboardLimits.webGuests else { return [] }
        let absent = entries.filter { $0.value.streams == 0 }
        let oldest = absent.min { ($0.value.absentSince ?? .zero) < ($1.value.absentSince ?? .zero) }
        return oldest.map { leave($0.key, .linkLost) } ?? []
    }

    /// The node has admitted a guest with this link. A second link of the same guest is closed.
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

    /// A guest with a link has joined with its own key. `session` is a new session for its browser.
    mutating func joined(_ peer: Peer, session: String, from address: String = "") -> [Action] {
        guard var entry = entries[peer.id] else { return [] }
        entry.address = address
        entry.sessions = (entry.sessions + [session]).suffix(DashboardLimits.sessionsPerGuest)
        let hasNewName = entry.guest.viewpoint.me.name != peer.name
        entry.guest.rename(peer.name)
        entries[peer.id] = entry
        // The host shows the name that the guest had when its link opened.
        guard hasNewName, let link = entry.guest.link else { return [] }
        return [.rename(link, peer), .changed(peer.id)]
    }

    /// A page of this guest has opened.
    mutating func opened(_ id: Peer.ID) {
        entries[id]?.streams += 1
        entries[id]?.absentSince = nil
    }

    /// A page of this guest has closed.
    mutating func closed(_ id: Peer.ID, now: MeshInstant) {
        guard let streams = entries[id]?.streams, streams > 0 else { return }
        entries[id]?.streams = streams - 1
        if streams == 1 { entries[id]?.absentSince = now }
    }

    /// The guest leaves. It may join again before the node has stored all of its messages.
    mutating func leave(_ id: Peer.ID, _ end: LinkEnd = .goodbye()) -> [Action] {
        guard let guest = entries.removeValue(forKey: id)?.guest else { return [] }
        if stillComing.count >= DashboardLimits.webGuests { stillComing = [:] }
        if !guest.unacknowledged.isEmpty { stillComing[id] = guest.feature.stillComing }
        return guest.link.map { [.leave($0, end)] } ?? []
    }

    // MARK: Requests and their results

    /// A guest makes a request. Nil if the guest has no link.
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

    /// Handles an event of a guest's link.
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

    /// Sets the banned guests. A guest that is no longer banned gets a link as soon as its page asks.
    mutating func admit(allBut banned: Set<Peer.ID>) -> [Action] {
        let admitted = entries.filter { $0.value.guest.viewpoint.ended != nil && !banned.contains($0.key) }.keys
            .sorted()
        for id in admitted {
            guard let peer = entries[id]?.guest.viewpoint.me else { continue }
            entries[id]?.guest = WebGuest(peer, host: host)
        }
        return admitted.map(Action.changed)
    }

    /// The sentence that a banned guest sees, the same as for guests with a node.
    static var banned: String {
        let notice = Notice(.kicked)
        return ([notice.message] + [notice.suggestion].compactMap(\.self)).joined(separator: " ")
    }

    /// Handles the passage of time. An absent guest keeps its slot and its requests until another guest needs the slot.
    /// Its link stays open until the node has stored all messages on it.
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
