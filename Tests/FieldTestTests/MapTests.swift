// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NodeCore
import Testing

@testable import FieldTest

/// A drive of 100 s on a straight road of 2 km to the north, at 20 m/s, with a gap from 20 to 30 s and one from 60 to
/// 64 s. The device has no position in the gaps. `lateral` moves it to the east.
private func road(
    lateral: Double = 0, isReversed: Bool = false, gaps: [(Double, Double)] = [(20, 30), (60, 64)],
    name: String = "Road"
) throws -> Drive {
    var rows: [(Double, Happening)] = [(0, Drives.contact(.resumed)), (0.1, Drives.contact(.current))]
    for (start, end) in gaps {
        rows += [
            (start + 0.42, Drives.contact(.lost, silence: 0.42)), (end, Drives.contact(.heard, whole: false)),
            (end + 0.2, Drives.contact(.dialled, whole: false)), (end + 0.3, Drives.contact(.resumed)),
            (end + 0.5, Drives.contact(.current)),
        ]
    }
    for second in 0...100 where !gaps.contains(where: { $0.0 < Double(second) && Double(second) < $0.1 }) {
        let metres = Double(isReversed ? 100 - second : second) * 20
        rows.append((Double(second), .position(try Tracks.place(north: metres, east: lateral))))
        rows.append((Double(second), Drives.link(second < 50 ? -60 : -90)))
    }
    rows += [(50, .mark("bridge")), (100, .end("quit"))]
    var drive = Drives.drive(rows, name: name)
    drive.rows = drive.rows.inOrder(by: \.at)
    return drive
}

private func metres(_ one: PositionRow?, _ north: Double, east: Double = 0) throws -> Double {
    try #require(one).distance(to: try Tracks.place(north: north, east: east))
}

@Suite("The track of a drive")
struct TrackTests {
    @Test("a position in a tunnel is on the straight way between its ends")
    func tunnel() throws {
        let track = DriveMetrics(try road()).track
        #expect(try metres(track.position(at: 25), 500) < 0.3)
        #expect(try metres(track.position(at: 30.25), 605) < 0.3)
        #expect(track.path(from: 18.5, to: 31.5).count == 6)
        #expect(track.position(at: 104) != nil && track.position(at: 106) == nil)
    }

    @Test("a long time without a position has no track")
    func hole() throws {
        var track = Track()
        track.append(try Tracks.place(), at: 0)
        track.append(try Tracks.place(north: 100), at: 1_801)
        #expect(track.position(at: 900) == nil && track.path(from: 0, to: 900).isEmpty)
        #expect(Track().position(at: 0) == nil)
    }

    @Test("a way over the line of the date is short")
    func dateLine() throws {
        let one = try #require(PositionRow(latitude: 10, longitude: 179.999))
        let other = try #require(PositionRow(latitude: 10, longitude: -179.999))
        #expect(one.distance(to: other) < 220)
        #expect(abs(abs(one.between(other, 0.5).longitude) - 180) < 1e-6)
        #expect(Plane(around: one).point(other).x < 220)
    }
}

@Suite("Dead zones")
struct DeadZoneTests {
    @Test("gaps of two drives in the same place are one zone, in whichever direction they go")
    func merged() throws {
        let drives = [try road(), try road(lateral: 20), try road(isReversed: true, gaps: [(36.5, 41), (70, 79)])]
        let zones = Report(drives).zones
        #expect(zones.map(\.drives) == [3, 3] && zones.map(\.passedBy) == [3, 3])
        #expect(try metres(zones[0].path.first, 400) < 1 && metres(zones[0].path.last, 600) < 1)
        #expect(zones.map { $0.metres.rounded() } == [200, 90])
        #expect(zones[0].reconnects.count == 3 && zones[0].gone.map { $0.rounded() } == [9, 10, 10])
    }

    @Test("gaps on a road that is farther away are another zone, and that drive did not pass the first")
    func apart() throws {
        let zones = Report([try road(), try road(lateral: 31)]).zones
        #expect(zones.count == 4)
        #expect(zones.map(\.drives) == [1, 1, 1, 1] && zones.map(\.passedBy) == [1, 1, 1, 1])
    }

    @Test("a drive without a gap that passes a zone is counted as passing")
    func passed() throws {
        let zones = Report([try road(), try road(lateral: 10, gaps: [])]).zones
        #expect(zones.map(\.drives) == [1, 1] && zones.map(\.passedBy) == [2, 2])
    }

    @Test("two gaps with 30 m between them are one zone, and with more they are two")
    func near() throws {
        #expect(Report([try road(gaps: [(20, 30), (31.4, 35)])]).zones.count == 1)
        #expect(Report([try road(gaps: [(20, 30), (32, 35)])]).zones.count == 2)
    }

    @Test("a drive without positions has no zones and no map")
    func none() {
        let report = Report([Drives.oneGap])
        #expect(report.zones.isEmpty && !report.hasTrack)
        #expect(!report.html.contains("class=\"map\"") && !report.sentences.joined().contains("Dead zone"))
    }
}

@Suite("The map of a report")
struct MapTests {
    @Test("a track is drawn in the colours of its signal, and its gaps are marked with their reconnects")
    func drawn() throws {
        let html = Report([try road()]).html
        #expect(html.contains("class=\"way signal1\"") && html.contains("class=\"way signal5\""))
        #expect(html.contains("<title>Gap at 0:20, 10 s, back after 500 ms</title>"))
        #expect(html.contains("10\u{A0}s, back after 500\u{A0}ms</text>"))
        #expect(html.contains("<td>46.00450, 8.00000</td><td>200\u{A0}m</td><td>10\u{A0}s</td><td>500\u{A0}ms</td>"))
        #expect(!html.contains("nan") && !html.contains("inf"))
    }

    @Test("two drives are on one map, each with its own line")
    func compared() throws {
        let html = Report([try road(name: "Dongle A"), try road(name: "Dongle <B>")]).html
        #expect(html.components(separatedBy: "class=\"map\"").count == 2)
        #expect(html.contains("class=\"casing line1\"") && html.contains("class=\"casing line2\""))
        #expect(html.contains("2 of 2") && html.contains("Dongle &lt;B&gt;") && !html.contains("Dongle <B>"))
    }

    @Test("a device that stood still is a point on a map of 100 m")
    func standing() throws {
        let drive = Drives.drive([
            (0, Drives.contact(.resumed)), (1, .position(try Tracks.place())), (11, .position(try Tracks.place())),
            (20, .end("quit")),
        ])
        let html = Report([drive]).html
        #expect(html.contains("class=\"map\"") && html.contains(">20 m</text>"))
        #expect(!html.contains("nan") && !html.contains("inf"))
    }

    @Test("labels in the same place do not cover each other")
    func labels() {
        // A track to the east, through the middle.
        var room = LabelRoom(ratio: 1, tracks: [[Plane.Point(x: 0, y: 500), Plane.Point(x: 1_000, y: 500)]])
        let middle = Plane.Point(x: 500, y: 500)
        let first = room.addNumber(at: middle)
        #expect(first?.width == .any && first?.offset.y == -22 && first?.offset.x == 0)
        // The next one is below the track, and a third one has only places at which it hides the track.
        #expect(room.addNumber(at: middle)?.offset.y == 22)
        // Twenty pixels of a window are fewer pixels of a phone.
        #expect(room.addNumber(at: Plane.Point(x: 535, y: 500))?.width == .wide)
        let text = room.addText("10 s", near: middle, LabelRoom.Offset(x: 0, y: -22))
        #expect(text.map { $0.x < 0 || $0.y < -22 } == true)
        #expect(room.addText("10 s", near: Plane.Point(x: 5_000, y: 500), LabelRoom.Offset(x: 0, y: 0)) == nil)
    }
}

@Suite("Tracks for other programs")
struct TrackExportTests {
    private struct Collection: Decodable {
        struct Feature: Decodable {
            struct Geometry: Decodable { var type: String }
            struct Properties: Decodable {
                var kind: String
                var rssi: Int?
                var seconds: Double?
            }
            var geometry: Geometry
            var properties: Properties
        }
        var features: [Feature]
    }

    @Test("GeoJSON has the track by its signal, each gap, each dead zone and each mark")
    func geoJSON() throws {
        let text = Report([try road()]).geoJSON
        let features = try JSONDecoder().decode(Collection.self, from: Data(text.utf8)).features
        let kinds = features.map(\.properties.kind)
        #expect(kinds.count { $0 == "gap" } == 2 && kinds.count { $0 == "deadZone" } == 2)
        #expect(features.filter { $0.properties.kind == "mark" }.map(\.geometry.type) == ["Point"])
        #expect(Set(features.compactMap(\.properties.rssi)) == [-60, -90])
        #expect(features.filter { $0.properties.kind == "gap" }.map { $0.properties.seconds?.rounded() } == [10, 4])
    }

    @Test("a track that was exported as GPX and imported again is the same")
    func gpx() throws {
        var drive = try road(name: "A & <B>")
        let text = Report([drive]).gpx
        #expect(text.contains("<name>A &amp; &lt;B&gt;</name>") && text.contains("<name>Dead zone 2</name>"))
        let points = try GPXReader.points(in: text)
        let recorded = DriveMetrics(drive).track
        drive.rows.removeAll { if case .position = $0.what { true } else { false } }
        let lines = drive.rows.map { JSONLine.text($0) }
        let track = try TrackImport(points, to: drive.header, lines)
        let again = DriveMetrics(try Drive(lines: [JSONLine.text(drive.header)] + track.lines)).track
        #expect(again.points.map(\.at) == recorded.points.map(\.at))
        #expect(again.points.map(\.position.latitude) == recorded.points.map(\.position.latitude))
    }
}
