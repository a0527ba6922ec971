// SPDX-License-Identifier: Apache-2.0

/// Draws a field as SVG: each node at its position, with a line to the node that it has dialled. Colours show the
/// distance to the host.
struct FieldPicture {
    private static let width = 960.0
    private static let margin = 24.0
    /// Colours by hops from the host. The last one is for all further hops.
    private static let colours = [
        "#1b6ca8", "#2a9d8f", "#8ab17d", "#e9c46a", "#f4a261", "#e76f51", "#c8553d", "#9d4edd", "#7b2cbf", "#5a189a",
    ]

    private let field: Field
    /// Metres in a row. If the ground is longer than wide, it is drawn in several rows.
    private let rowLength: Double
    private let rowHeight: Double
    private let origin: FieldPoint
    private let scale: Double
    private let rows: Int

    init(_ field: Field) {
        self.field = field
        let places = field.nodes.indices.filter { !field.people.isGone($0) }.map { field.air.terrain.place(of: $0) }
        let (left, right) = (places.map(\.x).min() ?? 0, places.map(\.x).max() ?? 0)
        let (top, bottom) = (places.map(\.y).min() ?? 0, places.map(\.y).max() ?? 0)
        origin = FieldPoint(x: right, y: top)
        let length = max(right - left, 1)
        // A line of three kilometres is two metres wide.
        rows =
            field.scenario.layout == .crowd ? 1 : max(1, Int((length / (4 * field.scenario.layout.range)).rounded(.up)))
        rowLength = length / Double(rows)
        scale = (Self.width - 2 * Self.margin) / rowLength
        rowHeight = field.scenario.layout == .crowd ? (bottom - top) * scale + 8 : max((bottom - top) * scale, 12) + 28
    }

    /// The drawn position of a node. The host's end is at the left, the reading direction.
    private func point(_ place: FieldPoint) -> (x: Double, y: Double, row: Int) {
        let along = origin.x - place.x
        let row = min(rows - 1, Int(along / rowLength))
        let x = Self.margin + (along - Double(row) * rowLength) * scale
        return (x, Self.margin + Double(row) * rowHeight + (place.y - origin.y) * scale, row)
    }

    /// The picture.
    var svg: String {
        var lines: [Int: String] = [:]
        var dots: [Int: String] = [:]
        var unlinked = ""
        for node in field.nodes.indices where !field.people.isGone(node) {
            let spot = point(field.air.terrain.place(of: node))
            guard let hops = field.hops(of: node) else {
                unlinked += dot(spot.x, spot.y)
                continue
            }
            let colour = min(hops, Self.colours.count) - 1
            if hops > 0 { dots[colour, default: ""] += dot(spot.x, spot.y) }
            guard let parent = field.air.connections.parent(of: node) else { continue }
            let other = point(field.air.terrain.place(of: parent))
            // A line from one row to the next ends at the edge.
            let bend = spot.row == other.row ? other : (Self.margin, spot.y, spot.row)
            lines[colour, default: ""] += "M\(number(spot.x)) \(number(spot.y))L\(number(bend.0)) \(number(bend.1))"
        }
        let height = Int((Double(rows) * rowHeight + 2 * Self.margin).rounded(.up))
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Self.width)) \(height)\" fill=\"none\">",
            "<rect width=\"\(Int(Self.width))\" height=\"\(height)\" fill=\"#fff\"/>",
        ]
        parts += lines.sorted { $0.key < $1.key }.map {
            "<path stroke=\"\(Self.colours[$0.key])\" stroke-opacity=\".55\" d=\"\($0.value)\"/>"
        }
        parts += dots.sorted { $0.key < $1.key }.map { round(Self.colours[$0.key], $0.value, width: 5) }
        parts.append(round("#bbb", unlinked, width: 4))
        for host in field.nodes.indices where field.nodes[host].isHost {
            let spot = point(field.air.terrain.place(of: host))
            parts.append(round("#111", dot(spot.x, spot.y), width: 12))
        }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func dot(_ x: Double, _ y: Double) -> String { "M\(number(x)) \(number(y))h0" }

    private func round(_ colour: String, _ path: String, width: Int) -> String {
        "<path stroke=\"\(colour)\" stroke-width=\"\(width)\" stroke-linecap=\"round\" d=\"\(path)\"/>"
    }

    private func number(_ value: Double) -> Int { Int(value.rounded()) }
}
