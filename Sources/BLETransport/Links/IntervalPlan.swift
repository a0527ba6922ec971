// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Gives each link that others have made with an adapter connection intervals that no other one has, so that two of them do
/// not stand in each other's way for long: events of equal intervals, or of one that is a multiple of the other's, that
/// once overlap do so until the two clocks have drifted apart again. Of intervals *a* and *b* at most one in
/// *a* / gcd(*a*, *b*) events of the second falls into one of the first's.
///
/// A link has the numbers of its place, the lowest that was free when it came. Up to as many as `RadioLimits.fewIntervals` are few:
/// each has a short interval while data flows and a longer one while nothing is said. With more, short ones would leave no
/// gap to send in, and each has one interval for both. `docs/radio-lab.md` says what becomes of an hour of them.
///
/// A relay has dialled a link as well, to its parent, and the parent says which intervals that one is to have. So the relay's
/// own plan keeps out of their way.
package struct IntervalPlan: Sendable {
    private struct Link: Sendable {
        var place: Int
        /// Of one peer that dials anew the older channel may still be open.
        var channels = 1
    }

    /// A link that this side has dialled.
    private struct Dialled: Sendable {
        var intervals: LinkIntervals?
        var channels = 1
    }

    /// By the controller's handle.
    private var links: [UInt16: Link] = [:]
    private var dialled: [UInt16: Dialled] = [:]

    /// A plan of no links.
    package init() {}

    /// A channel has opened on a link that somebody else has made.
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

    /// One of them has closed.
    package mutating func closed(_ handle: UInt16) {
        guard let channels = links[handle]?.channels else { return }
        if channels > 1 { links[handle]?.channels -= 1 } else { links[handle] = nil }
    }

    /// A channel has opened on a link that this side has dialled. What the link is to have, where that is known, is nothing for
    /// the others.
    package mutating func dialled(_ handle: UInt16, intervals: LinkIntervals?) {
        dialled[handle] = Dialled(
            intervals: intervals ?? dialled[handle]?.intervals, channels: (dialled[handle]?.channels ?? 0) + 1)
    }

    /// The other side of a link that this side has dialled says what it is to have.
    package mutating func advised(_ handle: UInt16, _ intervals: LinkIntervals) {
        dialled[handle]?.intervals = intervals
    }

    /// A channel on a link that this side has dialled has closed.
    package mutating func hungUp(_ handle: UInt16) {
        guard let channels = dialled[handle]?.channels else { return }
        if channels > 1 { dialled[handle]?.channels -= 1 } else { dialled[handle] = nil }
    }

    /// What a link that somebody else has made is to have; nil for one that has no place.
    package func intervals(of handle: UInt16) -> LinkIntervals? {
        guard let place = links[handle]?.place else { return nil }
        if links.count + dialled.count == 1 { return RadioLimits.aloneIntervals }
        let few = RadioLimits.fewIntervals.count - dialled.count
        let table = links.values.allSatisfy { $0.place < few } ? RadioLimits.fewIntervals : RadioLimits.manyIntervals
        let rows = spared(table)
        return rows[place % rows.count]
    }

    /// A table with those behind that are in the way of a link that this side has dialled: the more, the further.
    private func spared(_ table: [LinkIntervals]) -> [LinkIntervals] {
        let taken = dialled.values.compactMap(\.intervals)
        guard !taken.isEmpty else { return table }
        let conflicts = table.map { row in taken.map { row.conflict(with: $0) }.max() ?? .none }
        return LinkIntervals.Conflict.allCases.flatMap { wanted in
            zip(table, conflicts).filter { $0.1 == wanted }.map(\.0)
        }
    }

    /// For a link whose host advises nothing: those of a place by chance.
    static func chance(_ number: Int) -> LinkIntervals {
        RadioLimits.manyIntervals[number % RadioLimits.manyIntervals.count]
    }
}

extension LinkIntervals {
    /// How much two links stand in each other's way.
    enum Conflict: Comparable, CaseIterable {
        /// At most every second event of one falls into one of the other's, for as long as their clocks stand so.
        case none
        /// Each event of one does, since its interval is a multiple of the other's, or nearly each.
        case overlap
        /// So do the other's: they are equal.
        case equal
    }

    /// How much a link of these intervals stands in the way of one of those, each at its brisk or its calm one.
    func conflict(with other: Self) -> Conflict {
        let pairs = [(brisk, other.brisk), (brisk, other.calm), (calm, other.brisk), (calm, other.calm)]
        return pairs.map { one, two in
            one == two ? .equal : Self.divisor(one, two) * 2 > min(one, two) ? .overlap : .none
        }.max() ?? .none
    }

    /// The greatest common divisor.
    private static func divisor(_ one: Int, _ two: Int) -> Int { two == 0 ? one : divisor(two, one % two) }
}
