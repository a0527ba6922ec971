// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which host a guest joins and how it comes back to it: by hearing the host, not by waiting.
///
/// A dial stays pending through a gap, since that is the fastest way back there is; only dials that fail are spaced out,
/// with jitter. Time and jitter are arguments.
public struct ReconnectPolicy: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// The guest starts, or the person says Retry.
        case start
        /// A host is heard.
        case heard(Peer)
        /// The link to a host is up.
        case linked(Peer)
        /// The link to the host is gone without a goodbye.
        case linkLost
        /// The host has said goodbye.
        case hostEnded
        /// A dial ended without a link.
        case dialFailed
        /// Somebody said no, and has proved this identifier. A word that nobody vouches for is `dialFailed`.
        case refused(RefusalReason, by: Peer.ID)
        /// The person leaves. Only `start` leads on from there.
        case leave
        /// The person wants the host of this name or identifier, and no other.
        case want(String)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Listen for hosts.
        case browse
        /// Stop to listen: dialling goes before.
        case stopBrowsing
        /// Dial this host.
        case invite(Peer.ID)
        /// Give up the dial that is pending.
        case cancelInvite(Peer.ID)
        /// Show this state.
        case show(ConnectionState)
        /// The host has been away for too long; any host will do from now on.
        case giveUp(Peer)
    }

    /// The guest goes back to choosing a host after this long without it.
    public static let limit: Duration = .seconds(30)
    /// The first pause after a failed dial; it doubles with each.
    static let firstPause: Duration = .milliseconds(100)
    /// The longest pause after a failed dial: a host that is back is not kept waiting longer.
    static let longestPause: Duration = .seconds(2)
    /// The first pause for a host that has no room, or that is another one than it looked like; it doubles with each try.
    static let firstHold: Duration = .seconds(5)
    /// The longest of these: a place that comes free is found within a minute.
    static let longestHold: Duration = .seconds(60)
    /// Hosts that are paused for: more than are in range at once.
    static let holds = 16

    private enum State: Hashable, Sendable {
        /// Before `start`.
        case idle
        /// Any wanted host that is heard is dialled. To `joining`.
        case choosing
        /// A host is dialled for the first time. To `connected` or `choosing`.
        case joining(Peer)
        /// To `returning` or `choosing`.
        case connected(Peer)
        /// A lost host is dialled again. To `connected` or, in the end, `choosing`.
        case returning(Return)
    }

    private struct Return: Hashable, Sendable {
        var host: Peer
        var since: MeshInstant
        var attempt = 1
        var isDialling = true
    }

    /// A host that is not dialled for a while.
    private struct Hold: Sendable {
        var tries = 0
        var until = MeshInstant.zero
        /// It was heard meanwhile. It may not be reported again for a while.
        var heard: Peer?
    }

    private var wanted: WantedHost
    /// The hosts that were joined before: who has the name of one and another key is not joined by itself.
    public var known: KnownHosts
    private var state = State.idle
    private var failures = 0
    private var pauseUntil: MeshInstant = .zero
    /// A wanted host that was heard during the pause. It may not be reported again for a while.
    private var heardInPause: Peer?
    /// Hosts that said no, by what they have proved: they are not dialled again without a person's word.
    private var refusers: Set<Peer.ID> = []
    /// Hosts that are tried again later, by the heads of their identifiers.
    private var held: [Peer.ID: Hold] = [:]

    /// A policy for a guest that joins the host of this name or identifier, or any where it is nil. 8 to 32 hexadecimal digits
    /// are an identifier or its first digits, and never a name.
    public init(wanted: String? = nil, known: KnownHosts = KnownHosts()) {
        self.wanted = WantedHost(wanted)
        self.known = known
    }

    /// The host that somebody is taken for who is another one; nil where this guest may join it by itself.
    public func host(copiedBy peer: Peer) -> Peer? { wanted.isKey(of: peer) ? nil : known.host(copiedBy: peer) }

    /// Whether a host that is heard from afar may be joined by itself: it was named, was joined before, or is the one that is
    /// returned to. Anybody's host is at a broker.
    public func isMeant(_ peer: Peer) -> Bool {
        switch state {
        case .connected(let host), .joining(let host): Identity.head(of: host.id) == Identity.head(of: peer.id)
        case .returning(let gap): Identity.head(of: gap.host.id) == Identity.head(of: peer.id)
        case .idle, .choosing:
            wanted.isAny ? known.contains(peer.id) : wanted.isPerhaps(peer)
        }
    }

    /// Whether a host that has proved its identifier is one that this guest joins. What it is not is to be told to nobody as
    /// the host: `linked` answers with the end of the link.
    public func accepts(_ proved: Peer) -> Bool {
        switch state {
        // It was the one, and it may have another name now.
        case .connected(let host) where host.id == proved.id: true
        case .returning(let gap) where gap.host.id == proved.id: true
        default: wanted.isProved(by: proved) && host(copiedBy: proved) == nil
        }
    }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        let holdEnds = state == .choosing ? held.values.filter { $0.heard != nil }.map(\.until).min() : nil
        let gapEnds: MeshInstant? = if case .returning(let gap) = state { gap.since + Self.limit } else { nil }
        return [heardInPause == nil ? nil : pauseUntil, holdEnds, gapEnds].compactMap(\.self).min()
    }

    /// Takes an event. `jitter` is a random number from 0 to 1.
    public mutating func handle(_ event: Event, now: MeshInstant, jitter: Double) -> [Action] {
        switch (state, event) {
        case (_, .start): return start(now: now)
        case (_, .leave): return leave()
        case (_, .want(let text)):
            wanted = WantedHost(text)
            let left = state == .idle ? [] : leave()
            return left + start(now: now)
        case (.choosing, .heard(let peer)): return choose(peer, now: now)
        case (.returning(var gap), .heard(let peer)): return comeBack(&gap, to: peer, now: now)
        case (.idle, .linked(let peer)): return [.cancelInvite(peer.id)]
        case (.joining, .linked(let peer)) where !accepts(peer), (.choosing, .linked(let peer)) where !accepts(peer):
            return leaveStranger(peer, now: now, jitter: jitter)
        case (.returning, .linked(let peer)) where !accepts(peer):
            return [.cancelInvite(peer.id)] + handle(.dialFailed, now: now, jitter: jitter)
        case (.joining, .linked(let peer)), (.returning, .linked(let peer)):
            connect(to: peer)
            return [.show(.connected)]
        // The link was quicker than the person's second thoughts.
        case (.choosing, .linked(let peer)):
            connect(to: peer)
            return [.stopBrowsing, .show(.connected)]
        case (.connected(let host), .linkLost):
            state = .returning(Return(host: host, since: now))
            return [.show(.reconnecting(attempt: 1)), .invite(host.id)]
        case (.connected, .hostEnded), (.joining, .hostEnded), (.returning, .hostEnded):
            state = .choosing
            return [.show(.disconnected), .browse, .show(.connecting)]
        case (.joining, .dialFailed), (.joining, .linkLost):
            pause(now: now, jitter: jitter)
            state = .choosing
            return [.browse]
        case (.returning(var gap), .dialFailed), (.returning(var gap), .linkLost):
            pause(now: now, jitter: jitter)
            gap.isDialling = false
            state = .returning(gap)
            // It may have come back under another address or PSM, so it has to be heard again.
            return [.browse]
        case (.joining, .refused(let reason, let host)), (.connected, .refused(let reason, let host)),
            (.returning, .refused(let reason, let host)):
            return refused(by: host, reason, now: now, jitter: jitter)
        case (.returning(let gap), .tick) where now - gap.since >= Self.limit:
            state = .choosing
            return [
                .cancelInvite(gap.host.id), .show(.failed(.connectionFailed(reason: "hostNotFound"))),
                .giveUp(gap.host), .browse, .show(.connecting),
            ]
        case (_, .tick): return pauseEnded(now: now, jitter: jitter)
        default: return []
        }
    }

    private mutating func connect(to host: Peer) {
        state = .connected(host)
        failures = 0
        held = [:]
    }

    private mutating func pauseEnded(now: MeshInstant, jitter: Double) -> [Action] {
        if let peer = heardInPause, now >= pauseUntil {
            heardInPause = nil
            return handle(.heard(peer), now: now, jitter: jitter)
        }
        guard state == .choosing, let (head, hold) = held.first(where: { $1.heard != nil && now >= $1.until }),
            let peer = hold.heard
        else { return [] }
        held[head]?.heard = nil
        return handle(.heard(peer), now: now, jitter: jitter)
    }

    private mutating func start(now: MeshInstant) -> [Action] {
        refusers = []
        held = [:]
        failures = 0
        pauseUntil = now
        switch state {
        case .connected: return []
        case .idle, .choosing:
            state = .choosing
            return [.browse, .show(.connecting)]
        case .joining(let host):
            state = .choosing
            return [.cancelInvite(host.id), .browse]
        case .returning(var gap):
            // Retry: what is pending may hang on something that has changed, so it is done again.
            gap.isDialling = false
            state = .returning(gap)
            return [.cancelInvite(gap.host.id), .browse]
        }
    }

    private mutating func leave() -> [Action] {
        defer { state = .idle }
        switch state {
        case .idle: return []
        case .choosing, .connected: return [.stopBrowsing, .show(.disconnected)]
        case .joining(let host): return [.cancelInvite(host.id), .show(.disconnected)]
        case .returning(let gap): return [.cancelInvite(gap.host.id), .stopBrowsing, .show(.disconnected)]
        }
    }

    private mutating func choose(_ peer: Peer, now: MeshInstant) -> [Action] {
        guard wanted.isPerhaps(peer), host(copiedBy: peer) == nil, !hasRefused(peer), isHoldOver(for: peer, now: now),
            isPauseOver(for: peer, now: now)
        else {
            return []
        }
        state = .joining(peer)
        return [.stopBrowsing, .invite(wanted.key ?? peer.id)]
    }

    /// Somebody else with the same head does not speak for the host that is wanted.
    private func hasRefused(_ peer: Peer) -> Bool {
        if let key = wanted.key { return refusers.contains(key) }
        return refusers.contains { Identity.head(of: $0) == Identity.head(of: peer.id) }
    }

    /// The link goes to somebody else than was wanted. Who it is shows behind the handshake only, so that it is tried again,
    /// as the one that is wanted may be heard there as well, and less and less often.
    private mutating func leaveStranger(_ peer: Peer, now: MeshInstant, jitter: Double) -> [Action] {
        let wasDialled = state != .choosing
        hold(peer.id, now: now, jitter: jitter)
        state = .choosing
        return [.cancelInvite(peer.id)] + (wasDialled ? [.browse] : [])
    }

    private mutating func hold(_ host: Peer.ID, now: MeshInstant, jitter: Double) {
        let head = Identity.head(of: host)
        if held[head] == nil, held.count == Self.holds, let soonest = held.min(by: { $0.value.until < $1.value.until })
        {
            held[soonest.key] = nil
        }
        var hold = held[head] ?? Hold()
        hold.until = now + min(Self.firstHold * (1 << min(hold.tries, 5)), Self.longestHold) * (0.5 + jitter / 2)
        hold.tries += 1
        held[head] = hold
    }

    private mutating func isHoldOver(for peer: Peer, now: MeshInstant) -> Bool {
        let head = Identity.head(of: peer.id)
        guard let hold = held[head], now < hold.until else { return true }
        held[head]?.heard = peer
        return false
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
        return [.show(.reconnecting(attempt: gap.attempt)), .stopBrowsing, .invite(gap.host.id)]
    }

    private mutating func refused(
        by host: Peer.ID, _ reason: RefusalReason, now: MeshInstant, jitter: Double
    ) -> [Action] {
        // A place may come free, guessers tire, and who is refused without a bond may come near, or bond; every other reason needs a
        // person.
        if reason != .full, reason != .tooManyGuesses, reason != .bond {
            refusers.insert(host)
        } else if wanted.key == nil || wanted.key == host {
            hold(host, now: now, jitter: jitter)
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

/// Which host a guest joins.
private enum WantedHost: Sendable {
    case any
    /// The host of this whole identifier.
    case key(Peer.ID)
    /// The host whose identifier begins with these digits.
    case digits(Peer.ID)
    /// The host of this name.
    case name(String)

    init(_ text: String?) {
        guard let text else {
            self = .any
            return
        }
        let digits = Identity.digits(in: text)
        switch digits?.utf8.count {
        case 2 * Identity.idBytes: self = .key(digits ?? text)
        case .some: self = .digits(digits ?? text)
        case nil: self = .name(text)
        }
    }

    /// Whether nobody was named.
    var isAny: Bool { if case .any = self { true } else { false } }

    /// The whole identifier, where that is what is wanted: to be proved by the handshake.
    var key: Peer.ID? { if case .key(let key) = self { key } else { nil } }

    /// Whether this is a host that was named by its identifier, or the first digits of it.
    func isKey(of peer: Peer) -> Bool {
        switch self {
        case .any, .name: false
        case .key(let digits), .digits(let digits): Identity.head(of: digits) == Identity.head(of: peer.id)
        }
    }

    /// Whether it may be a host that is heard: an advertisement has room for the head of an identifier, a scan response for
    /// the head of a name, and neither proves anything.
    func isPerhaps(_ heard: Peer) -> Bool {
        switch self {
        case .any: true
        case .key, .digits: isKey(of: heard)
        case .name(let text): heard.name == text || (try? NodeName(text))?.isPerhaps(heard: heard.name) == true
        }
    }

    /// Whether it is a host that has proved its identifier and has said its whole name.
    func isProved(by peer: Peer) -> Bool {
        switch self {
        case .any: true
        case .key(let key): peer.id == key
        case .digits(let digits): peer.id.hasPrefix(digits)
        case .name(let text): peer.name == text || peer.name == (try? NodeName(text))?.text
        }
    }
}
