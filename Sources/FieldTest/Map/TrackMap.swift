// SPDX-License-Identifier: Apache-2.0

import Glibc
import NodeCore

/// A map of one or several drives, as SVG: the signal as colour, gaps as dashed lines, and dead zones with a number.
///
/// It has the page's width and a fixed ratio of width and height. Lines are in a thousandth of the width, and texts
/// keep their size on any screen.
struct TrackMap {
    let entries: [(name: String, metrics: DriveMetrics)]
    let zones: [DeadZone]
    private let frame: MapFrame
    /// The pieces of each drive's track.
    private let pieces: [[SignalTrack.Piece]]

    /// Nil if no drive has a track.
    init?(_ entries: [(name: String, metrics: DriveMetrics)], _ zones: [DeadZone]) {
        guard let frame = MapFrame(entries.flatMap { $0.metrics.track.points.map(\.position) }) else { return nil }
        (self.entries, self.zones, self.frame) = (entries, zones, frame)
        pieces = entries.map { SignalTrack($0.metrics).pieces }
    }

    /// The map with its legend and a table of dead zones.
    var html: String {
        """
        <div class="map"><svg role="img" aria-label="\(HTML.escaped(title))" width="100%" \
        style="aspect-ratio:1000/\(pixels(frame.height))">
        <svg x="0" y="0" width="100%" height="100%" viewBox="0 0 1000 \(pixels(frame.height))">\(lines)</svg>
        \(ends)\(labels)\(scale)</svg></div>
        \(legend)<p class="note">North is up. Each number is a dead zone in the table.</p>
        \(ZoneTable.html(zones, drives: entries.count))
        """
    }

    private var title: String {
        "Map of the \(entries.count == 1 ? "drive" : "drives"), with the signal as colour and "
            + Format.count(zones.count, "dead zone")
    }

    // MARK: Lines

    /// Distance between the lines of two drives on the same road, in thousandths of the width.
    private static let lane = 13.0

    private func shift(_ drive: Int) -> Double { (Double(drive) - Double(entries.count - 1) / 2) * Self.lane }

    private var lines: String {
        entries.indices.map { drive in
            let pieces = pieces[drive].map { piece in
                (piece.signal, path(piece.points.map(\.position), drive))
            }
            // The colour of the drive is behind that of the signal.
            let casing =
                entries.count > 1
                ? pieces.map { "<path class=\"casing \(Style.line(drive))\" d=\"\($0.1)\"/>" }.joined() : ""
            let signal = pieces.map { "<path class=\"way signal\($0.0.rawValue)\" d=\"\($0.1)\"/>" }.joined()
            return casing + signal + gaps(drive)
        }.joined()
    }

    private func gaps(_ drive: Int) -> String {
        zones.flatMap(\.passes).filter { $0.drive == drive }.map { pass in
            let path = path(pass.path, drive)
            let words = HTML.escaped(ZoneTable.sentence(pass))
            return
                "<path class=\"gone-edge\" d=\"\(path)\"/><path class=\"gone\" d=\"\(path)\"><title>\(words)</title></path>"
        }.joined()
    }

    private func path(_ positions: [PositionRow], _ drive: Int) -> String {
        let points = MapFrame.moved(MapFrame.thinned(positions.map(frame.point)), right: shift(drive))
        return points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(pixels(point.x)) \(pixels(point.y))"
        }.joined() + (points.count == 1 ? "h.1" : "")
    }

    // MARK: Signs and labels

    private var ends: String {
        entries.indices.map { drive in
            let (name, points) = (entries[drive].name, entries[drive].metrics.track.points)
            guard let first = points.first, let last = points.last else { return "" }
            return sign("start", frame.point(first.position), "\(name): start")
                + sign("end", frame.point(last.position), "\(name): end")
        }.joined()
    }

    private func sign(_ kind: String, _ point: Plane.Point, _ words: String) -> String {
        "<circle class=\"\(kind)\" cx=\"\(across(point))\" cy=\"\(down(point))\" r=\"5\"><title>\(HTML.escaped(words))</title></circle>"
    }

    private var labels: String {
        let tracks = entries.map { $0.metrics.track.points.map { frame.point($0.position) } }
        var room = LabelRoom(ratio: frame.height / 1_000, tracks: tracks.map(MapFrame.thinned))
        let spots = zones.prefix(FieldTestLimits.shownZones).enumerated().compactMap { index, zone in
            zone.middle.map(frame.point).flatMap { point in
                room.addNumber(at: point).map { (number: index + 1, zone: zone, point: point, place: $0) }
            }
        }
        let numbers = spots.map { spot in
            let kind = spot.place.width == .any ? "zone" : "zone wide"
            let place = "\(moved(spot.place.offset)) "
            return
                "<circle class=\"\(kind)\" cx=\"\(across(spot.point))\" cy=\"\(down(spot.point))\" \(place)r=\"10\"/>"
                + "<text class=\"label \(kind)\" x=\"\(across(spot.point))\" y=\"\(down(spot.point))\" \(place)dy=\"4\" "
                + "text-anchor=\"middle\">\(spot.number)</text>"
        }
        let times = spots.compactMap { spot in
            let words = ZoneTable.label(spot.zone)
            return room.addText(words, near: spot.point, spot.place.offset).map { offset in
                "<text class=\"label wide\" x=\"\(across(spot.point))\" y=\"\(down(spot.point))\" \(moved(offset)) dy=\"4\" "
                    + "text-anchor=\"middle\">\(HTML.sentence(words))</text>"
            }
        }
        return (numbers + times).joined()
    }

    private func moved(_ offset: LabelRoom.Offset) -> String {
        "transform=\"translate(\(pixels(offset.x)) \(pixels(offset.y)))\""
    }

    private var scale: String {
        let (metres, words) = frame.scale
        let y = Format.number((frame.height - 14) / frame.height * 100, digits: 2)
        return "<line class=\"scale\" x1=\"1.5%\" x2=\"\(Format.number(1.5 + metres * frame.unit / 10, digits: 2))%\" "
            + "y1=\"\(y)%\" y2=\"\(y)%\"/><text class=\"label\" x=\"1.5%\" y=\"\(y)%\" dy=\"-6\">\(words)</text>"
    }

    private func across(_ point: Plane.Point) -> String { "\(Format.number(point.x / 10, digits: 2))%" }
    private func down(_ point: Plane.Point) -> String {
        "\(Format.number(point.y / frame.height * 100, digits: 2))%"
    }
    private func pixels(_ value: Double) -> String { Format.number(value, digits: 1) }

    // MARK: Legend

    private var legend: String {
        let seen = Set(pieces.joined().map(\.signal))
        let classes = SignalClass.allCases.filter(seen.contains).map { signal in
            "<li><span class=\"key signal\(signal.rawValue)\"></span>\(HTML.sentence(signal.words))</li>"
        }
        let drives =
            entries.count < 2
            ? []
            : entries.enumerated().map { drive, entry in
                "<li><span class=\"key \(Style.line(drive))\"></span>\(HTML.escaped(entry.name))"
                    + "\(entry.metrics.track.isEmpty ? " (without positions)" : "")</li>"
            }
        let signs = [
            zones.isEmpty ? "" : "<li><span class=\"key gone\"></span>no link</li>",
            "<li><span class=\"dot start\"></span>start</li><li><span class=\"dot end\"></span>end</li>",
        ]
        let lanes =
            entries.count < 2
            ? ""
            : "<ul class=\"legend\">\(drives.joined())</ul><p class=\"note\">On the same road in the same direction, the "
                + "first drive is on the left.</p>"
        return "<ul class=\"legend\">\((classes + signs).joined())</ul>\(lanes)"
    }
}
