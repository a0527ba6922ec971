// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A list with a row and a place for each element, ordered by place. Places are far apart, so that an element inserted
/// between two others adds one row and changes no other.
struct PlacedList<Element: Hashable & Sendable>: Sendable {
    struct Row: Sendable {
        var place: Int64
        var element: Element
    }

    /// The changes to the rows, in this order.
    struct Changes: Sendable {
        var removed: [Row] = []
        var inserted: [Row] = []
    }

    private(set) var rows: [Row] = []

    init() {}

    /// Creates a list from its rows, which are in the order of their places.
    init(rows: [Row]) {
        self.rows = rows
    }

    var elements: [Element] { rows.map(\.element) }

    /// Changes the list to another. An element that has moved is removed and inserted.
    mutating func become(_ new: [Element]) -> Changes {
        let old = elements
        let (start, end) = old.commonEnds(with: new, by: ==)
        guard start < max(old.count, new.count) else { return Changes() }
        let (between, left) = (Array(new[start..<new.count - end]), Array(old[start..<old.count - end]))
        let origins = between.origins(in: left, by: { $0 }, where: ==)
        var isGone = [Bool](repeating: true, count: left.count)
        var places = rows.map { Optional($0.place) }
        places.replaceSubrange(
            start..<old.count - end,
            with: origins.map { origin in
                guard case .stays(let from) = origin else { return nil }
                isGone[from] = false
                return rows[start + from].place
            })
        var changes = Changes()
        changes.removed = isGone.indices.filter { isGone[$0] }.map { rows[start + $0] }
        guard let filled = Self.fill(places) else { return begin(again: new) }
        changes.inserted = between.indices.filter { places[start + $0] == nil }.map { index in
            Row(place: filled[start + index], element: between[index])
        }
        rows = zip(filled, new).map { Row(place: $0, element: $1) }
        return changes
    }

    /// Assigns all places again, because two neighbours have no room between them.
    private mutating func begin(again new: [Element]) -> Changes {
        let old = rows
        rows = new.enumerated().map { Row(place: Int64($0) * StoreLimits.placeStep, element: $1) }
        return Changes(removed: old, inserted: rows)
    }

    /// Assigns places to the elements that have none, evenly between their neighbours. Nil if there is no room.
    private static func fill(_ places: [Int64?]) -> [Int64]? {
        var filled: [Int64] = []
        var index = 0
        while index < places.count {
            if let place = places[index] {
                filled.append(place)
                index += 1
                continue
            }
            let end = places[index...].firstIndex { $0 != nil } ?? places.count
            let count = Int64(end - index)
            let next = end < places.count ? places[end] : nil
            guard let run = run(of: count, after: filled.last, before: next) else { return nil }
            filled += run
            index = end
        }
        return filled
    }

    /// Returns `count` places between two places. Either of the two may be missing.
    private static func run(of count: Int64, after last: Int64?, before next: Int64?) -> [Int64]? {
        let (span, isTooFar) = count.multipliedReportingOverflow(by: StoreLimits.placeStep)
        guard !isTooFar else { return nil }
        switch (last, next) {
        case (nil, nil): return (0..<count).map { $0 * StoreLimits.placeStep }
        case (let last?, nil):
            guard last <= .max - span else { return nil }
            return (1...count).map { last + $0 * StoreLimits.placeStep }
        case (nil, let next?):
            guard next >= .min + span else { return nil }
            return (1...count).map { next - (count + 1 - $0) * StoreLimits.placeStep }
        case (let last?, let next?):
            let (room, isWide) = next.subtractingReportingOverflow(last)
            let step = (isWide ? .max : room) / (count + 1)
            guard step > 0 else { return nil }
            return (1...count).map { last + $0 * step }
        }
    }
}
