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
struct IntervalPlan: Sendable {
    private struct Link: Sendable {
        var place: Int
        /// Of one peer that dials anew the older channel may still be open.
        var channels = 1
    }

    /// By the controller's handle.
    private var links: [UInt16: Link] = [:]

    /// A channel has opened on a link that somebody else has made.
    mutating func opened(_ handle: UInt16) {
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
    mutating func closed(_ handle: UInt16) {
        guard let channels = links[handle]?.channels else { return }
        if channels > 1 { links[handle]?.channels -= 1 } else { links[handle] = nil }
    }

    /// What a link is to have; nil for one that has no place.
    func intervals(of handle: UInt16) -> LinkIntervals? {
        guard let place = links[handle]?.place else { return nil }
        if links.count == 1 { return RadioLimits.aloneIntervals }
        let areFew = links.values.allSatisfy { $0.place < RadioLimits.fewIntervals.count }
        return areFew ? RadioLimits.fewIntervals[place] : Self.among(many: place)
    }

    /// For a link whose host advises nothing: those of a place by chance.
    static func chance(_ number: Int) -> LinkIntervals { among(many: number) }

    private static func among(many place: Int) -> LinkIntervals {
        RadioLimits.manyIntervals[place % RadioLimits.manyIntervals.count]
    }
}
