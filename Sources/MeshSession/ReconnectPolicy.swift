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
        /// Offer the person to retry: the host has been away for long.
        case offerRetry(Peer)
        /// The host has been away for too long; any host will do from now on.
        case giveUp(Peer)
    }

    /// The person is offered Retry after this long without the host.
    public static let retryOffer: Duration = .seconds(10)
    /// The guest goes back to choosing a host after this long without it.
    public static let limit: Duration = .seconds(30)
    /// The first pause after a failed dial; it doubles with each.
    static let firstPause: Duration = .milliseconds(100)
    /// The longest pause after a failed dial: a host that is back is not kept waiting longer.
    static let longestPause: Duration = .seconds(2)

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
        var isRetryOffered = false
    }

    private let wanted: String?
    private var state = State.idle
    private var failures = 0
    private var pauseUntil: MeshInstant = .zero
    /// A wanted host that was heard during the pause. It may not be reported again for a while.
    private var heardInPause: Peer?
    /// Hosts that said no, by what they have proved: they are not dialled again without a person's word.
    private var refusers: Set<Peer.ID> = []

    /// A policy for a guest that joins the host of this name or identifier, or any where it is nil.
    public init(wanted: String? = nil) {
        self.wanted = wanted
    }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        let pauseEnds = heardInPause == nil ? nil : pauseUntil
        guard case .returning(let gap) = state else { return pauseEnds }
        let offer = gap.since + (gap.isRetryOffered ? Self.limit : Self.retryOffer)
        return min(offer, pauseEnds ?? offer)
    }

    /// Takes an event. `jitter` is a random number from 0 to 1.
    public mutating func handle(_ event: Event, now: MeshInstant, jitter: Double) -> [Action] {
        switch (state, event) {
        case (_, .start): return start(now: now)
        case (_, .leave): return leave()
        case (.choosing, .heard(let peer)): return choose(peer, now: now)
        case (.returning(var gap), .heard(let peer)): return comeBack(&gap, to: peer, now: now)
        case (.joining, .linked(let peer)), (.returning, .linked(let peer)):
            state = .connected(peer)
            failures = 0
            return [.show(.connected)]
        // The link was quicker than the person's second thoughts.
        case (.choosing, .linked(let peer)):
            state = .connected(peer)
            failures = 0
            return [.stopBrowsing, .show(.connected)]
        case (.idle, .linked(let peer)): return [.cancelInvite(peer.id)]
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
            // It may have come back under another address or PSM, so it has to be heard anew.
            return [.browse]
        case (.joining, .refused(let reason, let host)), (.connected, .refused(let reason, let host)),
            (.returning, .refused(let reason, let host)):
            return refused(by: host, reason)
        case (.returning(var gap), .tick):
            let actions = tick(&gap, now: now)
            return actions.isEmpty ? pauseEnded(now: now, jitter: jitter) : actions
        case (_, .tick): return pauseEnded(now: now, jitter: jitter)
        default: return []
        }
    }

    private mutating func pauseEnded(now: MeshInstant, jitter: Double) -> [Action] {
        guard let peer = heardInPause, now >= pauseUntil else { return [] }
        heardInPause = nil
        return handle(.heard(peer), now: now, jitter: jitter)
    }

    private mutating func start(now: MeshInstant) -> [Action] {
        refusers = []
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
            // Retry: what is pending may hang on something that has changed, so it is done anew.
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
        guard isWanted(peer), !hasRefused(peer), isPauseOver(for: peer, now: now) else {
            return []
        }
        state = .joining(peer)
        return [.stopBrowsing, .invite(wholeIdentifier(of: peer) ?? peer.id)]
    }

    /// Who names a host by its whole identifier wants that one, and not whoever advertises its head.
    private func wholeIdentifier(of peer: Peer) -> Peer.ID? {
        guard let wanted, wanted.count == 2 * Identity.idBytes, wanted.hasPrefix(peer.id) else { return nil }
        return wanted
    }

    /// Somebody else with the same head does not speak for the host that is wanted.
    private func hasRefused(_ peer: Peer) -> Bool {
        if let wanted = wholeIdentifier(of: peer) { return refusers.contains(wanted) }
        return refusers.contains { Identity.head(of: $0) == Identity.head(of: peer.id) }
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

    private mutating func refused(by host: Peer.ID, _ reason: RefusalReason) -> [Action] {
        refusers.insert(host)
        state = .choosing
        return [.show(.failed(.connectionFailed(reason: "refused: \(reason)"))), .browse]
    }

    private mutating func tick(_ gap: inout Return, now: MeshInstant) -> [Action] {
        let away = now - gap.since
        if away >= Self.limit {
            state = .choosing
            return [
                .cancelInvite(gap.host.id), .show(.failed(.connectionFailed(reason: "hostNotFound"))),
                .giveUp(gap.host), .browse, .show(.connecting),
            ]
        }
        guard away >= Self.retryOffer, !gap.isRetryOffered else { return [] }
        gap.isRetryOffered = true
        state = .returning(gap)
        return [.offerRetry(gap.host)]
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

    private func isWanted(_ peer: Peer) -> Bool {
        guard let wanted else { return true }
        // A scan response has room for the head of a name, an advertisement for the head of an identifier.
        let name = (try? NodeName(wanted))?.advertised ?? wanted
        return peer.name == wanted || peer.name == name || Identity.head(of: wanted) == peer.id
    }
}
