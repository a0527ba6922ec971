// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A relay's advertisement, as it was heard.
public struct RelayScanResult: Hashable, Sendable {
    /// Who is dialled; its identifier is a head.
    public var relay: Peer
    /// Where circuits through it lead; its identifier is a head.
    public var host: Peer
    /// Links from the relay to the host, 1 or more.
    public var hops: Int
    /// Signal strength in dBm, where the radio knows it.
    public var rssi: Int?
    /// It takes another node.
    public var hasRoom: Bool
    /// Its last places are for nodes that relay.
    public var placesForRelays: Bool
    /// Whether this node speaks its version and knows what it asks for.
    public var isUnderstood: Bool
    /// It says that the host asks for a PIN.
    public var asksForPIN: Bool

    /// A relay that was heard.
    public init(
        _ relay: Peer, host: Peer, hops: Int, rssi: Int? = nil, hasRoom: Bool = true, placesForRelays: Bool = false,
        isUnderstood: Bool = true, asksForPIN: Bool = false
    ) {
        self.relay = relay
        self.host = host
        self.hops = hops
        self.rssi = rssi
        self.hasRoom = hasRoom
        self.placesForRelays = placesForRelays
        self.isUnderstood = isUnderstood
        self.asksForPIN = asksForPIN
    }
}

/// Which relays were heard, and which of them is the way to a host: fewer hops before a better signal, and who has failed is
/// left alone for a while.
struct Ways: Sendable {
    private struct Relay: Sendable {
        var heard: RelayScanResult
        var at: MeshInstant
    }

    /// A relay that is left alone.
    private struct Failure: Sendable {
        var count = 0
        var last = MeshInstant.zero
        var until = MeshInstant.zero
    }

    /// A host that is heard through relays alone, and is not steered to yet.
    private struct Settling: Sendable {
        /// When it is.
        var until: MeshInstant
        /// People know of it: nothing leads there at present but relays that are left alone.
        var isTold = false
    }

    /// What is to be done about a relay that was heard.
    enum Answer: Hashable, Sendable {
        /// Its host may be joined through it, and people are told.
        case steer
        /// People are told.
        case tell
        /// Its host is new, and may be heard itself in a moment.
        case wait
    }

    /// Who chooses, and whether that takes others along.
    private let local: Peer.ID
    private let takesOthers: Bool
    /// By the head of the relay. The radio's own table bounds it.
    private var relays: [Peer.ID: Relay] = [:]
    /// Relays have been heard since this node has started: there may be some where none is heard at present.
    private(set) var hasHeardRelays = false
    private var failures: [Peer.ID: Failure] = [:]
    /// Hosts that were heard through relays alone, by their heads: a relay with fewer hops may follow.
    private var settling: [Peer.ID: Settling] = [:]

    init(local: Peer.ID, takesOthers: Bool = false) { (self.local, self.takesOthers) = (local, takesOthers) }

    /// When `tick` is due.
    var deadline: MeshInstant? { settling.isEmpty ? nil : settling.values.lazy.map(\.until).min() }

    // MARK: What is heard

    /// A relay was heard.
    mutating func heard(_ relay: RelayScanResult, now: MeshInstant) -> Answer {
        let host = Identity.head(of: relay.host.id)
        let isKnown = relays.values.contains { Identity.head(of: $0.heard.host.id) == host }
        relays[relay.relay.id] = Relay(heard: relay, at: now)
        hasHeardRelays = true
        if let settling = settling[host] { return settling.isTold ? .tell : .wait }
        guard !isKnown else { return .steer }
        settling[host] = Settling(until: now + NodeLimits.settlingWays)
        return .wait
    }

    /// The host itself was heard: nothing is better.
    mutating func heardHost(_ head: Peer.ID) { settling[head] = nil }

    /// A relay is not heard any more.
    mutating func unheard(_ relay: Peer.ID) {
        guard let host = relays.removeValue(forKey: relay)?.heard.host.id, !hasRelay(to: host) else { return }
        settling[Identity.head(of: host)] = nil
    }

    /// Who was dialled and has not answered has to be heard again: a controller without room for a link is not heard.
    mutating func unanswered(_ relay: Peer.ID, now: MeshInstant) {
        relays[Identity.head(of: relay)] = nil
        failed(relay, now: now)
    }

    /// The host that a relay advertises, as far as it says which.
    func host(behind relay: Peer.ID) -> Peer.ID? { relays[Identity.head(of: relay)]?.heard.host.id }

    /// Whether a relay takes another node, as far as it says.
    func hasRoom(_ relay: Peer.ID) -> Bool { relays[Identity.head(of: relay)]?.heard.hasRoom != false }

    /// Whether a relay leads to a host.
    private func hasRelay(to host: Peer.ID) -> Bool { relays.values.contains { leads($0.heard, to: host) } }

    /// A scan begins: what was heard before may be somewhere else now.
    mutating func forgetHeard() {
        relays = [:]
        settling = [:]
    }

    /// Time has passed. The heads of the hosts that may be joined now through the best relay.
    mutating func tick(now: MeshInstant) -> [Peer.ID] {
        let due = settling.filter { $0.value.until <= now }.keys.sorted()
        for host in due { settling[host] = nil }
        return due
    }

    /// All relays that lead to a host, the best first.
    func all(to host: Peer.ID) -> [RelayScanResult] {
        relays.values.filter { leads($0.heard, to: host) }.map { (rank: rank($0), heard: $0.heard) }
            .sorted { $0.rank < $1.rank }.map(\.heard)
    }

    // MARK: What is chosen

    /// The relay that is the best way to a host, with fewer hops to it than `below`; nil where there is none.
    func best(to host: Peer.ID, below: Int?, except other: Peer.ID? = nil, now: MeshInstant) -> RelayScanResult? {
        first(candidates(to: host, now: now).filter { $0.heard.hops < below ?? .max && $0.heard.relay.id != other })
    }

    /// The relay that is worth leaving another for: it is near and saves so many hops, or has no more and is heard much better than one
    /// that is faint. Nil where there is none.
    func better(than parent: CircuitTable.Relay, to host: Peer.ID, saving: Int, now: MeshInstant) -> RelayScanResult? {
        guard let route = parent.route else { return nil }
        let (hops, signal) = (Int(route.hops), parent.rssi ?? 0)
        let found = candidates(to: host, now: now).filter { relay in
            guard !isForOthers(relay) else { return false }
            if relay.heard.hops <= hops - saving { return Self.isNear(relay.heard.rssi) }
            return relay.heard.hops <= hops && relay.heard.relay.id != Identity.head(of: parent.peer.id)
                && !Self.isNear(signal) && relay.heard.rssi ?? 0 >= signal + NodeLimits.betterSignal
        }
        return first(found)
    }

    /// The relay behind which this node makes room where it hangs on another one: near, and rather one whose last places are for
    /// anybody. The place that it leaves is nearer to the host than the one that it takes. Nil where there is none.
    func aside(of parent: Peer.ID?, hops: Int, to host: Peer.ID, now: MeshInstant) -> RelayScanResult? {
        let found = candidates(to: host, now: now).filter { relay in
            relay.heard.relay.id != parent.map { Identity.head(of: $0) } && relay.heard.hops > hops
                && Self.isNear(relay.heard.rssi)
        }
        return first(found)
    }

    /// Whether what a relay has left is for nodes that relay, and this one does not.
    private func isForOthers(_ relay: Relay) -> Bool { relay.heard.placesForRelays && !takesOthers }

    /// The relays that may be dialled on the way to a host.
    private func candidates(to host: Peer.ID, now: MeshInstant) -> [Relay] {
        relays.values.filter { relay in
            leads(relay.heard, to: host) && relay.heard.isUnderstood && relay.heard.hasRoom
                && !isLeftAlone(relay.heard.relay.id, now: now) && now - relay.at < NodeLimits.freshWay
        }
    }

    /// The best of some. Each rank is made once.
    private func first(_ some: [Relay]) -> RelayScanResult? {
        some.map { (rank: rank($0), heard: $0.heard) }.min { $0.rank < $1.rank }?.heard
    }

    /// What has places for this node goes before what keeps them for relays, then fewer hops (`worth`), then the signal by steps of 10 dB. Of
    /// two of the same worth always the same one, so that nobody goes to and fro between them; and not the same one for everybody,
    /// since a relay has room for a few, and a crowd comes at once.
    private func rank(_ relay: Relay) -> (Int, Int, Int, UInt64) {
        (
            isForOthers(relay) ? 1 : 0, Self.worth(hops: relay.heard.hops, rssi: relay.heard.rssi),
            -((relay.heard.rssi ?? -100) / 10), Self.mixed(local, relay.heard.relay.id)
        )
    }

    /// How far away what is heard leads, in hops: what is sent again and again over a faint link takes the time of one more, from
    /// everybody behind it.
    private static func worth(hops: Int, rssi: Int?) -> Int { hops + (isNear(rssi) ? 0 : 1) }

    /// Whether little of what is sent over a link of this signal is lost. What a radio knows nothing of counts as near.
    static func isNear(_ rssi: Int?) -> Bool { rssi ?? 0 >= NodeLimits.nearSignal }

    /// Whether a relay is as good a way as its host itself, which is heard with this signal: the host is faint, and it is not.
    func isAsGood(_ relay: RelayScanResult, as rssi: Int?) -> Bool {
        Self.worth(hops: relay.hops, rssi: relay.rssi) <= Self.worth(hops: 0, rssi: rssi)
    }

    /// A number that looks random, and is always the same for two identifiers (FNV-1a).
    private static func mixed(_ one: Peer.ID, _ other: Peer.ID) -> UInt64 {
        let start = one.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return other.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private func leads(_ relay: RelayScanResult, to host: Peer.ID) -> Bool {
        Identity.mayBeSame(host, relay.host.id)
    }

    /// Whether circuits through a relay led to nothing a short while ago.
    func isLeftAlone(_ relay: Peer.ID, now: MeshInstant) -> Bool {
        pauseEnd(of: Identity.head(of: relay)).map { now < $0 } == true
    }

    /// When the relay with this head is not left alone any more; nil where it has not failed.
    private func pauseEnd(of relay: Peer.ID) -> MeshInstant? {
        failures[relay].map { failure in
            isOnlyWay(relay) ? min(failure.until, failure.last + NodeLimits.onlyRelayPause) : failure.until
        }
    }

    /// Whether a relay is heard, and no other one that leads where it does.
    private func isOnlyWay(_ relay: Peer.ID) -> Bool {
        guard let host = relays[relay]?.heard.host.id else { return false }
        return relays.values.count { leads($0.heard, to: host) } == 1
    }

    /// Nothing leads to a host at present but relays that are left alone: it is told of again when the first of these is not any
    /// more.
    mutating func askAgain(for host: Peer.ID, now: MeshInstant) {
        let ends = relays.values.filter { leads($0.heard, to: host) }.compactMap { relay in
            pauseEnd(of: relay.heard.relay.id)
        }.filter { $0 > now }
        guard let end = ends.min() else { return }
        settling[Identity.head(of: host)] = Settling(until: end, isTold: true)
    }

    /// A relay has no way at present: others go before it for a moment.
    mutating func leadsNowhere(_ relay: Peer.ID, now: MeshInstant) {
        let head = Identity.head(of: relay)
        var failure = failures[head] ?? Failure()
        failure.until = max(failure.until, now + NodeLimits.failedRelayPause / 2)
        remember(failure, of: head, now: now)
    }

    /// Circuits through a relay have led to nothing: it is left alone, longer each time. What was long ago says nothing.
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
