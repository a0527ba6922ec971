// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The durations of a drive's links by number of relays and by relay.
public struct HopTimes: Hashable, Sendable {
    /// A time in which a link's route stayed the same, in seconds since the start of the drive.
    public struct Stretch: Codable, Hashable, Sendable {
        /// The peer at the link's other end.
        public var peer: Peer.ID
        /// The start of the stretch.
        public var start: Double
        /// The end of the stretch.
        public var end: Double
        /// Number of relays.
        public var hops: Int
        /// The relay through which the guest has joined, by its identifier or the head of it.
        public var via: Peer.ID?
    }

    private struct Open: Hashable, Sendable {
        var stretch: Stretch
        /// A report has named its route.
        var isKnown = false
    }

    /// The stretches, in the order of their ends.
    public private(set) var stretches: [Stretch] = []
    /// Live links, by the head of the peer.
    private var open: [Peer.ID: Open] = [:]

    init() {}

    /// Records a new link.
    mutating func resumed(_ peer: Peer.ID, at: Double) {
        close(peer, at: at)
        open[Identity.head(of: peer)] = Open(stretch: Stretch(peer: peer, start: at, end: at, hops: 0))
    }

    /// Records a report of a link. Ignores links that are not up.
    mutating func told(_ peer: Peer.ID, _ sample: LinkSample, at: Double) {
        let head = Identity.head(of: peer)
        guard var link = open[head] else { return }
        let way = (sample.hops ?? 0, sample.via)
        if link.isKnown, (link.stretch.hops, link.stretch.via) != way {
            close(peer, at: at)
            link.stretch.start = at
        }
        (link.stretch.hops, link.stretch.via) = way
        link.isKnown = true
        open[head] = link
    }

    /// Records the loss of a link, with the time of its last data.
    mutating func lost(_ peer: Peer.ID, at: Double) { close(peer, at: at) }

    /// Closes all links at the end of the drive.
    mutating func finish(at: Double) { for head in open.keys.sorted() { close(head, at: at) } }

    private mutating func close(_ peer: Peer.ID, at: Double) {
        // Without a report, a link's route is unknown.
        guard var link = open.removeValue(forKey: Identity.head(of: peer)), link.isKnown else { return }
        link.stretch.end = max(at, link.stretch.start)
        stretches.append(link.stretch)
    }

    /// Whether any link went over a relay.
    public var hasRelays: Bool { stretches.contains { $0.hops > 0 } }

    /// The sum of all links, in seconds.
    public var linked: Double { stretches.reduce(0) { $0 + ($1.end - $1.start) } }

    /// Linked time by number of relays, the fewest first.
    public var byHops: [(hops: Int, seconds: Double)] {
        Self.sums(stretches) { $0.hops }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Linked time of guests by relay, the longest first.
    public var byRelay: [(relay: Peer.ID, seconds: Double)] {
        let relayed = stretches.filter { $0.via != nil }
        return Self.sums(relayed) { Identity.head(of: $0.via ?? "") }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    private static func sums<Key: Hashable>(_ stretches: [Stretch], by key: (Stretch) -> Key) -> [Key: Double] {
        stretches.reduce(into: [:]) { $0[key($1), default: 0] += $1.end - $1.start }
    }
}
