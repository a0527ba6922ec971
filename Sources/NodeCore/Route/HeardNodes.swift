// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The hosts and relays that were heard since the scan began, and which relay is the best route to a host: fewer hops,
/// then a better signal. Relays that have failed are not used during a pause.
struct HeardNodes: Sendable {
    private struct Entry: Sendable {
        var node: HeardNode
        var at: MeshInstant
    }

    /// A host that is heard only through relays, and is not offered yet.
    private struct Settling: Sendable {
        var until: MeshInstant
        /// Whether people have seen the host. Every relay on a route to the host is in a pause at present.
        var isReported = false
    }

    /// The action for a relay that was heard.
    enum Answer: Hashable, Sendable {
        /// Report the relay's host, which may be joined through this relay.
        case offer
        /// Report its host.
        case report
        /// Wait: the host is new, and the host itself may be heard soon.
        case wait
    }

    /// The node that chooses, and whether it relays.
    private let local: Peer.ID
    private let relays: Bool
    /// The heard nodes, by the heads of their identifiers. A relay that claims a host's head does not replace the host.
    private var heardHosts: [Peer.ID: Entry] = [:]
    private var heardRelays: [Peer.ID: Entry] = [:]
    /// The hosts that are heard only through relays and are not offered yet, by their heads.
    private var settling: [Peer.ID: Settling] = [:]
    private var pauses = RelayPauses()
    /// Whether relays have been heard since this node has started. There may be some even if none is heard now.
    private(set) var hasHeardRelays = false

    init(local: Peer.ID, relays: Bool = false) { (self.local, self.relays) = (local, relays) }

    /// When `tick` is due.
    var deadline: MeshInstant? { settling.isEmpty ? nil : settling.values.lazy.map(\.until).min() }

    // MARK: What is heard

    /// A host is heard itself, which is better than any relay.
    mutating func heard(host node: HeardNode, now: MeshInstant) {
        Self.store(node, in: &heardHosts, now: now)
        settling[node.host.id] = nil
    }

    /// A relay is heard.
    mutating func heard(relay node: HeardNode, now: MeshInstant) -> Answer {
        let host = Identity.head(of: node.host.id)
        let isKnown = heardRelays.values.contains { Identity.head(of: $0.node.host.id) == host }
        Self.store(node, in: &heardRelays, now: now)
        hasHeardRelays = true
        if let settling = settling[host] { return settling.isReported ? .report : .wait }
        guard !isKnown else { return .offer }
        settling[host] = Settling(until: now + NodeLimits.settlingWays)
        return .wait
    }

    /// A host or a relay is not heard any more.
    mutating func unheard(_ head: Peer.ID) {
        heardHosts[head] = nil
        guard let host = heardRelays.removeValue(forKey: head)?.node.host.id, !hasRelay(to: host) else { return }
        settling[Identity.head(of: host)] = nil
    }

    /// A scan begins. Nodes may have other addresses now, or be gone.
    mutating func removeAll() { (heardHosts, heardRelays, settling) = ([:], [:], [:]) }

    /// A host must be heard again before it is dialled.
    mutating func forget(host: Peer.ID) { heardHosts[Identity.head(of: host)] = nil }

    /// Time has passed. Returns the heads of the hosts that may be joined now through the best relay.
    mutating func tick(now: MeshInstant) -> [Peer.ID] {
        let due = settling.filter { $0.value.until <= now }.keys.sorted()
        for host in due { settling[host] = nil }
        return due
    }

    /// A host that was heard itself.
    func host(_ id: Peer.ID) -> HeardNode? { heardHosts[Identity.head(of: id)]?.node }

    /// A relay that was heard.
    func relay(_ id: Peer.ID) -> HeardNode? { heardRelays[Identity.head(of: id)]?.node }

    /// All relays to a host, the best first.
    func relays(to host: Peer.ID) -> [HeardNode] {
        heardRelays.values.filter { leads($0.node, to: host) }.map { (rank: rank($0.node), node: $0.node) }
            .sorted { $0.rank < $1.rank }.map(\.node)
    }

    /// The radio's table has the same bound. The node that was heard longest ago has most likely gone.
    private static func store(_ node: HeardNode, in entries: inout [Peer.ID: Entry], now: MeshInstant) {
        entries[node.id] = Entry(node: node, at: now)
        guard entries.count > NodeLimits.heardNodes,
            let oldest = entries.min(by: { ($0.value.at, $0.key) < ($1.value.at, $1.key) })?.key
        else { return }
        entries[oldest] = nil
        assert(entries.count <= NodeLimits.heardNodes)
    }

    private func hasRelay(to host: Peer.ID) -> Bool { heardRelays.values.contains { leads($0.node, to: host) } }

    private func leads(_ relay: HeardNode, to host: Peer.ID) -> Bool { Identity.mayBeSame(host, relay.host.id) }

    // MARK: Failures

    /// A dialled host or relay has not answered, and must be heard again: a controller without room for a link is not
    /// heard.
    mutating func unanswered(_ dialled: Peer.ID, now: MeshInstant) {
        heardRelays[Identity.head(of: dialled)] = nil
        failed(dialled, now: now)
    }

    /// Circuits through a relay have failed.
    mutating func failed(_ relay: Peer.ID, now: MeshInstant) { pauses.failed(Identity.head(of: relay), now: now) }

    /// A relay has no route at present.
    mutating func leadsNowhere(_ relay: Peer.ID, now: MeshInstant) {
        pauses.leadsNowhere(Identity.head(of: relay), now: now)
    }

    /// Whether a node failed a short while ago, so that others are preferred.
    func isLeftAlone(_ id: Peer.ID, now: MeshInstant) -> Bool {
        pauseEnd(of: Identity.head(of: id)).map { now < $0 } == true
    }

    /// Every relay on a route to a host is in a pause. The host is offered again when the first pause ends.
    mutating func offerAgain(_ host: Peer.ID, now: MeshInstant) {
        let ends = heardRelays.values.filter { leads($0.node, to: host) }.compactMap { pauseEnd(of: $0.node.id) }
        guard let end = ends.filter({ $0 > now }).min() else { return }
        settling[Identity.head(of: host)] = Settling(until: end, isReported: true)
    }

    private func pauseEnd(of head: Peer.ID) -> MeshInstant? {
        pauses.end(of: head, isOnlyRelay: heardRelays[head].map { isOnlyRelay($0.node) } ?? false)
    }

    private func isOnlyRelay(_ relay: HeardNode) -> Bool {
        heardRelays.values.count { leads($0.node, to: relay.host.id) } == 1
    }

    // MARK: The best relay

    /// The best relay to a host with fewer hops than `ceiling`.
    func best(to host: Peer.ID, below ceiling: Int?, except other: Peer.ID? = nil, now: MeshInstant) -> HeardNode? {
        best(of: candidates(to: host, now: now).filter { $0.hops < ceiling ?? .max && $0.relay != other })
    }

    /// A path that is better than the parent: the near host itself, a near relay that saves hops, or a relay without
    /// more hops and with a much better signal than a faint parent.
    func better(
        than parent: RelayLinks.Relay, to host: Peer.ID, carriesOthers: Bool, now: MeshInstant
    ) -> Route.Path? {
        let saving = carriesOthers ? NodeLimits.hopsWithOthers : 1
        if Int(parent.route?.hops ?? 1) >= saving, let node = self.host(host), node.isUnderstood,
            Self.isNear(node.rssi), !isForOthers(node)
        {
            return .direct
        }
        guard let route = parent.route else { return nil }
        let (hops, signal) = (Int(route.hops), parent.rssi ?? 0)
        let found = candidates(to: host, now: now).filter { relay in
            guard !isForOthers(relay) else { return false }
            if relay.hops <= hops - saving { return Self.isNear(relay.rssi) }
            return relay.hops <= hops && relay.relay != Identity.head(of: parent.peer.id)
                && !Self.isNear(signal) && relay.rssi ?? 0 >= signal + NodeLimits.betterSignal
        }
        return best(of: found).map { .relay($0.id) }
    }

    /// The relay behind which this node makes room at its parent: near, and with more hops, so that the slot that
    /// becomes free is nearer to the host.
    func aside(of parent: Peer.ID?, hops: Int, to host: Peer.ID, now: MeshInstant) -> HeardNode? {
        let found = candidates(to: host, now: now).filter { relay in
            relay.relay != parent.map { Identity.head(of: $0) } && relay.hops > hops && Self.isNear(relay.rssi)
        }
        return best(of: found)
    }

    /// Whether the relay is as good a route as the host itself with this signal: the host is faint, and the relay is
    /// not.
    func isAsGood(_ relay: HeardNode, as rssi: Int?) -> Bool {
        Self.cost(hops: relay.hops, rssi: relay.rssi) <= Self.cost(hops: 0, rssi: rssi)
    }

    /// Whether a link with this signal loses few packets. An unknown signal counts as near.
    static func isNear(_ rssi: Int?) -> Bool { rssi ?? 0 >= NodeLimits.nearSignal }

    /// Whether a node's last slots are for relays, and this node does not relay.
    private func isForOthers(_ node: HeardNode) -> Bool { node.placesForRelays && !relays }

    /// The relays to a host that may be dialled.
    private func candidates(to host: Peer.ID, now: MeshInstant) -> [HeardNode] {
        heardRelays.values.lazy.filter { entry in
            leads(entry.node, to: host) && entry.node.isUnderstood && entry.node.hasRoom
                && !isLeftAlone(entry.node.id, now: now) && now - entry.at < NodeLimits.freshWay
        }.map(\.node)
    }

    private func best(of relays: [HeardNode]) -> HeardNode? {
        relays.map { (rank: rank($0), node: $0) }.min { $0.rank < $1.rank }?.node
    }

    /// Relays with slots for this node first, then fewer hops (`cost`), then the signal in steps of 10 dB. Equal relays
    /// are ordered by a hash: a node always chooses the same one and does not alternate, and a crowd spreads over all
    /// of them.
    private func rank(_ relay: HeardNode) -> (Int, Int, Int, UInt64) {
        (
            isForOthers(relay) ? 1 : 0, Self.cost(hops: relay.hops, rssi: relay.rssi), -((relay.rssi ?? -100) / 10),
            Self.hash(local, relay.id)
        )
    }

    /// The length of a route in hops. A faint link repeats its packets and takes the time of one more hop.
    private static func cost(hops: Int, rssi: Int?) -> Int { hops + (isNear(rssi) ? 0 : 1) }

    /// FNV-1a: looks random, and is always the same for two identifiers.
    private static func hash(_ one: Peer.ID, _ other: Peer.ID) -> UInt64 {
        let start = one.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return other.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
