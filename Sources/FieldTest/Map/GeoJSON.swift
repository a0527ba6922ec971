// SPDX-License-Identifier: Apache-2.0

import NodeCore

/// Tracks, gaps, dead zones and marks as GeoJSON (RFC 7946), for programs that show maps.
struct GeoJSON: Encodable {
    /// A point, or a line of at least two points. Each is longitude and latitude.
    enum Geometry: Encodable {
        case point([Double])
        case line([[Double]])

        private enum CodingKeys: String, CodingKey {
            case type, coordinates
        }

        init?(_ path: [PositionRow]) {
            let points = path.map { [$0.longitude, $0.latitude] }
            guard let first = points.first else { return nil }
            self = points.count > 1 ? .line(points) : .point(first)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .point(let point):
                try values.encode("Point", forKey: .type)
                try values.encode(point, forKey: .coordinates)
            case .line(let points):
                try values.encode("LineString", forKey: .type)
                try values.encode(points, forKey: .coordinates)
            }
        }
    }

    /// What is known of a feature. `kind` is `track`, `gap`, `deadZone` or `mark`.
    struct Properties: Encodable {
        var kind: String
        var drive: String?
        /// The first time of a track, in seconds since 1970.
        var began: Double?
        /// Seconds since the start of the drive; of a track, one for each point.
        var at: Double?
        var times: [Double]?
        /// Of a part of a track: the median signal strength in dBm.
        var rssi: Int?
        var seconds: Double?
        var reconnectSeconds: [Double]?
        var metres: Double?
        var drives: Int?
        var passedBy: Int?
        var text: String?
    }

    struct Feature: Encodable {
        var type = "Feature"
        var geometry: Geometry
        var properties: Properties
    }

    var type = "FeatureCollection"
    var features: [Feature]

    init(_ entries: [Report.Entry], _ zones: [DeadZone]) {
        features = entries.flatMap(Self.tracks)
        features += zones.flatMap(\.passes).compactMap { Self.gap($0, entries) }
        features += zones.compactMap(Self.zone)
        features += entries.flatMap(Self.marks)
    }

    /// A drive's track in pieces, each with its signal.
    private static func tracks(_ entry: Report.Entry) -> [Feature] {
        let track = SignalTrack(entry.metrics)
        return track.pieces.compactMap { piece in
            Geometry(piece.points.map(\.position)).map { geometry in
                Feature(
                    geometry: geometry,
                    properties: Properties(
                        kind: "track", drive: entry.name, began: entry.drive.header.began,
                        times: piece.points.map(\.at), rssi: track.median(of: piece)))
            }
        }
    }

    private static func gap(_ pass: DeadZone.Pass, _ entries: [Report.Entry]) -> Feature? {
        Geometry(pass.path).map { geometry in
            Feature(
                geometry: geometry,
                properties: Properties(
                    kind: "gap", drive: entries[pass.drive].name, at: pass.gap.start, seconds: pass.gap.length,
                    reconnectSeconds: pass.gap.reconnect.map { [$0] }, metres: pass.metres))
        }
    }

    private static func zone(_ zone: DeadZone) -> Feature? {
        Geometry(zone.path).map { geometry in
            Feature(
                geometry: geometry,
                properties: Properties(
                    kind: "deadZone", seconds: zone.gone.median, reconnectSeconds: zone.reconnects,
                    metres: zone.metres, drives: zone.drives, passedBy: zone.passedBy))
        }
    }

    private static func marks(_ entry: Report.Entry) -> [Feature] {
        entry.metrics.marks.compactMap { mark in
            entry.metrics.track.position(at: mark.at).flatMap { Geometry([$0]) }.map { geometry in
                Feature(
                    geometry: geometry,
                    properties: Properties(kind: "mark", drive: entry.name, at: mark.at, text: mark.text))
            }
        }
    }
}
