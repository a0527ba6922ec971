// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which host a guest joins and how it reconnects: when it hears the host, not after a delay.
///
/// A dial stays pending through a gap, since that is the fastest way to reconnect. Only failed dials are spaced out,
/// with jitter. Time and jitter are arguments.
public struct ReconnectPolicy: Sendable {
    /// An event of the guest.
    public enum Event: Hashable, Sendable {
        /// The guest starts, or the person says Retry.
        case start
        /// A host is heard.
        case heard(Peer)
        /// The link to a host is up.
        case linked(Peer)
        /// The link to the host was lost without a goodbye.
        case linkLost
        /// The host has said goodbye.
        case hostEnded
        /// A dial ended without a link.
        case dialFailed
        /// A host has refused this guest, and has proved this identifier. An unauthenticated refusal is `dialFailed`.
        case refused(RefusalReason, by: Peer.ID)
        /// The person leaves. Only `start` resumes after that.
        case leave
        /// The person wants the host with this name or identifier, and no other.
        case want(String)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An action for the guest.
    public enum Action: Hashable, Sendable {
        /// Scan from the beginning: what was heard before may be somewhere else now. `isScanning` says how long.
        case browse
        /// Dial this host.
        case invite(Peer.ID)
        /// Cancel the pending dial.
        case cancelInvite(Peer.ID)
        /// Show this state.
        case show(ConnectionState)
        /// The host has been gone for too long. The guest joins it when it is heard again.
        case giveUp(Peer)
        /// This host is in range, and the guest joins it only when its person confirms.
        case offer(Peer)
        /// Leave this host, since the guest's own is heard.
        case goHome(from: Peer)
    }

    /// The guest chooses a host again after this time without its host.
    public static let limit: Duration = .seconds(30)
    /// The first pause after a failed dial. It doubles with each failure.
    static let firstPause: Duration = .milliseconds(100)
    /// The longest pause after a failed dial. A host that is back waits no longer than this.
    static let longestPause: Duration = .seconds(2)
    /// Time that a guest scans for its own host before it joins another known one: two advertisements.
    static let ownFirst: Duration = .seconds(3)
    /// Time that a guest waits for a host that it has lost before it joins another known one. So it does not join a
    /// second known car of a convoy in a tunnel.
    static let afterLoss: Duration = .seconds(300)
    /// Maximum number of known hosts that wait for these times, and of offered hosts: more than are in range at once.
    static let others = 16

    private enum State: Hashable, Sendable {
        /// The state before `start`.
        case idle
        /// The guest dials the first host in range that it may join. Next: `joining`.
        case choosing
        /// The guest dials a host for the first time. Next: `connected` or `choosing`.
        case joining(Peer)
        /// The guest has joined the host. Next: `returning` or `choosing`.
        case connected(Peer)
        /// The guest dials a lost host again. Next: `connected` or, in the end, `choosing`.
        case returning(Return)
    }

    private struct Return: Hashable, Sendable {
        var host: Peer
        var since: MeshInstant
        var attempt = 1
        var isDialling = true
    }

    private var wanted: WantedHost
    /// The hosts that were joined before, updated with each event. A host with one of their names and another key is
    /// not joined automatically.
    private var known = KnownHosts()
    private var state = State.idle
    private var failures = 0
    private var pauseUntil: MeshInstant = .zero
    /// A wanted host that was heard during the pause. The scan may not report it again for some time.
    private var heardInPause: Peer?
    /// Hosts that refused this guest, by their proved identifiers. They are not dialled again without a person's
    /// command.
    private var refusers: Set<Peer.ID> = []
    private var held = HeldHosts()
    /// A host has removed this guest. The guest joins another host only if its person requests it.
    private var isBanned = false
    /// Until this time, hosts other than the guest's own and the lost one must wait.
    private var othersFrom: MeshInstant = .zero
    /// The host that the guest was last linked to.
    private var lost: Peer?
    private var ownHostLook = OwnHostLook()
    /// Hosts that were heard before `othersFrom`. The scan may not report them again for some time.
    private var early: [Peer] = []
    /// Hosts that were offered to the person, by the heads of their identifiers.
    private var offered: Set<Peer.ID> = []
    /// Whether an unknown host may be joined although others are known.
    private let joinsAny: Bool

    /// A policy for a guest that joins the host with this name or identifier. 8 to 32 hexadecimal digits are an
    /// identifier or its beginning, and never a name. With nil, a guest joins the hosts that it has joined before, and
    /// first the host that it joined last. If it has joined none yet, or with `joinsAny`, it joins any host.
    public init(wanted: String? = nil, joinsAny: Bool = false) {
        self.wanted = WantedHost(wanted)
        self.joinsAny = joinsAny
    }

    /// Whether the guest scans for hosts. Dialling has priority over scanning.
    public var isScanning: Bool {
        switch state {
        case .idle, .joining: false
        case .choosing: true
        case .connected: isAway && ownHostLook.isOn
        case .returning(let gap): !gap.isDialling
        }
    }

    /// Whether the guest dials a host.
    public var isDialling: Bool {
        switch state {
        case .idle, .choosing, .connected: false
        case .joining: true
        case .returning(let gap): gap.isDialling
        }
    }

    /// Whether the person has named a host. A host that is joined then becomes the guest's own.
    public var isHostNamed: Bool { !wanted.isAny }

    /// The known host with the same name as this different host. Nil if this guest may join it automatically.
    public func host(copiedBy peer: Peer, known: KnownHosts) -> Peer? {
        wanted.isKey(of: peer) ? nil : known.host(copiedBy: peer)
    }

    /// The hosts in range that the typed name may mean, if these are several and none has exactly that name. The person
    /// is asked.
    public func rivals(among heard: [Peer]) -> [Peer] {
        guard case .name = wanted, !heard.contains(where: wanted.isExactly) else { return [] }
        let meant = heard.filter { wanted.isPerhaps($0) && !hasRefused($0) }
        return meant.count > 1 ? meant : []
    }

    /// Whether a host that is heard at a broker may be joined automatically: it was named, was joined before, or was
    /// lost. Hosts of strangers may be at the same broker.
    public func isMeant(_ peer: Peer, known: KnownHosts) -> Bool {
        switch state {
        case .connected(let host), .joining(let host): isSame(host, peer) || isOwn(peer, known)
        case .returning(let gap): isSame(gap.host, peer)
        case .idle, .choosing:
            wanted.isAny ? known.contains(peer.id) : wanted.isPerhaps(peer)
        }
    }

    /// Whether this guest joins a host that has proved its identifier. If not, the caller must not report it as the
    /// host: `linked` then ends the link.
    public func accepts(_ proved: Peer, known: KnownHosts) -> Bool {
        switch state {
        // The host is the right one, and may have another name now.
        case .connected(let host) where host.id == proved.id: true
        case .returning(let gap) where gap.host.id == proved.id: true
        default: wanted.isProved(by: proved) && host(copiedBy: proved, known: known) == nil
        }
    }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        let holdEnds = state == .choosing ? held.deadline : nil
        let gapEnds: MeshInstant? = if case .returning(let gap) = state { gap.since + Self.limit } else { nil }
        let othersWait = state == .choosing && !early.isEmpty ? othersFrom : nil
        let look = isAway ? ownHostLook.changesAt : nil
        return [heardInPause == nil ? nil : pauseUntil, holdEnds, gapEnds, othersWait, look].compactMap(\.self).min()
    }

    /// Decides the actions for an event. `known` are the hosts that were joined before, including the host of `linked`.
    /// `jitter` is a random number from 0 to 1.
    public mutating func handle(_ event: Event, known: KnownHosts, now: MeshInstant, jitter: Double) -> [Action] {
        self.known = known
        return decide(event, now: now, jitter: jitter)
    }

    private mutating func decide(_ event: Event, now: MeshInstant, jitter: Double) -> [Action] {
        switch (state, event) {
        case (_, .start): return start(now: now)
        case (_, .leave): return leave()
        case (_, .want(let text)):
            wanted = WantedHost(text)
            let left = state == .idle ? [] : leave()
            return left + start(now: now)
        case (.choosing, .heard(let peer)): return choose(peer, now: now)
        case (.connected(let host), .heard(let peer)): return goHome(from: host, to: peer, now: now)
        case (.returning(var gap), .heard(let peer)): return comeBack(&gap, to: peer, now: now)
        case (.idle, .linked(let peer)): return [.cancelInvite(peer.id)]
        case (.joining, .linked(let peer)) where !accepts(peer, known: known),
            (.choosing, .linked(let peer)) where !accepts(peer, known: known):
            return leaveStranger(peer, now: now, jitter: jitter)
        case (.returning, .linked(let peer)) where !accepts(peer, known: known):
            return [.cancelInvite(peer.id)] + decide(.dialFailed, now: now, jitter: jitter)
        case (.joining, .linked(let peer)), (.returning, .linked(let peer)):
            connect(to: peer, now: now)
            return [.show(.connected)]
        // The link came up before the person's new choice.
        case (.choosing, .linked(let peer)):
            connect(to: peer, now: now)
            return [.show(.connected)]
        case (.connected(let host), .linkLost):
            state = .returning(Return(host: host, since: now))
            return [.show(.reconnecting(attempt: 1)), .invite(host.id)]
        case (.connected(let host), .hostEnded), (.joining(let host), .hostEnded):
            choose(othersFrom: now + Self.limit, after: host)
            return [.show(.disconnected), .browse, .show(.connecting)]
        case (.returning(let gap), .hostEnded):
            choose(othersFrom: now + Self.limit, after: gap.host)
            return [.show(.disconnected), .browse, .show(.connecting)]
        case (.joining, .dialFailed), (.joining, .linkLost):
            pause(now: now, jitter: jitter)
            state = .choosing
            return [.browse]
        case (.returning(var gap), .dialFailed), (.returning(var gap), .linkLost):
            pause(now: now, jitter: jitter)
            gap.isDialling = false
            state = .returning(gap)
            // The host may have come back with another address or PSM, so it must be heard again.
            return [.browse]
        case (.joining, .refused(let reason, let host)), (.connected, .refused(let reason, let host)),
            (.returning, .refused(let reason, let host)):
            return refused(by: host, reason, now: now, jitter: jitter)
        case (.returning(let gap), .tick) where now - gap.since >= Self.limit:
            choose(othersFrom: gap.since + Self.afterLoss, after: gap.host)
            return [
                .cancelInvite(gap.host.id), .show(.failed(.connectionFailed(reason: "hostNotFound"))),
                .giveUp(gap.host), .browse, .show(.connecting),
            ]
        case (_, .tick): return look(now: now) + pauseEnded(now: now, jitter: jitter)
        default: return []
        }
    }

    private mutating func connect(to host: Peer, now: MeshInstant) {
        state = .connected(host)
        failures = 0
        held.removeAll()
        ownHostLook.linked(isAway: isAway, now: now)
    }

    private mutating func choose(othersFrom time: MeshInstant, after lost: Peer? = nil) {
        state = .choosing
        othersFrom = time
        self.lost = lost
        (early, offered) = ([], [])
    }

    // MARK: The guest's own host

    private func isSame(_ one: Peer, _ other: Peer) -> Bool { Identity.head(of: one.id) == Identity.head(of: other.id) }

    private func isOwn(_ peer: Peer, _ known: KnownHosts) -> Bool {
        guard wanted.isAny, let own = known.hosts.last else { return false }
        return isSame(own, peer)
    }

    /// Whether the guest is linked to another host than its own.
    private var isAway: Bool {
        guard case .connected(let host) = state, wanted.isAny, !known.hosts.isEmpty else { return false }
        return !isOwn(host, known)
    }

    /// Scans for the guest's own host from time to time, while it is linked to another.
    private mutating func look(now: MeshInstant) -> [Action] {
        guard isAway, ownHostLook.tick(now: now), ownHostLook.isOn else { return [] }
        return [.browse]
    }

    private mutating func goHome(from host: Peer, to peer: Peer, now: MeshInstant) -> [Action] {
        guard isAway, isOwn(peer, known), !hasRefused(peer), ownHostLook.heard(now: now) else { return [] }
        choose(othersFrom: now + Self.limit)
        return [.goHome(from: host), .browse, .show(.connecting)]
    }

    private mutating func pauseEnded(now: MeshInstant, jitter: Double) -> [Action] {
        if let peer = heardInPause, now >= pauseUntil {
            heardInPause = nil
            return decide(.heard(peer), now: now, jitter: jitter)
        }
        if state == .choosing, !early.isEmpty, now >= othersFrom {
            let peers = early
            early = []
            return peers.flatMap { decide(.heard($0), now: now, jitter: jitter) }
        }
        guard state == .choosing, let peer = held.takeDue(now: now) else { return [] }
        return decide(.heard(peer), now: now, jitter: jitter)
    }

    private mutating func start(now: MeshInstant) -> [Action] {
        refusers = []
        held.removeAll()
        failures = 0
        pauseUntil = now
        isBanned = false
        switch state {
        case .connected: return []
        case .idle, .choosing:
            choose(othersFrom: now + Self.ownFirst)
            return [.browse, .show(.connecting)]
        case .joining(let host):
            choose(othersFrom: now + Self.ownFirst)
            return [.cancelInvite(host.id), .browse]
        case .returning(var gap):
            // Retry: the pending dial may depend on something that has changed, so it is made again.
            gap.isDialling = false
            state = .returning(gap)
            return [.cancelInvite(gap.host.id), .browse]
        }
    }

    private mutating func leave() -> [Action] {
        defer { state = .idle }
        switch state {
        case .idle: return []
        case .choosing, .connected: return [.show(.disconnected)]
        case .joining(let host): return [.cancelInvite(host.id), .show(.disconnected)]
        case .returning(let gap): return [.cancelInvite(gap.host.id), .show(.disconnected)]
        }
    }

    private mutating func choose(_ peer: Peer, now: MeshInstant) -> [Action] {
        guard wanted.isPerhaps(peer), host(copiedBy: peer, known: known) == nil, !hasRefused(peer) else { return [] }
        guard mayBeJoinedNow(peer) || now >= othersFrom else {
            wait(peer)
            return []
        }
        guard mayBeJoined(peer) else { return offer(peer) }
        guard held.isOver(for: peer, now: now), isPauseOver(for: peer, now: now) else { return [] }
        state = .joining(peer)
        return [.invite(wanted.key ?? peer.id)]
    }

    /// Whether a host may be joined without a person's command.
    private func mayBeJoined(_ peer: Peer) -> Bool {
        guard wanted.isAny else { return true }
        return !isBanned && (known.hosts.isEmpty || joinsAny || known.contains(peer.id))
    }

    /// Whether a host may be joined at once: it was named, is the guest's own, was lost, or no host is known.
    private func mayBeJoinedNow(_ peer: Peer) -> Bool {
        guard mayBeJoined(peer) else { return false }
        return !wanted.isAny || known.hosts.isEmpty || isOwn(peer, known) || lost.map { isSame($0, peer) } == true
    }

    private mutating func wait(_ peer: Peer) {
        early.removeAll { $0.id == peer.id }
        early = (early + [peer]).suffix(Self.others)
    }

    private mutating func offer(_ peer: Peer) -> [Action] {
        let head = Identity.head(of: peer.id)
        guard !known.contains(peer.id), offered.count < Self.others, offered.insert(head).inserted else { return [] }
        return [.offer(peer)]
    }

    /// A different host with the same head must not count as the wanted one.
    private func hasRefused(_ peer: Peer) -> Bool {
        if let key = wanted.key { return refusers.contains(key) }
        return refusers.contains { Identity.head(of: $0) == Identity.head(of: peer.id) }
    }

    /// The link leads to an unwanted host, which only the handshake shows. The dial is repeated less and less
    /// often, since the wanted host may also be in range.
    private mutating func leaveStranger(_ peer: Peer, now: MeshInstant, jitter: Double) -> [Action] {
        let wasDialled = state != .choosing
        held.hold(peer.id, now: now, jitter: jitter)
        state = .choosing
        return [.cancelInvite(peer.id)] + (wasDialled ? [.browse] : [])
    }

    private mutating func comeBack(_ gap: inout Return, to peer: Peer, now: MeshInstant) -> [Action] {
        guard !gap.isDialling, Identity.head(of: peer.id) == Identity.head(of: gap.host.id),
            isPauseOver(for: peer, now: now)
        else {
            return []
        }
        gap.attempt += 1
        gap.isDialling = true
        state = .returning(gap)
        return [.show(.reconnecting(attempt: gap.attempt)), .invite(gap.host.id)]
    }

    private mutating func refused(
        by host: Peer.ID, _ reason: RefusalReason, now: MeshInstant, jitter: Double
    ) -> [Action] {
        // These refusals may end without a person: a slot becomes free, guessers stop, or a guest without a bond comes
        // into range or bonds. All others need a person.
        if reason == .banned { isBanned = true }
        if reason != .full, reason != .tooManyGuesses, reason != .bond {
            refusers.insert(host)
        } else if wanted.key == nil || wanted.key == host {
            held.hold(host, now: now, jitter: jitter)
        }
        state = .choosing
        return [.show(.failed(.connectionFailed(reason: "refused: \(reason)"))), .browse]
    }

    private mutating func isPauseOver(for peer: Peer, now: MeshInstant) -> Bool {
        heardInPause = now >= pauseUntil ? nil : peer
        return heardInPause == nil
    }

    private mutating func pause(now: MeshInstant, jitter: Double) {
        failures += 1
        let doubled = Self.firstPause * (1 << min(failures - 1, 5))
        pauseUntil = now + min(doubled, Self.longestPause) * (0.5 + jitter / 2)
    }
}
