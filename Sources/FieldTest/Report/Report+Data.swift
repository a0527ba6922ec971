// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import NodeCore

// A report for programs: JSON with all metrics, and the gaps for a spreadsheet.
extension Report {
    /// The metrics as one JSON object.
    public var json: String {
        JSONLine.text(
            ReportData(drives: entries.map { DriveData($0) }, deadZones: zones.map { ZoneData($0) }), isWide: true)
            + "\n"
    }

    /// The tracks, gaps, dead zones and marks as GeoJSON.
    public var geoJSON: String { JSONLine.text(GeoJSON(entries, zones), isWide: true) + "\n" }

    /// The tracks, dead zones and marks as GPX.
    public var gpx: String { GPX(entries: entries, zones: zones).text }

    /// Whether any drive has a track.
    public var hasTrack: Bool { entries.contains { !$0.metrics.track.isEmpty } }

    /// The gaps of all drives, one per line.
    public var csv: String {
        let head = "drive,peer,start,lost,inReach,heard,dialled,resumed,current,length,reconnect,hops"
        let lines = entries.flatMap { entry in
            entry.metrics.gaps.map { gap in
                let times = [
                    gap.start, gap.lost, gap.inReach, gap.heard, gap.dialled, gap.resumed, gap.current, gap.length,
                    gap.reconnect,
                ]
                return
                    ([Self.field(entry.name), Self.field(entry.metrics.names[gap.peer] ?? gap.peer)]
                    + times.map { $0.map { Format.number($0, digits: 4) } ?? "" }
                    + [entry.metrics.hops(before: gap).map(String.init) ?? ""]).joined(separator: ",")
            }
        }
        return ([head] + lines).joined(separator: "\r\n") + "\r\n"
    }

    /// Text as a field. An apostrophe keeps a spreadsheet from reading it as a formula.
    static func field(_ text: String) -> String {
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        return "\"" + ((isFormula ? "'" : "") + text).replacing("\"", with: "\"\"") + "\""
    }
}

private struct ReportData: Encodable {
    var drives: [DriveData]
    var deadZones: [ZoneData]
}

/// A dead zone for programs.
private struct ZoneData: Encodable {
    struct Pass: Encodable {
        /// The number of the drive in this file, from 0, and of its gap.
        var drive: Int
        var start: Double
    }

    var start: PositionRow?
    var middle: PositionRow?
    var end: PositionRow?
    var metres: Double
    var drives: Int
    var passedBy: Int
    var goneSeconds: [Double]
    var reconnectSeconds: [Double]
    var gaps: [Pass]

    init(_ zone: DeadZone) {
        (start, middle, end) = (zone.path.first, zone.middle, zone.path.last)
        metres = (zone.metres * 10).rounded() / 10
        (drives, passedBy) = (zone.drives, zone.passedBy)
        (goneSeconds, reconnectSeconds) = (zone.gone, zone.reconnects)
        gaps = zone.passes.map { Pass(drive: $0.drive, start: $0.gap.start) }
    }
}

/// A gap for programs: its times, and the paths of its files of packets if there are any.
private struct GapData: Encodable {
    var gap: Gap
    var packets: [String]

    private enum CodingKeys: String, CodingKey {
        case packets
    }

    func encode(to encoder: any Encoder) throws {
        try gap.encode(to: encoder)
        guard !packets.isEmpty else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(packets, forKey: .packets)
    }
}

private struct DriveData: Encodable {
    struct Quantiles<Value: Encodable & Comparable & Sendable>: Encodable {
        var least: Value
        var median: Value
        var most: Value
        var count: Int

        init?(_ sorted: [Value]) {
            guard let least = sorted.first, let median = sorted.median, let most = sorted.last else { return nil }
            (self.least, self.median, self.most, count) = (least, median, most, sorted.count)
        }
    }

    struct Hops: Encodable {
        var hops: Int
        var seconds: Double
    }

    struct Relay: Encodable {
        var relay: Peer.ID
        var name: String
        var seconds: Double
    }

    var header: DriveHeader
    var ending: Drive.Ending
    var seconds: Double
    var grade: Verdict.Grade
    var findings: [Verdict.Finding]
    var gaps: [GapData]
    var awaySeconds: Double
    var reconnectSeconds: Quantiles<Double>?
    var rssi: Quantiles<Int>?
    var roundTripMilliseconds: Quantiles<Double>?
    var deliveries: Deliveries
    var waiting: Int
    var resent: Int
    var duplicates: Int
    var radioSeconds: DriveMetrics.RadioTime
    /// The average load of the program.
    var load: LoadRate?
    var hopSeconds: [Hops]
    var relaySeconds: [Relay]
    var marks: [DriveMetrics.Mark]
    var missingRows: Int
    /// Number of recorded positions.
    var positions: Int

    init(_ entry: Report.Entry) {
        let metrics = entry.metrics
        header = entry.drive.header
        ending = entry.drive.ending
        seconds = metrics.seconds
        (grade, findings) = (entry.verdict.grade, entry.verdict.findings)
        gaps = metrics.gaps.map { GapData(gap: $0, packets: GapPackets($0, in: entry.drive.packets).files.map(\.path)) }
        awaySeconds = metrics.away
        reconnectSeconds = Quantiles(metrics.reconnects)
        rssi = Quantiles(metrics.signal)
        roundTripMilliseconds = Quantiles(metrics.roundTrips)
        deliveries = metrics.deliveries
        waiting = metrics.deliveries.waiting
        resent = metrics.resent
        duplicates = metrics.duplicates
        radioSeconds = metrics.radio
        load = metrics.load
        hopSeconds = metrics.hops.byHops.map { Hops(hops: $0.hops, seconds: $0.seconds) }
        relaySeconds = metrics.hops.byRelay.map {
            Relay(relay: $0.relay, name: metrics.name(ofRelay: $0.relay), seconds: $0.seconds)
        }
        marks = metrics.marks
        missingRows = metrics.missing
        positions = metrics.track.points.count
    }
}
