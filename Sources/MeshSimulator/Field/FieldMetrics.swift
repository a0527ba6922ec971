// SPDX-License-Identifier: Apache-2.0

/// What was measured in a field.
public struct FieldMetrics: Hashable, Sendable {
    /// Guests at one distance from their host.
    public struct Distance: Hashable, Sendable {
        /// Links to the host.
        public var hops: Int
        /// How many stand there.
        public var nodes: Int
        /// From a tap until the host has counted the vote, median.
        public var counted: Duration?
        /// From a tap until the person is told so, median.
        public var confirmed: Duration?
    }

    /// All nodes.
    public var nodes = 0
    /// Those that host nothing.
    public var guests = 0
    /// Guests that relay.
    public var relays = 0
    /// Guests that no chain of relays reaches, however it is made.
    public var cutOff = 0
    /// Guests that joined, of all who are not cut off.
    public var joined = 0
    /// From the first start until the last of them had joined; nil where not all did.
    public var joinTime: Duration?
    /// The same for half of them.
    public var joinMedian: Duration?
    /// By how far guests stand from their host.
    public var distances: [Distance] = []
    /// Votes that were given.
    public var votes = 0
    /// Votes of those that the host has counted.
    public var counted = 0
    /// From a tap until everybody shows the vote, median.
    public var seenByAll: Duration?
    /// Bytes of SDUs for a vote and link, without those that are sent when nobody says anything.
    public var bytesPerVote = 0.0
    /// Bytes of SDUs for a link and second when nobody says anything.
    public var idleBytes = 0.0
    /// Nodes that went at once.
    public var gone = 0
    /// Guests that lost their way to the host by that.
    public var orphans = 0
    /// From then until everybody left was connected and current, the cut off ones excepted; nil where somebody was not.
    public var repairTime: Duration?
    /// The same for half of those who had lost their way.
    public var repairMedian: Duration?
    /// Of an hour: how much of the time guests had a way to their host and its state, on average, in a hundred.
    public var connected: Double?
    /// Of an hour: how often a guest was disconnected, on average.
    public var losses: Double?
    /// Time in the field.
    public var simulated: Duration = .zero
    /// Steps of the simulation.
    public var events = 0
    /// SDUs on all links.
    public var sdus = 0
    /// A hash of the run.
    public var hash: UInt64 = 0
    /// How it came together, and after a loss again; empty where it was not asked for.
    public var timeline = FieldTimeline()
    /// What must not have been so. The first few, and how many.
    public var violations: [String] = []
    /// How many.
    public var violationCount = 0

    /// Links from a guest to its host: the middle one.
    public var hopsMedian: Int? {
        distances.flatMap { Array(repeating: $0.hops, count: $0.nodes) }.median
    }
    /// Links from a guest to its host: the most.
    public var hopsMost: Int? { distances.last?.hops }
}

extension Array where Element: Comparable {
    /// The middle one.
    var median: Element? { isEmpty ? nil : sorted()[count / 2] }
}
