// SPDX-License-Identifier: Apache-2.0

/// The measurements of a field.
public struct FieldMetrics: Hashable, Sendable {
    /// Guests at one distance from their host.
    public struct Distance: Hashable, Sendable {
        /// Links to the host.
        public var hops: Int
        /// Number of guests.
        public var nodes: Int
        /// Median time from a tap until the host has counted the vote.
        public var counted: Duration?
        /// Median time from a tap until the person sees the result.
        public var confirmed: Duration?
    }

    /// All nodes.
    public var nodes = 0
    /// Nodes that are not hosts.
    public var guests = 0
    /// Guests that relay.
    public var relays = 0
    /// Guests that no chain of relays can reach.
    public var cutOff = 0
    /// Guests that joined, of those that are not cut off.
    public var joined = 0
    /// Time from the first start until the last guest had joined. Nil if not all guests joined.
    public var joinTime: Duration?
    /// Time from the first start until half of these guests had joined.
    public var joinMedian: Duration?
    /// The results by the guests' distance from their host.
    public var distances: [Distance] = []
    /// Votes that were cast.
    public var votes = 0
    /// Cast votes that the host has counted.
    public var counted = 0
    /// Median time from a tap until all screens show the vote.
    public var seenByAll: Duration?
    /// Bytes of SDUs per vote and link, without the traffic of idle links.
    public var bytesPerVote = 0.0
    /// Bytes of SDUs per idle link and second.
    public var idleBytes = 0.0
    /// Nodes that were killed at once.
    public var gone = 0
    /// Guests that lost their route to the host because of these nodes.
    public var orphans = 0
    /// Time from the loss until all remaining guests that are not cut off were connected and current. Nil if one was
    /// not.
    public var repairTime: Duration?
    /// Time from the loss until half of the orphans were connected and current.
    public var repairMedian: Duration?
    /// In a run of an hour: the average percentage of time in which guests had a route to their host and its state.
    public var connected: Double?
    /// In a run of an hour: average number of times that a guest was disconnected.
    public var losses: Double?
    /// Time in the field.
    public var simulated: Duration = .zero
    /// Steps of the simulation.
    public var events = 0
    /// SDUs on all links.
    public var sdus = 0
    /// A hash of the run.
    public var hash: UInt64 = 0
    /// How the field connected at the start and after losses, as lines of text. Empty if it was not requested.
    public var timeline: [String] = []
    /// The first few violations.
    public var violations: [String] = []
    /// Number of violations.
    public var violationCount = 0

    /// Median number of links from a guest to its host.
    public var hopsMedian: Int? {
        distances.flatMap { Array(repeating: $0.hops, count: $0.nodes) }.median
    }
    /// Largest number of links from a guest to its host.
    public var hopsMost: Int? { distances.last?.hops }
}

extension Array where Element: Comparable {
    /// The middle element.
    var median: Element? { isEmpty ? nil : sorted()[count / 2] }
}
