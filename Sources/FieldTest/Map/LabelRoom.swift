// SPDX-License-Identifier: Apache-2.0

/// Finds room for the labels of a map: next to the tracks, and none on another one.
struct LabelRoom {
    /// On which screens a label is shown.
    enum Width {
        case any
        /// Only on screens that show the map in its full width.
        case wide
    }

    /// Where a label is, in pixels from its place on the map.
    struct Offset {
        var x: Double
        var y: Double
    }

    private struct Box {
        var (left, top, right, bottom): (Double, Double, Double, Double)

        func covers(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }
    }

    /// The map on a screen of this width in pixels.
    private struct Screen {
        let width: Double
        let height: Double
        var labels: [Box] = []
        var tracks: [Box] = []

        init(width: Double, ratio: Double, tracks: [[Plane.Point]]) {
            (self.width, height) = (width, width * ratio)
            self.tracks = tracks.flatMap { points in
                LabelRoom.dots(points, apart: 8_000 / width).map { LabelRoom.box(at($0), 3, 3) }
            }
        }

        func at(_ point: Plane.Point) -> Plane.Point {
            Plane.Point(x: point.x * width / 1_000, y: point.y * width / 1_000)
        }

        func hasRoom(_ box: Box) -> Bool {
            box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height
                && !labels.contains(where: box.covers)
        }

        /// Number of pieces of tracks that a box would hide.
        func hides(_ box: Box) -> Int { tracks.count(where: box.covers) }
    }

    /// Widths of the map in pixels: on a phone, and in a window.
    private static let narrow = 320.0, wide = 700.0
    /// Pixels of a character of a label, and of half of its line.
    private static let character = 6.6, halfLine = 8.0
    /// Radius of a numbered circle with space around it.
    private static let radius = 11.0
    private var phone: Screen
    private var window: Screen

    /// Room on a map with these tracks, in thousandths of its width, and with this ratio of height and width.
    init(ratio: Double, tracks: [[Plane.Point]] = []) {
        phone = Screen(width: Self.narrow, ratio: ratio, tracks: tracks)
        window = Screen(width: Self.wide, ratio: ratio, tracks: tracks)
        // The scale is at the lower left.
        window.labels = [Box(left: 0, top: window.height - 40, right: 200, bottom: window.height)]
        phone.labels = [Box(left: 0, top: phone.height - 40, right: 100, bottom: phone.height)]
    }

    private static func box(_ middle: Plane.Point, _ width: Double, _ height: Double) -> Box {
        Box(left: middle.x - width, top: middle.y - height, right: middle.x + width, bottom: middle.y + height)
    }

    /// Points along a line, this far from each other.
    private static func dots(_ points: [Plane.Point], apart: Double) -> [Plane.Point] {
        var dots = points.prefix(1).map(\.self)
        for (one, other) in zip(points, points.dropFirst()) {
            let pieces = max(1, Int((one.distance(to: other) / apart).rounded(.up)))
            for piece in 1...pieces {
                let share = Double(piece) / Double(pieces)
                let dot = Plane.Point(x: one.x + (other.x - one.x) * share, y: one.y + (other.y - one.y) * share)
                if dots[dots.count - 1].distance(to: dot) >= apart / 2 { dots.append(dot) }
            }
        }
        return dots
    }

    /// Adds a numbered circle next to a place. Returns where, and on which screens it has room; nil for none.
    mutating func addNumber(at point: Plane.Point) -> (offset: Offset, width: Width)? {
        let distance = 22.0
        let sides = [(0, -1), (0, 1), (1, 0), (-1, 0), (0.7, -0.7), (-0.7, 0.7), (0.7, 0.7), (-0.7, -0.7)].map {
            Offset(x: $0.0 * distance, y: $0.1 * distance)
        }
        func box(_ screen: Screen, _ side: Offset) -> Box {
            let middle = screen.at(point)
            return Self.box(
                Plane.Point(x: middle.x + side.x, y: middle.y + side.y), Self.radius, Self.radius)
        }
        let open = sides.filter { window.hasRoom(box(window, $0)) }
        guard let side = open.min(by: { window.hides(box(window, $0)) < window.hides(box(window, $1)) }) else {
            return nil
        }
        window.labels.append(box(window, side))
        guard phone.hasRoom(box(phone, side)) else { return (side, .wide) }
        phone.labels.append(box(phone, side))
        return (side, .any)
    }

    /// Adds a text next to a numbered circle, in windows only. Returns the place of its middle; nil without room.
    mutating func addText(_ text: String, near point: Plane.Point, _ circle: Offset) -> Offset? {
        let half = Double(text.count) * Self.character / 2
        let beside = half + 16
        // Beside the circle, above and below it, and on the other side of the track.
        var places = [Offset(x: beside, y: 0), Offset(x: -beside, y: 0)]
        for y in [-22.0, 22, 58, -58] { places += [0, half, -half].map { Offset(x: $0, y: y) } }
        places = places.map { Offset(x: circle.x + $0.x, y: circle.y + $0.y) }
        func box(_ place: Offset) -> Box {
            let middle = window.at(point)
            return Self.box(Plane.Point(x: middle.x + place.x, y: middle.y + place.y), half + 2, Self.halfLine)
        }
        let open = places.filter { window.hasRoom(box($0)) }
        guard let place = open.min(by: { window.hides(box($0)) < window.hides(box($1)) }) else { return nil }
        window.labels.append(box(place))
        return place
    }
}
