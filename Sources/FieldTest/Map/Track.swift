// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The track of a drive: where the device was at which time.
public struct Track: Hashable, Sendable {
    /// A position and its time.
    public struct Point: Hashable, Sendable {
        /// Seconds since the start of the drive.
        public var at: Double
        /// The place.
        public var position: PositionRow
    }

    /// The recorded positions, by their times.
    public private(set) var points: [Point] = []

    init() {}

    mutating func append(_ position: PositionRow, at: Double) {
        points.append(Point(at: at, position: position))
    }

    /// Whether there is anything to draw.
    public var isEmpty: Bool { points.isEmpty }

    /// The position at a time. Between two recorded positions, the device is assumed to go straight on at constant
    /// speed. Nil far from any recorded position.
    public func position(at time: Double) -> PositionRow? {
        let next = firstIndex(after: time)
        let (before, after) = (next > 0 ? points[next - 1] : nil, next < points.count ? points[next] : nil)
        guard let before, let after else {
            guard let edge = before ?? after, abs(edge.at - time) <= FieldTestLimits.trackEdge / .seconds(1) else {
                return nil
            }
            return edge.position
        }
        guard after.at - before.at <= FieldTestLimits.trackHole / .seconds(1) else { return nil }
        let share = after.at > before.at ? (time - before.at) / (after.at - before.at) : 0
        return before.position.between(after.position, share)
    }

    /// The positions between two times, with those at both times. Empty if one of the two is unknown.
    public func path(from start: Double, to end: Double) -> [PositionRow] {
        guard start <= end, let first = position(at: start), let last = position(at: end) else { return [] }
        let inside = points[firstIndex(after: start)..<max(firstIndex(after: start), firstIndex(after: end))]
        return [first] + inside.map(\.position) + [last]
    }

    /// The index of the first point later than a time.
    func firstIndex(after time: Double) -> Int {
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].at <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension PositionRow {
    /// The position at a share of the straight way to another one.
    func between(_ other: PositionRow, _ share: Double) -> PositionRow {
        let east = Plane.wrapped(other.longitude - longitude)
        return PositionRow(
            latitude: latitude + (other.latitude - latitude) * share,
            longitude: Plane.wrapped(longitude + east * share)) ?? self
    }
}

/// A flat map around a place, in metres. It is exact to a few per mille within some 100 km.
struct Plane {
    /// A place on the map: metres to the east and to the north.
    struct Point: Hashable {
        var x: Double
        var y: Double

        func distance(to other: Point) -> Double { hypot(other.x - x, other.y - y) }
    }

    private let origin: PositionRow
    private let width: Double
    private static let degree = PositionRow.earthRadius * .pi / 180

    init(around origin: PositionRow) {
        self.origin = origin
        width = max(cos(origin.latitude * .pi / 180), 1e-6)
    }

    /// A difference of longitudes, which may pass the line of the date.
    static func wrapped(_ degrees: Double) -> Double {
        degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
    }

    func point(_ position: PositionRow) -> Point {
        Point(
            x: Self.wrapped(position.longitude - origin.longitude) * width * Self.degree,
            y: (position.latitude - origin.latitude) * Self.degree)
    }

    // MARK: Distances

    /// The shortest distance between two lines of points, in metres. Infinite if one of them is empty.
    static func distance(_ one: [Point], _ other: [Point]) -> Double {
        var shortest = Double.infinity
        for first in segments(one) {
            for second in segments(other) {
                shortest = min(shortest, distance(first, second))
                if shortest == 0 { return 0 }
            }
        }
        return shortest
    }

    private static func segments(_ points: [Point]) -> [(Point, Point)] {
        points.count == 1 ? [(points[0], points[0])] : Array(zip(points, points.dropFirst()))
    }

    private static func distance(_ one: (Point, Point), _ other: (Point, Point)) -> Double {
        if cross(one, other) { return 0 }
        return min(
            distance(one.0, other), distance(one.1, other), distance(other.0, one), distance(other.1, one))
    }

    /// The distance of a point from a segment.
    static func distance(_ point: Point, _ segment: (Point, Point)) -> Double {
        let (x, y) = (segment.1.x - segment.0.x, segment.1.y - segment.0.y)
        let square = x * x + y * y
        let along = square > 0 ? ((point.x - segment.0.x) * x + (point.y - segment.0.y) * y) / square : 0
        let share = min(max(along, 0), 1)
        return point.distance(to: Point(x: segment.0.x + share * x, y: segment.0.y + share * y))
    }

    private static func cross(_ one: (Point, Point), _ other: (Point, Point)) -> Bool {
        func side(_ a: Point, _ b: Point, _ c: Point) -> Double {
            (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        }
        return side(one.0, one.1, other.0) * side(one.0, one.1, other.1) < 0
            && side(other.0, other.1, one.0) * side(other.0, other.1, one.1) < 0
    }
}
