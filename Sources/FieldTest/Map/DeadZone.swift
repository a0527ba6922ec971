// SPDX-License-Identifier: Apache-2.0

/// A place where links get lost: gaps of one or several drives that are close to each other.
public struct DeadZone: Hashable, Sendable {
    /// A gap in this place.
    public struct Pass: Hashable, Sendable {
        /// The number of the drive in the report, from 0.
        public var drive: Int
        /// The gap.
        public var gap: Gap
        /// Where the device was during the gap.
        public var path: [PositionRow]

        /// The length of the path in metres.
        var metres: Double { zip(path, path.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) } }
    }

    /// The gaps, in the order of the drives.
    public internal(set) var passes: [Pass]
    /// The number of drives with a track that passed here, with or without a gap.
    public internal(set) var passedBy = 0

    /// The way of the longest gap.
    public var path: [PositionRow] { passes.max { $0.metres < $1.metres }?.path ?? [] }
    /// The length of the longest gap in metres.
    public var metres: Double { passes.map(\.metres).max() ?? 0 }
    /// The number of drives with a gap here.
    public var drives: Int { Set(passes.map(\.drive)).count }
    /// Lengths of the gaps in seconds, the shortest first. Gaps that have not ended are left out.
    public var gone: [Double] { passes.compactMap(\.gap.length).sorted() }
    /// Seconds of the reconnects, the shortest first.
    public var reconnects: [Double] { passes.compactMap(\.gap.reconnect).sorted() }

    /// The middle of the way.
    public var middle: PositionRow? {
        var left = metres / 2
        for (one, next) in zip(path, path.dropFirst()) {
            let length = one.distance(to: next)
            if length >= left { return length > 0 ? one.between(next, left / length) : one }
            left -= length
        }
        return path.last
    }
}

/// Finds dead zones: gaps within `FieldTestLimits.zoneMetres` of each other are one zone.
struct DeadZoneFinder {
    private struct Spot {
        var pass: DeadZone.Pass
        var points: [Plane.Point]
        var corners: (low: Plane.Point, high: Plane.Point)

        init(_ pass: DeadZone.Pass, _ plane: Plane) {
            self.pass = pass
            points = pass.path.map(plane.point)
            corners = (
                Plane.Point(x: points.map(\.x).min() ?? 0, y: points.map(\.y).min() ?? 0),
                Plane.Point(x: points.map(\.x).max() ?? 0, y: points.map(\.y).max() ?? 0)
            )
        }

        func isNear(_ other: Spot) -> Bool {
            let limit = FieldTestLimits.zoneMetres
            guard corners.low.x - limit <= other.corners.high.x, other.corners.low.x - limit <= corners.high.x,
                corners.low.y - limit <= other.corners.high.y, other.corners.low.y - limit <= corners.high.y
            else { return false }
            return Plane.distance(points, other.points) <= limit
        }
    }

    /// The zones of drives with these tracks and metrics, from the first gap to the last.
    static func zones(_ drives: [DriveMetrics]) -> [DeadZone] {
        guard let origin = drives.lazy.compactMap(\.track.points.first).first?.position else { return [] }
        let plane = Plane(around: origin)
        var spots: [Spot] = []
        for (number, metrics) in drives.enumerated() {
            for gap in metrics.gaps.prefix(FieldTestLimits.mappedGaps) {
                let path = metrics.track.path(from: gap.start, to: gap.end ?? metrics.seconds)
                guard !path.isEmpty else { continue }
                spots.append(Spot(DeadZone.Pass(drive: number, gap: gap, path: thinned(path)), plane))
            }
        }
        let roads = drives.map { $0.track.points.map { plane.point($0.position) } }
        return joined(spots).map { spots in
            var zone = DeadZone(passes: spots.map(\.pass))
            let ends = [zone.path.first, zone.path.last].compactMap { $0.map(plane.point) }
            zone.passedBy = drives.indices.count { index in
                zone.passes.contains { $0.drive == index } || passes(roads[index], ends)
            }
            return zone
        }
    }

    /// Groups of spots: each is near another one of its group.
    private static func joined(_ spots: [Spot]) -> [[Spot]] {
        var group = Array(spots.indices)
        func root(_ index: Int) -> Int {
            var index = index
            while group[index] != index { index = group[index] }
            return index
        }
        for one in spots.indices {
            for other in spots.indices.prefix(one) where root(one) != root(other) && spots[one].isNear(spots[other]) {
                group[max(root(one), root(other))] = min(root(one), root(other))
            }
        }
        return Dictionary(grouping: spots.indices, by: root).sorted { $0.key < $1.key }.map {
            $0.value.map { spots[$0] }
        }
    }

    /// Whether a road comes near one of these places.
    private static func passes(_ road: [Plane.Point], _ places: [Plane.Point]) -> Bool {
        zip(road, road.dropFirst()).contains { segment in
            places.contains { Plane.distance($0, segment) <= FieldTestLimits.zoneMetres }
        }
    }

    /// A path with as many points as a zone needs at most, evenly chosen.
    private static func thinned(_ path: [PositionRow]) -> [PositionRow] {
        guard path.count > FieldTestLimits.zonePoints, let last = path.last else { return path }
        let step = Double(path.count - 1) / Double(FieldTestLimits.zonePoints - 1)
        return (0..<FieldTestLimits.zonePoints - 1).map { path[Int(Double($0) * step)] } + [last]
    }
}
