// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides when a guest looks for its host, dials it, tries again and gives up.
struct GuestMachine: Sendable {
    /// An action for the owner.
    enum Action: Hashable, Sendable {
        /// Look for hosts.
        case browse
        /// Stop looking.
        case stopBrowsing
        /// Dial a found host, or a relay to it. Report the result with `failed` or `connected`.
        case dial(Peer.ID, expecting: Peer.ID?)
        /// Dial the same node again, within a short time. It is still where it was if the link broke in a dead zone.
        case redial(Peer.ID, expecting: Peer.ID?)
        /// Call `resumed` after this time.
        case pause(Duration)
        /// Call `patienceIsOver` when the guest's patience has passed.
        case beginPatience
        /// Do not call `patienceIsOver` any more.
        case endPatience
        /// The state has changed.
        case show(ConnectionState)
        /// The guest has ended, because the host has left or with an error.
        case end(MeshCoreError?)
    }

    private enum State: Hashable, Sendable {
        case idle, browsing, dialling, linked, pausing, over
    }

    private var state = State.idle
    /// The host that the guest looks for, or the head of its identifier. Nil for any host.
    private(set) var wanted: Peer.ID?
    /// Failed attempts since the last link.
    private var attempts = 0
    private var wasLinked = false
    /// The last dialled node, and whether it is a relay.
    private var dialled: (node: Peer.ID, isRelay: Bool)?

    init(wanted: Peer.ID?) { self.wanted = wanted }

    /// Whether the guest has not started yet.
    var isIdle: Bool { state == .idle }

    /// Whether the guest looks for its host.
    var isBrowsing: Bool { state == .browsing }

    /// The guest starts.
    mutating func start() -> [Action] {
        state = .browsing
        return [.show(.connecting), .beginPatience, .browse]
    }

    /// A host was found, directly or behind a relay. A relay proves its own key, not the host's.
    mutating func found(_ host: Peer.ID, behind relay: Peer.ID? = nil) -> [Action] {
        guard state == .browsing, isWanted(host) else { return [] }
        state = .dialling
        dialled = (relay ?? host, relay != nil)
        return [.stopBrowsing, .dial(relay ?? host, expecting: relay == nil ? wanted : nil)]
    }

    /// Whether a host may be the wanted host.
    func isWanted(_ host: Peer.ID) -> Bool { wanted.map { Identity.mayBeSame($0, host) } != false }

    /// The dialled host has admitted this node. From now on the guest returns only to this host.
    mutating func connected(_ peer: Peer.ID) -> [Action] {
        guard state == .dialling else { return [] }
        (state, wanted, attempts, wasLinked) = (.linked, peer, 0, true)
        return [.endPatience, .show(.connected)]
    }

    /// The dial has failed, or its link has ended before it was up.
    mutating func failed(_ end: LinkEnd?) -> [Action] {
        guard state == .dialling else { return [] }
        if case .refused(let reason) = end, Self.isFinal(reason) { return finish(.refused(reason)) }
        return retry()
    }

    /// The link was up and has ended.
    mutating func lost(_ end: LinkEnd) -> [Action] {
        guard state == .linked else { return [] }
        switch end {
        case .goodbye(.stopped): return [.beginPatience] + retry()
        case .goodbye, .left, .refused(.ended): return finish(nil)
        case .refused(let reason) where Self.isFinal(reason): return finish(.refused(reason))
        case .linkLost, .silent: return [.beginPatience] + redial()
        default: return [.beginPatience] + retry()
        }
    }

    /// A dial needs no scan, so the guest is back within a fraction of a second when the gap was short.
    private mutating func redial() -> [Action] {
        guard let dialled else { return retry() }
        (state, attempts) = (.dialling, 1)
        return [
            .show(.reconnecting(attempt: 1)), .redial(dialled.node, expecting: dialled.isRelay ? nil : wanted),
        ]
    }

    /// The pause is over.
    mutating func resumed() -> [Action] {
        guard state == .pausing else { return [] }
        state = .browsing
        return [.browse]
    }

    /// The patience is over, and no host has admitted this node.
    mutating func patienceIsOver() -> [Action] {
        state == .linked ? [] : finish(.unreachable)
    }

    /// The guest has stopped, or cannot go on.
    mutating func finish(_ error: MeshCoreError?) -> [Action] {
        guard state != .over else { return [] }
        state = .over
        return [.stopBrowsing, .endPatience, .show(.disconnected), .end(error)]
    }

    private mutating func retry() -> [Action] {
        attempts += 1
        state = .pausing
        let doublings = min(attempts - 1, 16)
        let pause = min(SessionLimits.guestPause * (1 << doublings), SessionLimits.longestGuestPause)
        return [.show(wasLinked ? .reconnecting(attempt: attempts) : .connecting), .pause(pause)]
    }

    /// Whether another attempt would be refused again.
    private static func isFinal(_ reason: RefusalReason) -> Bool {
        switch reason {
        case .full, .tooManyGuesses, .unspecified: false
        case .version, .banned, .ended, .challenge, .bond, .twin, .wrongProof, .invitation: true
        }
    }
}
