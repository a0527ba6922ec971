// SPDX-License-Identifier: Apache-2.0

/// The stages of a guest on its route to its host, in order.
public enum FieldStage: Int, CaseIterable, Hashable, Sendable {
    /// The guest receives an advertisement of the host or a relay.
    case heard
    /// The guest dials the host or a relay.
    case dialled
    /// A channel to the dialled node is open.
    case linked
    /// The guest has requested a circuit. A guest that has dialled the host itself needs no circuit.
    case circuit
    /// The guest's handshake with the host is done.
    case connected
    /// The guest shows a state of the host.
    case shown
    /// The guest shows the host's current state.
    case current
    /// The guest advertises as a relay.
    case relays
}

/// How a field connects: the numbers at each time, and how long each level of the tree needed for each stage.
public struct FieldTimeline: Hashable, Sendable {
    /// A point in time.
    public struct Moment: Hashable, Sendable {
        /// Time since the first start.
        public var at: Duration
        /// The host's revision.
        public var revision: UInt64
        /// Guests that are connected.
        public var connected = 0
        /// Connected guests that show a state of the host.
        public var shown = 0
        /// Connected guests that show the host's current state.
        public var current = 0
        /// Median number of revisions that the shown states are behind.
        public var behind = 0
        /// Guests at each number of hops from 1.
        public var levels: [Level] = []
        /// Kilobytes that all nodes have sent since the last moment.
        public var kilobytes = 0
        /// Kilobytes that the host has sent.
        public var hostKilobytes = 0
        /// Failed dials since then.
        public var dialsFailed = 0
        /// Links that opened since then.
        public var linksMade = 0
    }

    /// Guests at one number of hops.
    public struct Level: Hashable, Sendable {
        /// Number of guests.
        public var guests = 0
        /// Guests that relay.
        public var relays = 0
        /// Guests that show the host's current state.
        public var current = 0
    }

    /// Median time that guests at one number of hops needed for each stage, since the first start.
    public struct Path: Hashable, Sendable {
        /// Links to the host at the end.
        public var hops: Int
        /// Number of guests.
        public var guests: Int
        /// Stages that none of them has reached are missing.
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
    /// A node has reached a stage. Only the first time counts.
    mutating func reaches(_ stage: FieldStage, _ node: Int) {
        if nodes[node].stages[stage.rawValue] == nil { nodes[node].stages[stage.rawValue] = now }
    }

    /// The current numbers, for a field with one host.
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

    /// How long each level needed for each stage.
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
