// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The hosts that were heard, and the pending dials. A dial lasts from the invitation until the link is up or has
/// failed.
struct Dials: Sendable {
    private struct Dial: Sendable {
        var number: Int
        /// The link on which the handshake runs, to the host or to the relay; nil while no channel is open.
        var link: MeshCore.LinkID?
        /// The head of the relay that is dialled on the route to the host.
        var relay: Peer.ID?
        /// The host's identifier, as far as that relay has advertised it.
        var advertised: Peer.ID?
        /// When to try another route, unless a channel has opened; nil for a circuit over an existing link.
        var patience: MeshInstant?
        /// How often another route was considered.
        var looks = 0
        /// The host was not heard. The dial waits for it to come back.
        var isBlind = false
    }

    /// A dial without a channel after the usual time.
    struct Overdue: Hashable, Sendable {
        /// The invited host.
        var host: Peer.ID
        var number: Int
        /// The head of the relay that is dialled; nil if the host itself is dialled.
        var relay: Peer.ID?
        /// How often another route was considered before.
        var looks: Int
        /// The host was not heard. The dial waits for it to come back.
        var isBlind: Bool
    }

    /// A route to a host.
    enum Way: Hashable, Sendable {
        /// Directly, if the host was heard.
        case host
        /// Through the relay with this head, which must be dialled.
        case relay(Peer.ID)
        /// In a circuit over an existing link.
        case circuit(CircuitPlace)
    }

    /// How to perform an invitation.
    enum Answer: Hashable, Sendable {
        /// Dial the host with this head.
        case dial(Int, head: Peer.ID)
        /// Dial the relay with this head.
        case dialRelay(Int, Peer.ID)
        case circuit(Int, CircuitPlace)
        /// A dial is already pending.
        case underWay
        /// The invitation fails.
        case failed(InviteFailure)
    }

    /// How to cancel an invitation.
    enum Cancelled: Hashable, Sendable {
        /// The dial has no channel yet.
        case dial(Int)
        /// The handshake on this link is running.
        case link(MeshCore.LinkID)
    }

    /// The hosts that were heard, by the head of their identifier. The radio's own table bounds it.
    private var hosts: [Peer.ID: HeardNode] = [:]
    /// By the identifier, or the head of one, that was invited.
    private var dials: [Peer.ID: Dial] = [:]
    private var lastNumber = 0

    /// A host was heard.
    mutating func heard(_ node: HeardNode) { hosts[node.host.id] = node }

    mutating func unheard(_ peer: Peer) { hosts[peer.id] = nil }

    /// A scan begins. Peers that were heard before may be somewhere else now.
    mutating func forgetHeard() { hosts = [:] }

    /// What a host that was heard advertises of itself.
    func heard(_ id: Peer.ID) -> Peer? { hosts[Identity.head(of: id)]?.host }

    /// The signal strength of a host that was heard, if the radio knows it.
    func signal(of id: Peer.ID) -> Int? { hosts[Identity.head(of: id)]?.rssi }

    /// Whether a host that was heard asks for a PIN.
    func asksForPIN(_ id: Peer.ID) -> Bool { hosts[Identity.head(of: id)]?.asksForPIN == true }

    /// Whether a host that was heard reserves its last slots for relays.
    func keepsPlaces(_ id: Peer.ID) -> Bool { hosts[Identity.head(of: id)]?.placesForRelays == true }

    /// Whether a host's signal is strong enough to switch to it from another route.
    func isNear(_ id: Peer.ID) -> Bool {
        guard let host = hosts[Identity.head(of: id)], host.isUnderstood else { return false }
        return Ways.isNear(host.rssi)
    }

    /// The dialled host. Only one dial at a time is pending.
    var pending: Peer.ID? { dials.keys.min() }

    /// Begins an invitation. `advertised` is the host in the advertisement of the relay on the route.
    mutating func invite(
        _ peer: Peer.ID, by way: Way = .host, advertised: Peer.ID? = nil, blindly isBlind: Bool = false,
        now: MeshInstant
    ) -> Answer {
        guard dials[peer] == nil else { return .underWay }
        let head = Identity.head(of: peer)
        switch way {
        case .host:
            guard let host = hosts[head] else { return .failed(.unknownPeer) }
            // Only an advertisement refuses here, so no peer is named.
            guard host.isUnderstood else { return .failed(.refused(.version, by: nil)) }
            return .dial(begin(peer, blindly: isBlind, now: now), head: head)
        case .relay(let relay):
            let number = begin(peer, through: relay, now: now)
            dials[peer]?.advertised = advertised
            return .dialRelay(number, relay)
        case .circuit(let place): return .circuit(begin(peer), place)
        }
    }

    private mutating func begin(
        _ peer: Peer.ID, through relay: Peer.ID? = nil, blindly isBlind: Bool = false, now: MeshInstant? = nil
    ) -> Int {
        lastNumber += 1
        let patience = now.map { $0 + (relay == nil ? NodeLimits.dialPatience : NodeLimits.dialPatienceBesideOthers) }
        dials[peer] = Dial(number: lastNumber, relay: relay, patience: patience, isBlind: isBlind)
        return lastNumber
    }

    // MARK: Patience

    /// When a dial is overdue.
    var deadline: MeshInstant? {
        dials.isEmpty ? nil : dials.values.lazy.compactMap { $0.link == nil ? $0.patience : nil }.min()
    }

    /// The dials without a channel after the usual time. Each is returned again after the same time.
    mutating func overdue(now: MeshInstant) -> [Overdue] {
        let due = dials.filter { $0.value.link == nil && $0.value.patience.map { $0 <= now } == true }
        for host in due.keys {
            let isFirst = dials[host]?.relay != nil && dials[host]?.looks == 0
            let spent = isFirst ? NodeLimits.dialPatienceBesideOthers : .zero
            dials[host]?.patience = now + NodeLimits.dialPatience - spent
            dials[host]?.looks += 1
        }
        return due.map { host, dial in
            Overdue(host: host, number: dial.number, relay: dial.relay, looks: dial.looks, isBlind: dial.isBlind)
        }.sorted { $0.number < $1.number }
    }

    /// The head of the relay that a dial without a channel goes to.
    func relay(of number: Int) -> Peer.ID? { dials.values.first { $0.number == number }?.relay }

    /// The host has left through a relay or was heard long ago. It must be heard again before it is dialled.
    mutating func forgetHeard(_ peer: Peer.ID) { hosts[Identity.head(of: peer)] = nil }

    /// The invitation that needs a circuit over this new link to a relay. `advertised` is the host in the relay's
    /// advertisement.
    func invited(on link: MeshCore.LinkID) -> (peer: Peer.ID, number: Int, advertised: Peer.ID?)? {
        dials.first { $0.value.link == link && $0.value.relay != nil }
            .map { ($0.key, $0.value.number, $0.value.advertised) }
    }

    /// The head of the dialled relay of a link.
    func relay(on link: MeshCore.LinkID) -> Peer.ID? { dials.values.first { $0.link == link }?.relay }

    /// A dial's channel has opened. Returns the invited host; nil if the dial was cancelled.
    mutating func opened(_ number: Int, _ link: MeshCore.LinkID) -> Peer.ID? {
        guard let peer = peer(of: number) else { return nil }
        dials[peer]?.link = link
        return peer
    }

    /// A dial has ended without a channel. Returns the invited host; nil if the dial was cancelled.
    mutating func failed(_ number: Int) -> Peer.ID? {
        guard let peer = peer(of: number) else { return nil }
        dials[peer] = nil
        return peer
    }

    /// A link is up or has failed. Returns the invited host; nil if this node did not dial it.
    mutating func ended(_ link: MeshCore.LinkID) -> Peer.ID? {
        guard let peer = dials.first(where: { $0.value.link == link })?.key else { return nil }
        dials[peer] = nil
        return peer
    }

    /// Cancels an invitation. The host may have been invited by its head alone.
    mutating func cancel(_ peer: Peer.ID) -> Cancelled? {
        guard let invited = dials.keys.first(where: { Identity.head(of: $0) == Identity.head(of: peer) }),
            let dial = dials.removeValue(forKey: invited)
        else { return nil }
        return dial.link.map { .link($0) } ?? .dial(dial.number)
    }

    /// Cancels all invitations. Returns the dials without a channel.
    mutating func cancelAll() -> [Int] {
        defer { dials = [:] }
        return dials.values.filter { $0.link == nil }.map(\.number).sorted()
    }

    private func peer(of number: Int) -> Peer.ID? { dials.first { $0.value.number == number }?.key }
}

/// Why an invitation has failed.
public enum InviteFailure: Hashable, Sendable {
    /// No peer with this identifier was ever heard.
    case unknownPeer
    /// The dial ended without a connection, for this reason.
    case dialFailed(String)
    /// The host has refused. `by` is its identifier; nil if it is not proved, because an advertisement or a message
    /// before the key exchange has refused.
    case refused(RefusalReason, by: Peer.ID?)
    /// The host is not dialled, because too many hosts that did not know this guest's PIN have asked for it.
    case heldBack(Peer.ID)
    /// The link ended before both sides had sent a hello.
    case linkEnded(LinkEnd)

    init(_ end: LinkEnd, provedBy peer: Peer.ID?) {
        self = if case .refused(let reason) = end { .refused(reason, by: peer) } else { .linkEnded(end) }
    }
}
