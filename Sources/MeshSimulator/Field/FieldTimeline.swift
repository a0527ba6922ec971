// SPDX-License-Identifier: Apache-2.0

/// What a guest of a field gets to on its way to its host, in order.
public enum FieldStage: Int, CaseIterable, Hashable, Sendable {
    /// It hears a way: the host or a relay.
    case heard
    /// It dials somebody.
    case dialled
    /// A channel is open to who was dialled.
    case linked
    /// A circuit is asked for. Who has dialled the host itself needs none.
    case circuit
    /// It is let in: its handshake with the host is done.
    case connected
    /// It shows a state of the host's.
    case shown
    /// It shows what the host shows.
    case current
    /// It advertises as a relay.
    case relays
}

/// How a field comes together: what was reached at which time, and how long each level of the tree took to each stage.
public struct FieldTimeline: Hashable, Sendable {
    /// A moment.
    public struct Moment: Hashable, Sendable {
        /// When, from the first start.
        public var at: Duration
        /// The host's revision.
        public var revision: UInt64
        /// Guests that are let in.
        public var connected = 0
        /// Those of them that show a state of the host's.
        public var shown = 0
        /// Those of them that show what the host shows.
        public var current = 0
        /// How many revisions those that show a state are behind: the middle one.
        public var behind = 0
        /// Guests at each number of hops from 1.
        public var levels: [Level] = []
        /// Kilobytes that all have sent since the moment before.
        public var kilobytes = 0
        /// Those that the host has sent.
        public var hostKilobytes = 0
        /// Dials that came to nothing since then.
        public var dialsFailed = 0
        /// Links that opened since then.
        public var linksMade = 0
    }

    /// Guests at one number of hops.
    public struct Level: Hashable, Sendable {
        /// How many there are.
        public var guests = 0
        /// Those of them that relay.
        public var relays = 0
        /// Those of them that show what the host shows.
        public var current = 0
    }

    /// How long guests at one number of hops took to each stage from the first start: the middle ones.
    public struct Path: Hashable, Sendable {
        /// Links to the host at the end.
        public var hops: Int
        /// How many guests there are.
        public var guests: Int
        /// Nil where none of them has reached it.
        public var stages: [FieldStage: Duration]
    }

    /// From the first start on.
    public var moments: [Moment] = []
    /// By hops.
    public var paths: [Path] = []

    /// Microseconds between two moments.
    static let step = 5_000_000
}

extension Field {
    /// A node has got to a stage. The first time counts.
    mutating func reaches(_ stage: FieldStage, _ node: Int) {
        if nodes[node].stages[stage.rawValue] == nil { nodes[node].stages[stage.rawValue] = now }
    }

    /// How things stand, where there is one host.
    func moment(after last: FieldTally) -> FieldTimeline.Moment {
        var moment = FieldTimeline.Moment(at: .microseconds(now), revision: nodes[0].revision)
        var behind: [Int] = []
        for node in guests where nodes[node].isConnected {
            moment.connected += 1
            if nodes[node].epoch == nodes[0].epoch, nodes[node].revision > 0 {
                moment.shown += 1
                behind.append(Int(nodes[0].revision - nodes[node].revision))
            }
            let isCurrent = isCurrent(node)
            if isCurrent { moment.current += 1 }
            guard let hops = hops(of: node), hops > 0 else { continue }
            while moment.levels.count < hops { moment.levels.append(FieldTimeline.Level()) }
            moment.levels[hops - 1].guests += 1
            if nodes[node].isRelay { moment.levels[hops - 1].relays += 1 }
            if isCurrent { moment.levels[hops - 1].current += 1 }
        }
        moment.behind = behind.median ?? 0
        moment.kilobytes = (tally.bytes - last.bytes) / 1_000
        moment.hostKilobytes = (tally.hostBytes - last.hostBytes) / 1_000
        moment.dialsFailed = tally.dialsFailed + tally.dialsGivenUp - last.dialsFailed - last.dialsGivenUp
        moment.linksMade = tally.linksMade - last.linksMade
        return moment
    }

    /// How long each level took to each stage.
    var paths: [FieldTimeline.Path] {
        Dictionary(grouping: guests) { hops(of: $0) ?? 0 }.sorted { $0.key < $1.key }.map { hops, guests in
            let stages = FieldStage.allCases.compactMap { stage in
                guests.compactMap { nodes[$0].stages[stage.rawValue] }.median.map { (stage, Duration.microseconds($0)) }
            }
            return FieldTimeline.Path(
                hops: hops, guests: guests.count, stages: Dictionary(uniqueKeysWithValues: stages))
        }
    }
}
