// SPDX-License-Identifier: Apache-2.0

/// Gives each accepted link of an adapter connection intervals that no other link has, so that two links do not collide
/// for long. If the intervals are equal, or one is a multiple of the other, events that once overlap keep overlapping
/// until the two clocks have drifted apart. With intervals *a* and *b*, at most one in *a* / gcd(*a*, *b*) events of
/// the second link overlaps an event of the first.
///
/// A link gets the lowest free slot when it comes up, and the intervals of that slot. Up to
/// `Limits.fewIntervals` links each have a short interval while data flows and a longer one when idle. With more
/// links, short intervals would leave no gap to send in, so each has one interval for both. `docs/radio-lab.md` shows
/// an hour of measurements.
///
/// A relay also has a link that it has dialled, to its parent, and the parent advises the intervals of that link. So
/// the relay's own plan avoids these intervals.
package struct IntervalPlan: Sendable {
    private struct Link: Sendable {
        var place: Int
        /// If a peer dials again, its older channel may still be open.
        var channels = 1
    }

    /// A link that this side has dialled.
    private struct Dialled: Sendable {
        var intervals: LinkIntervals?
        var channels = 1
    }

    /// The links. The key is the controller's handle of the link.
    private var links: [UInt16: Link] = [:]
    private var dialled: [UInt16: Dialled] = [:]

    /// A plan without links.
    package init() {}

    /// A channel has opened on an accepted link.
    package mutating func opened(_ handle: UInt16) {
        guard links[handle] == nil else {
            links[handle]?.channels += 1
            return
        }
        let taken = Set(links.values.map(\.place))
        var place = 0
        while taken.contains(place) { place += 1 }
        links[handle] = Link(place: place)
    }

    /// A channel on an accepted link has closed.
    package mutating func closed(_ handle: UInt16) {
        guard let channels = links[handle]?.channels else { return }
        if channels > 1 { links[handle]?.channels -= 1 } else { links[handle] = nil }
    }

    /// A channel has opened on a link that this side has dialled. Other links avoid its intervals, if they are known.
    package mutating func dialled(_ handle: UInt16, intervals: LinkIntervals?) {
        dialled[handle] = Dialled(
            intervals: intervals ?? dialled[handle]?.intervals, channels: (dialled[handle]?.channels ?? 0) + 1)
    }

    /// The other side of a dialled link advises its intervals.
    package mutating func advised(_ handle: UInt16, _ intervals: LinkIntervals) {
        dialled[handle]?.intervals = intervals
    }

    /// A channel on a link that this side has dialled has closed.
    package mutating func hungUp(_ handle: UInt16) {
        guard let channels = dialled[handle]?.channels else { return }
        if channels > 1 { dialled[handle]?.channels -= 1 } else { dialled[handle] = nil }
    }

    /// The intervals for an accepted link. Nil for a link without a slot.
    package func intervals(of handle: UInt16) -> LinkIntervals? {
        guard let place = links[handle]?.place else { return nil }
        if links.count + dialled.count == 1 { return Limits.aloneIntervals }
        let few = Limits.fewIntervals.count - dialled.count
        let table = links.values.allSatisfy { $0.place < few } ? Limits.fewIntervals : Limits.manyIntervals
        let rows = spared(table)
        return rows[place % rows.count]
    }

    /// A table in which the intervals that conflict with a dialled link come last. The larger the conflict, the later.
    private func spared(_ table: [LinkIntervals]) -> [LinkIntervals] {
        let taken = dialled.values.compactMap(\.intervals)
        guard !taken.isEmpty else { return table }
        let conflicts = table.map { row in taken.map { row.conflict(with: $0) }.max() ?? .none }
        return LinkIntervals.Conflict.allCases.flatMap { wanted in
            zip(table, conflicts).filter { $0.1 == wanted }.map(\.0)
        }
    }

    /// Random intervals, for a link to a host that advises none.
    package static func chance(_ number: Int) -> LinkIntervals {
        Limits.manyIntervals[number % Limits.manyIntervals.count]
    }
}

extension LinkIntervals {
    /// How much two links collide.
    package enum Conflict: Comparable, CaseIterable {
        /// At most every second event of one overlaps an event of the other, while their clocks stand so.
        case none
        /// All or almost all events of one overlap events of the other, since its interval is a multiple of the
        /// other's.
        case overlap
        /// The events of both always overlap, since the intervals are equal.
        case equal
    }

    /// How much links with these two pairs of intervals collide, each at its brisk or its calm one.
    package func conflict(with other: Self) -> Conflict {
        let pairs = [(brisk, other.brisk), (brisk, other.calm), (calm, other.brisk), (calm, other.calm)]
        return pairs.map { one, two in
            one == two ? .equal : Self.divisor(one, two) * 2 > min(one, two) ? .overlap : .none
        }.max() ?? .none
    }

    private static func divisor(_ one: Int, _ two: Int) -> Int { two == 0 ? one : divisor(two, one % two) }
}
