// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore
import Testing

@testable import FieldTest

@Suite("Tracks of GPX files")
struct GPXTests {
    private static func file(_ points: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- <trkpt lat="1" lon="1"><time>2026-11-28T09:00:00Z</time></trkpt> -->
        <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><metadata><time>2020-01-01T00:00:00Z</time></metadata>
        <wpt lat="9" lon="9"><time>2026-11-28T09:00:00Z</time></wpt>
        <trk><name><![CDATA[<trkpt lat="2" lon="2">]]></name><trkseg>\(points)</trkseg></trk></gpx>
        """
    }

    @Test("points are read in the notations of several programs, by their times")
    func notations() throws {
        let points = try GPXReader.points(
            in: Self.file(
                """
                <trkpt lon='8.25' lat = "46.5" ><ele>400</ele><time> 2026-11-28T09:00:01.5Z </time></trkpt>
                <gpx:trkpt lat="46.25" lon="8.5"><gpx:time>2026-11-28T10:00:00+01:00</gpx:time>
                <extensions><gpxtpx:speed>12.3</gpxtpx:speed></extensions></gpx:trkpt>
                <trkpt lat="46" lon="8"/><trkpt lat="146" lon="8"><time>2026-11-28T09:00:09Z</time></trkpt>
                <trkpt lat="46" lon="8"><time>yesterday</time></trkpt>
                """))
        #expect(points.map(\.time) == [1_795_856_400, 1_795_856_401.5])
        #expect(points.map(\.position.latitude) == [46.25, 46.5] && points.map(\.position.longitude) == [8.5, 8.25])
        #expect(points.map(\.position.speed) == [12.3, nil])
    }

    @Test(
        "a file without a usable track is refused with the reason",
        arguments: [
            ("", .noGPX), ("<html><trkpt lat='1' lon='1'/></html>", .noGPX), ("<gpx></gpx>", .noPoints),
            (Self.file("<trkpt lat='46' lon='8'></trkpt>"), .noTimes), ("<gpx", .noGPX), ("{}", .noGPX),
            ("<gpx><trkpt lat=\"1\" lon=\"1", .noPoints), ("<gpx><!-- ", .noPoints), ("<!", .noGPX), ("<", .noGPX),
            ("<gpx><trkpt lat= lon=><time>2026-11-28T09:00:00Z</time></trkpt>", .noPoints),
        ] as [(String, GPXProblem)])
    func refused(text: String, problem: GPXProblem) {
        #expect(throws: problem) { try GPXReader.points(in: text) }
    }

    @Test(
        "a mutated file is read or refused, and its points are on Earth and in order",
        arguments: 0..<40 as Range<UInt64>)
    func mutated(seed: UInt64) {
        let whole = Array(
            Self.file(
                """
                <trkpt lat="46.5" lon='8.25'><ele>400</ele><time>2026-11-28T09:00:01.5Z</time><speed>3</speed></trkpt>
                <trkpt lat="46.25" lon="8.5"><time>2026-11-28T10:00:00+01:00</time></trkpt><trkpt lat="1" lon="2"/>
                """
            ).utf8)
        var chances = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = String(decoding: Mutation.of(whole, using: &chances), as: UTF8.self)
            guard let points = try? GPXReader.points(in: text) else { continue }
            #expect(points.map(\.time) == points.map(\.time).sorted(), "\(text)")
            #expect(points.count <= text.split(separator: "trkpt").count, "\(text)")
            #expect(points.allSatisfy { abs($0.position.latitude) <= 90 && abs($0.position.longitude) <= 180 })
        }
    }

    @Test(
        "times are those of UTC, also in leap years and with a zone",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2024-03-01T00:00:00Z", 1_709_251_200),
            ("2026-11-28T09:00:00", 1_795_856_400), ("2026-11-28T03:30:00-05:30", 1_795_856_400),
            ("2026-13-01T00:00:00Z", nil), ("2026-11-28", nil), ("2026-11-28T09:00:00Zulu", nil),
        ] as [(String, Double?)])
    func times(text: String, seconds: Double?) {
        #expect(GPXTime.seconds(text) == seconds)
    }
}

@Suite("A track that is added to a drive")
struct TrackImportTests {
    /// A point in each half second, some before the drive and some after it. The drive begins at 1,000 and takes 40 s.
    private static func points() throws -> [GPXReader.Point] {
        try (-20...120).map {
            GPXReader.Point(time: 1_000 + Double($0) / 2, position: try Tracks.north(of: $0 * 5))
        }
    }

    private let lines = Drives.oneGap.rows.map { JSONLine.text($0) } + [#"{"at":3,"kind":"teleport"}"#, "not JSON"]

    @Test("the drive gets one position a second within its time, and keeps all of its lines")
    func added() throws {
        let track = try TrackImport(try Self.points(), to: Drives.header(), lines)
        #expect(track.count == 41 && track.lines.count == lines.count + 41)
        #expect(Set(lines).isSubset(of: track.lines))
        let drive = try Drive(lines: [JSONLine.text(Drives.header())] + track.lines)
        #expect(drive.ending == .complete && drive.seconds == 40)
        let metrics = DriveMetrics(drive)
        #expect(metrics.track.points.map(\.at) == (0...40).map(Double.init))
        #expect(metrics.gaps == DriveMetrics(Drives.oneGap).gaps)
        let middle = try #require(metrics.track.position(at: 25.5))
        #expect(middle.distance(to: try Tracks.north(of: 255)) < 0.5)
    }

    @Test("a track of another time is refused with both times, and fits if it is shifted")
    func shifted() throws {
        let late = try Self.points().map { GPXReader.Point(time: $0.time + 3_600, position: $0.position) }
        #expect(throws: TrackImport.Problem.otherTime(drive: 1_000...1_040, track: 4_590...4_660)) {
            try TrackImport(late, to: Drives.header(), lines)
        }
        #expect(try TrackImport(late, to: Drives.header(), lines, shift: -3_600).count == 41)
    }

    @Test("a drive with a track keeps it, unless it is replaced")
    func replaced() throws {
        let first = try TrackImport(try Self.points(), to: Drives.header(), lines)
        #expect(throws: TrackImport.Problem.hasTrack) {
            try TrackImport(try Self.points(), to: Drives.header(), first.lines)
        }
        let second = try TrackImport(try Self.points(), to: Drives.header(), first.lines, replaces: true)
        #expect(second.lines == first.lines)
    }
}
