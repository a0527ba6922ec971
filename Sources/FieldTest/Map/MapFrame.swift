// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The part of Earth that a map shows. It is 1,000 units wide.
struct MapFrame {
    private let plane: Plane
    private let (left, top): (Double, Double)
    /// The height in units.
    let height: Double
    /// Units of a metre.
    let unit: Double

    /// Smallest and largest height of a map, as shares of its width: a road to the east is no line, and a road to the
    /// north fits a screen.
    private static let heights = 0.4...1.0
    /// Space around the tracks, as a share of the larger of width and height.
    private static let margin = 0.08
    /// Space for the scale below the tracks, as a share of the width.
    private static let foot = 0.06

    /// A frame around these positions. Nil without any.
    init?(_ positions: [PositionRow]) {
        guard let origin = positions.first else { return nil }
        plane = Plane(around: origin)
        let points = positions.map(plane.point)
        func ends(_ values: [Double]) -> (middle: Double, length: Double) {
            let (low, high) = (values.min() ?? 0, values.max() ?? 0)
            return ((low + high) / 2, max(high - low, FieldTestLimits.mapMetres))
        }
        let (across, up) = (ends(points.map(\.x)), ends(points.map(\.y)))
        let space = max(across.length, up.length) * Self.margin * 2
        var (width, tall) = (across.length + space, up.length + space)
        tall = max(tall, width * Self.heights.lowerBound)
        width = max(width, tall / Self.heights.upperBound)
        let foot = width * Self.foot
        unit = 1_000 / width
        height = (tall + foot) * unit
        (left, top) = (across.middle - width / 2, up.middle + tall / 2)
    }

    /// A position in units from the upper left corner.
    func point(_ position: PositionRow) -> Plane.Point {
        let place = plane.point(position)
        return Plane.Point(x: (place.x - left) * unit, y: (top - place.y) * unit)
    }

    /// The length of the scale: the largest round number of metres within a quarter of the width.
    var scale: (metres: Double, words: String) {
        let most = 250 / unit
        let tens = pow(10, floor(log10(most)))
        let metres = [5, 2, 1].map { $0 * tens }.first { $0 <= most } ?? tens
        return (metres, ZoneTable.length(metres))
    }

    /// Leaves out points that are too close to the last one to be seen. The ends stay.
    static func thinned(_ points: [Plane.Point]) -> [Plane.Point] {
        guard let first = points.first, let last = points.last, points.count > 2 else { return points }
        var kept = [first]
        for point in points.dropFirst().dropLast() where kept[kept.count - 1].distance(to: point) >= 2 {
            kept.append(point)
        }
        return kept + [last]
    }

    /// Moves a line to the right of its direction.
    static func moved(_ points: [Plane.Point], right: Double) -> [Plane.Point] {
        guard right != 0, points.count > 1 else { return points }
        return points.indices.map { index in
            // The direction at a point is that from its neighbour to its other neighbour.
            let (before, after) = (points[max(index - 1, 0)], points[min(index + 1, points.count - 1)])
            let (x, y) = (after.x - before.x, after.y - before.y)
            let length = hypot(x, y)
            guard length > 0 else { return points[index] }
            return Plane.Point(x: points[index].x - y / length * right, y: points[index].y + x / length * right)
        }
    }
}
