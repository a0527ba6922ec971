// SPDX-License-Identifier: Apache-2.0

import NodeCore
import MeshProtocol
import Testing

@testable import FieldTest

@Suite("A report across the drives of a fleet")
struct FleetReportTests {
    /// A report of these drives. Its hours are those of UTC.
    private func report(_ drives: [Drive]) -> FleetReport {
        var report = FleetReport(clock: LocalClock { _ in (0, "UTC") })
        for (index, drive) in drives.enumerated() { report.add(drive, number: Int64(index + 1)) }
        return report
    }

    /// A drive with a reconnect of this many seconds, half a minute after its start.
    private func drive(
        _ back: Double, car: String = "Ana", id: Character = "a", hour: Double = 8, version: String = "0.1.0"
    ) -> Drive {
        var drive = Drives.drive([
            (0, Drives.contact(.resumed)), (1, Drives.link(-60)), (20.5, Drives.contact(.lost, silence: 0.5)),
            (30, .contact(heard)), (30 + back / 2, Drives.contact(.resumed)), (30 + back, Drives.contact(.current)),
            (100, .end("quit")),
        ])
        drive.header.peer = Peer(id: String(repeating: id, count: 32), name: car)
        drive.header.began = hour * 3_600
        drive.header.version = version
        return drive
    }

    private var heard: ContactRow {
        var row = ContactRow(.heard, Peer(id: Drives.car, name: "Car"))
        row.evidence = .sighting
        return row
    }

    @Test("reconnects are grouped by car, by hour and by version")
    func groups() {
        let report = report([
            drive(1), drive(3), drive(2, car: "Bob", id: "b", hour: 17, version: "0.2.0"),
            drive(0.5, car: "Ana", id: "c", hour: 17),
        ])
        #expect(report.byCar.map(\.word) == ["Ana (aaaaaaaa)", "Bob (bbbbbbbb)", "Ana (cccccccc)"])
        #expect(report.byCar.map(\.drives) == [2, 1, 1])
        #expect(report.byCar.map { $0.sorted.map { ($0 * 10).rounded() / 10 } } == [[1, 3], [2], [0.5]])
        #expect(report.byHour.map(\.word) == ["08:00 to 08:59", "17:00 to 17:59"])
        #expect(report.byHour.map(\.sorted.count) == [2, 2])
        #expect(report.byVersion.map(\.word) == ["0.1.0", "0.2.0"])
        #expect(report.slowest.first?.entry.number == 2)
        #expect(report.sentences.first == "4 drives of 3 cars, 6 min 40 s in all, 4 gaps.")
        #expect(report.csv.split(separator: "\r\n").count == 5)
    }

    @Test("a gap across the hour counts in the hour of its reconnect")
    func crossing() {
        let report = report([drive(1, hour: 8 + 3_585 / 3_600)])
        #expect(report.byHour.map(\.word) == ["09:00 to 09:59"])
    }

    @Test("a vote that is lost or counted twice comes first in the report")
    func verdicts() {
        #expect(report([drive(1)]).findings.first?.grade == Verdict.Grade.none)
        #expect(report([Drives.oneGap]).findings.first?.grade == .good)
        let waits = Drives.drive([
            (0, Drives.contact(.resumed)), (1, Drives.wish("s1", "queued")), (50, .end("quit")),
        ])
        let told = report([Drives.oneGap, waits])
        #expect(told.grade == .poor && told.findings[0].sentence.hasPrefix("1 wish has no answer"))
        // A vote of an interrupted drive may still have been answered.
        var cut = waits
        cut.ending = .cutOff
        #expect(report([cut]).findings[0].sentence.hasSuffix("1 more wait for the next link to their host."))
        let vote = Happening.intent(IntentRow(peer: Drives.car, intent: "vote", song: "s1", accepted: true))
        let twice = Drives.drive([(1, vote), (2, vote), (3, .end("quit"))], role: .host)
        #expect(report([twice]).findings[0].sentence == "1 vote counted twice.")
    }

    @Test("names of cars and drives are plain text on the page, and no formulas in a spreadsheet")
    func hostile() {
        var evil = drive(1, car: "<script>alert(1)</script>", version: "\"><img src=x>")
        evil.header.name = "=cmd()"
        let report = report([evil])
        #expect(!report.html.contains("<script") && !report.html.contains("<img"))
        #expect(report.csv.contains("\"'=cmd()\""))
    }

    @Test("there is a page even without drives, or without reconnects")
    func empty() {
        #expect(report([]).html.contains("</html>"))
        #expect(report([Drives.drive([(1, .end("quit"))], role: .host)]).html.contains("no reconnect to measure"))
    }
}
