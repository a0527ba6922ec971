// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Which hosts were heard, and which of them are dialled: from the invitation until the link is up or has failed.
struct Dials: Sendable {
    private struct Dial: Sendable {
        var number: Int
        /// Its link, once there is one to shake hands on: to the host, or to the relay on the way there.
        var link: MeshCore.LinkID?
        /// The head of the relay that is dialled on the way.
        var relay: Peer.ID?
        /// As much of its host's identifier as that relay has advertised.
        var advertised: Peer.ID?
        /// When it is looked for another way, as long as no channel has opened; nil where nothing is dialled.
        var patience: MeshInstant?
        /// How often it was.
        var looks = 0
        /// The host was not heard: it is waited for where it was.
        var isBlind = false
    }

    /// A dial that has led to no channel for a while.
    struct Overdue: Hashable, Sendable {
        /// Who was invited, and with which number.
        var host: Peer.ID
        var number: Int
        /// The head of the relay that is dialled; nil where it is the host itself.
        var relay: Peer.ID?
        /// How often it was looked for another way before.
        var looks: Int
        /// The host was not heard: it is waited for where it was.
        var isBlind: Bool
    }

    /// How a host is got to.
    enum Way: Hashable, Sendable {
        /// Itself, where it was heard.
        case host
        /// Through the relay with this head, which is to be dialled.
        case relay(Peer.ID)
        /// In a circuit over a link that is up.
        case circuit(CircuitPlace)
    }

    /// What is to be done about an invitation.
    enum Answer: Hashable, Sendable {
        /// Dial the host with this head.
        case dial(Int, head: Peer.ID)
        /// Dial the relay with this head.
        case dialRelay(Int, Peer.ID)
        /// Open a circuit.
        case circuit(Int, CircuitPlace)
        /// It is under way already.
        case underWay
        /// It leads to nothing.
        case failed(InviteFailure)
    }

    /// What is to be done about an invitation that is taken back.
    enum Cancelled: Hashable, Sendable {
        /// No channel has opened yet.
        case dial(Int)
        /// Its link is shaking hands.
        case link(MeshCore.LinkID)
    }

    /// A host that was heard.
    private struct Host: Sendable {
        var peer: Peer
        var rssi: Int?
        /// Whether this node speaks its version.
        var isUnderstood: Bool
        /// It says that it asks for a PIN.
        var asksForPIN: Bool
        /// Its last places are for nodes that relay.
        var placesForRelays: Bool
    }

    /// The hosts that were heard, by the head of their identifier. The radio's own table bounds it.
    private var hosts: [Peer.ID: Host] = [:]
    /// By the identifier, or the head of one, that was invited.
    private var dials: [Peer.ID: Dial] = [:]
    private var lastNumber = 0

    /// A host was heard.
    mutating func heard(
        _ peer: Peer, rssi: Int? = nil, isUnderstood: Bool, asksForPIN: Bool = false, placesForRelays: Bool = false
    ) {
        hosts[peer.id] = Host(
            peer: peer, rssi: rssi, isUnderstood: isUnderstood, asksForPIN: asksForPIN, placesForRelays: placesForRelays
        )
    }

    /// A host is not heard any more.
    mutating func unheard(_ peer: Peer) { hosts[peer.id] = nil }

    /// A scan begins: what was heard before may be somewhere else now.
    mutating func forgetHeard() { hosts = [:] }

    /// What a host that was heard advertises of itself.
    func heard(_ id: Peer.ID) -> Peer? { hosts[Identity.head(of: id)]?.peer }

    /// The signal with which a host was heard, where the radio knows it.
    func signal(of id: Peer.ID) -> Int? { hosts[Identity.head(of: id)]?.rssi }

    /// Whether a host that was heard says that it asks for a PIN.
    func asksForPIN(_ id: Peer.ID) -> Bool { hosts[Identity.head(of: id)]?.asksForPIN == true }

    /// Whether what a host that was heard has left is for nodes that relay.
    func keepsPlaces(_ id: Peer.ID) -> Bool { hosts[Identity.head(of: id)]?.placesForRelays == true }

    /// Whether a host is heard well enough to leave another way for it.
    func isNear(_ id: Peer.ID) -> Bool {
        guard let host = hosts[Identity.head(of: id)], host.isUnderstood else { return false }
        return Ways.isNear(host.rssi)
    }

    /// Who is dialled: one dial at a time is pending.
    var pending: Peer.ID? { dials.keys.min() }

    /// A host is to be dialled.
    /// `advertised` is the host that a relay on the way has advertised.
    mutating func invite(
        _ peer: Peer.ID, by way: Way = .host, advertised: Peer.ID? = nil, blindly isBlind: Bool = false,
        now: MeshInstant
    ) -> Answer {
        guard dials[peer] == nil else { return .underWay }
        let head = Identity.head(of: peer)
        switch way {
        case .host:
            guard let host = hosts[head] else { return .failed(.unknownPeer) }
            // What refuses so is only an advertisement.
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

    /// The dials that have led to no channel for a while. Each is again, when as much time has passed again.
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

    /// A host that has left through a relay, or that was heard long ago, is to be heard again before it is dialled.
    mutating func forgetHeard(_ peer: Peer.ID) { hosts[Identity.head(of: peer)] = nil }

    /// The link to a relay is up on which a circuit is to be opened: to which host, with which number, and where the relay has
    /// advertised to lead.
    func invited(on link: MeshCore.LinkID) -> (peer: Peer.ID, number: Int, advertised: Peer.ID?)? {
        dials.first { $0.value.link == link && $0.value.relay != nil }
            .map { ($0.key, $0.value.number, $0.value.advertised) }
    }

    /// The head of the relay that was dialled where a link is the one to it.
    func relay(on link: MeshCore.LinkID) -> Peer.ID? { dials.values.first { $0.link == link }?.relay }

    /// A dial's channel has opened. Returns who was invited; nil where nobody waits for it any more.
    mutating func opened(_ number: Int, _ link: MeshCore.LinkID) -> Peer.ID? {
        guard let peer = peer(of: number) else { return nil }
        dials[peer]?.link = link
        return peer
    }

    /// A dial has ended without a channel. Returns who was invited; nil where nobody waits for it any more.
    mutating func failed(_ number: Int) -> Peer.ID? {
        guard let peer = peer(of: number) else { return nil }
        dials[peer] = nil
        return peer
    }

    /// A link is up, or will never be. Returns who was invited; nil for one that nobody here has dialled.
    mutating func ended(_ link: MeshCore.LinkID) -> Peer.ID? {
        guard let peer = dials.first(where: { $0.value.link == link })?.key else { return nil }
        dials[peer] = nil
        return peer
    }

    /// An invitation is taken back. A host may have been invited by its head alone.
    mutating func cancel(_ peer: Peer.ID) -> Cancelled? {
        guard let invited = dials.keys.first(where: { Identity.head(of: $0) == Identity.head(of: peer) }),
            let dial = dials.removeValue(forKey: invited)
        else { return nil }
        return dial.link.map { .link($0) } ?? .dial(dial.number)
    }

    /// Takes all back. Returns the dials without a channel.
    mutating func cancelAll() -> [Int] {
        defer { dials = [:] }
        return dials.values.filter { $0.link == nil }.map(\.number).sorted()
    }

    private func peer(of number: Int) -> Peer.ID? { dials.first { $0.value.number == number }?.key }
}

/// Why an invitation led to nothing.
public enum InviteFailure: Hashable, Sendable {
    /// Nobody of this identifier was ever heard.
    case unknownPeer
    /// The dial ended without a connection, for this reason.
    case dialFailed(String)
    /// The host has answered, and said no. `by` is who; nil where nothing proves that it was the host: an advertisement, or
    /// a word before there were keys.
    case refused(RefusalReason, by: Peer.ID?)
    /// The host is not dialled: too many that did not know this guest's PIN have asked for it.
    case heldBack(Peer.ID)
    /// The link ended before both sides had introduced themselves.
    case linkEnded(LinkEnd)

    init(_ end: LinkEnd, provedBy peer: Peer.ID?) {
        self = if case .refused(let reason) = end { .refused(reason, by: peer) } else { .linkEnded(end) }
    }
}
