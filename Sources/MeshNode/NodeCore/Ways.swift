// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Which relays were heard, and which of them is the way to a host: fewer hops before a better signal, and who has failed is
/// left alone for a while.
struct Ways: Sendable {
    private struct Relay: Sendable {
        var heard: HeardNode
        var at: MeshInstant
    }

    /// A failed relay, which is avoided for some time.
    private struct Failure: Sendable {
        var count = 0
        var last = MeshInstant.zero
        var until = MeshInstant.zero
    }

    /// A host that was heard only through relays and is not offered to the policy yet.
    private struct Settling: Sendable {
        /// When it is offered.
        var until: MeshInstant
        /// The person has already seen this host. At present all relays to it are avoided.
        var isTold = false
    }

    /// How to handle a relay that was heard.
    enum Answer: Hashable, Sendable {
        /// Its host may be joined through it. Show it.
        case steer
        /// Show it.
        case tell
        /// Its host is new and may soon be heard directly.
        case wait
    }

    /// This node's identifier, and whether it is a relay.
    private let local: Peer.ID
    private let takesOthers: Bool
    /// The relays that were heard, by head. The radio's table bounds the number.
    private var relays: [Peer.ID: Relay] = [:]
    /// Whether any relay was heard since the node started. There may be relays even if none is heard at present.
    private(set) var hasHeardRelays = false
    private var failures: [Peer.ID: Failure] = [:]
    /// Hosts that were heard only through relays, by head. A relay with fewer hops may follow.
    private var settling: [Peer.ID: Settling] = [:]

    init(local: Peer.ID, takesOthers: Bool = false) { (self.local, self.takesOthers) = (local, takesOthers) }

    var deadline: MeshInstant? { settling.isEmpty ? nil : settling.values.lazy.map(\.until).min() }

    // MARK: What is heard

    /// A relay was heard.
    mutating func heard(_ relay: HeardNode, now: MeshInstant) -> Answer {
        let host = Identity.head(of: relay.host.id)
        let isKnown = relays.values.contains { Identity.head(of: $0.heard.host.id) == host }
        relays[relay.id] = Relay(heard: relay, at: now)
        hasHeardRelays = true
        if let settling = settling[host] { return settling.isTold ? .tell : .wait }
        guard !isKnown else { return .steer }
        settling[host] = Settling(until: now + NodeLimits.settlingWays)
        return .wait
    }

    /// The host was heard directly, which is the best route.
    mutating func heardHost(_ head: Peer.ID) { settling[head] = nil }

    mutating func unheard(_ relay: Peer.ID) {
        guard let host = relays.removeValue(forKey: relay)?.heard.host.id, !hasRelay(to: host) else { return }
        settling[Identity.head(of: host)] = nil
    }

    /// A peer that has not answered a dial must be heard again. A controller without a free slot does not advertise.
    mutating func unanswered(_ relay: Peer.ID, now: MeshInstant) {
        relays[Identity.head(of: relay)] = nil
        failed(relay, now: now)
    }

    /// The host that a relay advertises, as far as its advertisement names it.
    func host(behind relay: Peer.ID) -> Peer.ID? { relays[Identity.head(of: relay)]?.heard.host.id }

    /// Whether a relay accepts another node, as far as its advertisement says.
    func hasRoom(_ relay: Peer.ID) -> Bool { relays[Identity.head(of: relay)]?.heard.hasRoom != false }

    /// Whether there is a known relay to a host.
    private func hasRelay(to host: Peer.ID) -> Bool { relays.values.contains { leads($0.heard, to: host) } }

    /// A scan begins. Relays that were heard before may be somewhere else now.
    mutating func forgetHeard() {
        relays = [:]
        settling = [:]
    }

    /// Returns the heads of the hosts that may now be joined through their best relay.
    mutating func tick(now: MeshInstant) -> [Peer.ID] {
        let due = settling.filter { $0.value.until <= now }.keys.sorted()
        for host in due { settling[host] = nil }
        return due
    }

    /// All relays that lead to a host, the best first.
    func all(to host: Peer.ID) -> [HeardNode] {
        relays.values.filter { leads($0.heard, to: host) }.map { (rank: rank($0), heard: $0.heard) }
            .sorted { $0.rank < $1.rank }.map(\.heard)
    }

    // MARK: What is chosen

    /// The relay that is the best way to a host, with fewer hops to it than `below`; nil where there is none.
    func best(to host: Peer.ID, below: Int?, except other: Peer.ID? = nil, now: MeshInstant) -> HeardNode? {
        first(candidates(to: host, now: now).filter { $0.heard.hops < below ?? .max && $0.heard.id != other })
    }

    /// The relay that is worth leaving another for: it is near and saves so many hops, or has no more and is heard much better than one
    /// that is faint. Nil where there is none.
    func better(than parent: CircuitTable.Relay, to host: Peer.ID, saving: Int, now: MeshInstant) -> HeardNode? {
        guard let route = parent.route else { return nil }
        let (hops, signal) = (Int(route.hops), parent.rssi ?? 0)
        let found = candidates(to: host, now: now).filter { relay in
            guard !isForOthers(relay) else { return false }
            if relay.heard.hops <= hops - saving { return Self.isNear(relay.heard.rssi) }
            return relay.heard.hops <= hops && relay.heard.id != Identity.head(of: parent.peer.id)
                && !Self.isNear(signal) && relay.heard.rssi ?? 0 >= signal + NodeLimits.betterSignal
        }
        return first(found)
    }

    /// The relay behind which this node makes room where it hangs on another one: near, and rather one whose last places are for
    /// anybody. The place that it leaves is nearer to the host than the one that it takes. Nil where there is none.
    func aside(of parent: Peer.ID?, hops: Int, to host: Peer.ID, now: MeshInstant) -> HeardNode? {
        let found = candidates(to: host, now: now).filter { relay in
            relay.heard.id != parent.map { Identity.head(of: $0) } && relay.heard.hops > hops
                && Self.isNear(relay.heard.rssi)
        }
        return first(found)
    }

    /// Whether a relay's last slots are reserved and this node is not a relay.
    private func isForOthers(_ relay: Relay) -> Bool { relay.heard.placesForRelays && !takesOthers }

    /// The relays to a host that may be dialled.
    private func candidates(to host: Peer.ID, now: MeshInstant) -> [Relay] {
        relays.values.filter { relay in
            leads(relay.heard, to: host) && relay.heard.isUnderstood && relay.heard.hasRoom
                && !isLeftAlone(relay.heard.id, now: now) && now - relay.at < NodeLimits.freshWay
        }
    }

    /// The best of some. Each rank is made once.
    private func first(_ some: [Relay]) -> HeardNode? {
        some.map { (rank: rank($0), heard: $0.heard) }.min { $0.rank < $1.rank }?.heard
    }

    /// Ranks relays. A relay with a slot for this node comes before one that reserves its slots, then fewer hops
    /// (`worth`), then a stronger signal in steps of 10 dB.
    ///
    /// Between equal relays a node always chooses the same one, so that it does not switch back and forth. Different
    /// nodes choose different ones, because a relay has room for a few nodes and a crowd arrives at once.
    private func rank(_ relay: Relay) -> (Int, Int, Int, UInt64) {
        (
            isForOthers(relay) ? 1 : 0, Self.worth(hops: relay.heard.hops, rssi: relay.heard.rssi),
            -((relay.heard.rssi ?? -100) / 10), Self.mixed(local, relay.heard.id)
        )
    }

    /// The cost of a relay in hops. A faint link counts as one more hop, because its retransmissions take time from all
    /// nodes behind it.
    private static func worth(hops: Int, rssi: Int?) -> Int { hops + (isNear(rssi) ? 0 : 1) }

    /// Whether little is lost at this signal strength. An unknown signal counts as near.
    static func isNear(_ rssi: Int?) -> Bool { rssi ?? 0 >= NodeLimits.nearSignal }

    /// Whether a relay is as good a way as its host itself, which is heard with this signal: the host is faint, and it is not.
    func isAsGood(_ relay: HeardNode, as rssi: Int?) -> Bool {
        Self.worth(hops: relay.hops, rssi: relay.rssi) <= Self.worth(hops: 0, rssi: rssi)
    }

    /// A hash of two identifiers that looks random (FNV-1a).
    private static func mixed(_ one: Peer.ID, _ other: Peer.ID) -> UInt64 {
        let start = one.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return other.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private func leads(_ relay: HeardNode, to host: Peer.ID) -> Bool {
        Identity.mayBeSame(host, relay.host.id)
    }

    /// Whether circuits through a relay have failed recently.
    func isLeftAlone(_ relay: Peer.ID, now: MeshInstant) -> Bool {
        pauseEnd(of: Identity.head(of: relay)).map { now < $0 } == true
    }

    /// When a relay may be used again; nil if it has not failed.
    private func pauseEnd(of relay: Peer.ID) -> MeshInstant? {
        failures[relay].map { failure in
            isOnlyWay(relay) ? min(failure.until, failure.last + NodeLimits.onlyRelayPause) : failure.until
        }
    }

    /// Whether this is the only relay to its host.
    private func isOnlyWay(_ relay: Peer.ID) -> Bool {
        guard let host = relays[relay]?.heard.host.id else { return false }
        return relays.values.count { leads($0.heard, to: host) } == 1
    }

    /// All relays to a host are avoided at present. It is shown again when the first of them may be used again.
    mutating func askAgain(for host: Peer.ID, now: MeshInstant) {
        let ends = relays.values.filter { leads($0.heard, to: host) }.compactMap { relay in
            pauseEnd(of: relay.heard.id)
        }.filter { $0 > now }
        guard let end = ends.min() else { return }
        settling[Identity.head(of: host)] = Settling(until: end, isTold: true)
    }

    /// A relay has no route at present, so others are preferred for a short time.
    mutating func leadsNowhere(_ relay: Peer.ID, now: MeshInstant) {
        let head = Identity.head(of: relay)
        var failure = failures[head] ?? Failure()
        failure.until = max(failure.until, now + NodeLimits.failedRelayPause / 2)
        remember(failure, of: head, now: now)
    }

    /// Circuits through a relay have failed. It is avoided, longer each time. Failures long ago do not count.
    mutating func failed(_ relay: Peer.ID, now: MeshInstant) {
        let head = Identity.head(of: relay)
        var failure = failures[head] ?? Failure()
        if now > failure.until + NodeLimits.relayFailureMemory { failure.count = 0 }
        failure.until =
            now + min(NodeLimits.failedRelayPause * (1 << min(failure.count, 6)), NodeLimits.longestRelayPause)
        failure.count += 1
        remember(failure, of: head, now: now)
    }

    private mutating func remember(_ failure: Failure, of head: Peer.ID, now: MeshInstant) {
        if failures.count >= NodeLimits.failedRelays, failures[head] == nil,
            let oldest = failures.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })?.key
        {
            failures[oldest] = nil
        }
        failures[head] = Failure(count: failure.count, last: now, until: failure.until)
    }
}
