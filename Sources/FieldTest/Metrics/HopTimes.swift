// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// For how long the links of a drive led over how many relays, and over which.
public struct HopTimes: Hashable, Sendable {
    /// A time in which a link's way stayed the same, in seconds since the drive began.
    public struct Stretch: Codable, Hashable, Sendable {
        /// Who was at the link's other end.
        public var peer: Peer.ID
        /// When it began.
        public var start: Double
        /// When it ended.
        public var end: Double
        /// Relays in between.
        public var hops: Int
        /// The relay that the guest of the two was joined through, by its identifier or the head of it.
        public var via: Peer.ID?
    }

    private struct Open: Hashable, Sendable {
        var stretch: Stretch
        /// Its way was told since it began.
        var isKnown = false
    }

    /// The stretches, in the order in which they ended.
    public private(set) var stretches: [Stretch] = []
    /// Links that are up, by the head of who is at the other end.
    private var open: [Peer.ID: Open] = [:]

    init() {}

    /// A link is up.
    mutating func resumed(_ peer: Peer.ID, at: Double) {
        close(peer, at: at)
        open[Identity.head(of: peer)] = Open(stretch: Stretch(peer: peer, start: at, end: at, hops: 0))
    }

    /// What a link has told. One of a link that is not up says nothing.
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

    /// A link is lost, and nothing came over it from this time on.
    mutating func lost(_ peer: Peer.ID, at: Double) { close(peer, at: at) }

    /// The drive is over.
    mutating func finish(at: Double) { for head in open.keys.sorted() { close(head, at: at) } }

    private mutating func close(_ peer: Peer.ID, at: Double) {
        // Of one that was up for less than its first report nobody knows how it led.
        guard var link = open.removeValue(forKey: Identity.head(of: peer)), link.isKnown else { return }
        link.stretch.end = max(at, link.stretch.start)
        stretches.append(link.stretch)
    }

    /// Whether a link led over a relay at any time.
    public var hasRelays: Bool { stretches.contains { $0.hops > 0 } }

    /// All links together, in seconds.
    public var linked: Double { stretches.reduce(0) { $0 + ($1.end - $1.start) } }

    /// For how long links led over so many relays, the fewest first.
    public var byHops: [(hops: Int, seconds: Double)] {
        Self.sums(stretches) { $0.hops }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// For how long guests were joined through which relay, the one that served longest first.
    public var byRelay: [(relay: Peer.ID, seconds: Double)] {
        let relayed = stretches.filter { $0.via != nil }
        return Self.sums(relayed) { Identity.head(of: $0.via ?? "") }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    private static func sums<Key: Hashable>(_ stretches: [Stretch], by key: (Stretch) -> Key) -> [Key: Double] {
        stretches.reduce(into: [:]) { $0[key($1), default: 0] += $1.end - $1.start }
    }
}
