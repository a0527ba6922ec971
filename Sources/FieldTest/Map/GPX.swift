// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NodeCore

/// Tracks, dead zones and marks as GPX 1.1 (topografix.com/GPX/1/1), for navigation devices and map programs.
struct GPX {
    let entries: [Report.Entry]
    let zones: [DeadZone]

    var text: String {
        let marks = entries.flatMap(self.marks)
        let zones = zones.enumerated().compactMap(zone)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="RoadMesh \(RoadMeshVersion.text)">
            \((marks + zones + entries.compactMap(track)).joined(separator: "\n"))
            </gpx>

            """
    }

    private func track(_ entry: Report.Entry) -> String? {
        let points = entry.metrics.track.points
        guard !points.isEmpty else { return nil }
        let rows = points.map { point in
            "<trkpt \(place(point.position))><time>\(time(entry, point.at))</time></trkpt>"
        }
        return
            "<trk><name>\(HTML.escaped(entry.name))</name><trkseg>\n\(rows.joined(separator: "\n"))\n</trkseg></trk>"
    }

    private func marks(_ entry: Report.Entry) -> [String] {
        entry.metrics.marks.compactMap { mark in
            entry.metrics.track.position(at: mark.at).map { position in
                "<wpt \(place(position))><time>\(time(entry, mark.at))</time><name>\(HTML.escaped(mark.text))</name></wpt>"
            }
        }
    }

    private func zone(_ index: Int, _ zone: DeadZone) -> String? {
        zone.middle.map { position in
            "<wpt \(place(position))><name>Dead zone \(index + 1)</name><desc>\(ZoneTable.length(zone.metres)); "
                + "\(HTML.escaped(ZoneTable.label(zone)))</desc></wpt>"
        }
    }

    private func place(_ position: PositionRow) -> String {
        "lat=\"\(Format.number(position.latitude, digits: 6))\" lon=\"\(Format.number(position.longitude, digits: 6))\""
    }

    private func time(_ entry: Report.Entry, _ at: Double) -> String {
        Date(timeIntervalSince1970: min(max(entry.drive.header.began + at, 0), 4e9))
            .ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
    }
}
