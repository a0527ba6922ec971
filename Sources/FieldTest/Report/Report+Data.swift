// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshNode
import MeshProtocol

// A report for programs: JSON with everything, and the gaps for a spreadsheet.
extension Report {
    /// The figures as one JSON object.
    public var json: String {
        JSONLine.text(ReportData(drives: entries.map { DriveData($0) }), isWide: true) + "\n"
    }

    /// The gaps of all drives, a line each.
    public var csv: String {
        let head = "drive,peer,start,lost,inReach,heard,dialled,resumed,current,length,reconnect"
        let lines = entries.flatMap { entry in
            entry.figures.gaps.map { gap in
                let times = [
                    gap.start, gap.lost, gap.inReach, gap.heard, gap.dialled, gap.resumed, gap.current, gap.length,
                    gap.reconnect,
                ]
                return
                    ([Self.field(entry.name), Self.field(entry.figures.names[gap.peer] ?? gap.peer)]
                    + times.map { $0.map { Words.number($0, digits: 4) } ?? "" }).joined(separator: ",")
            }
        }
        return ([head] + lines).joined(separator: "\r\n") + "\r\n"
    }

    /// Text as a field. What a spreadsheet would take for a formula is told apart by an apostrophe.
    static func field(_ text: String) -> String {
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        return "\"" + ((isFormula ? "'" : "") + text).replacing("\"", with: "\"\"") + "\""
    }
}

private struct ReportData: Encodable {
    var drives: [DriveData]
}

private struct DriveData: Encodable {
    struct FindingData: Encodable {
        var grade: String
        var sentence: String
        var advice: String?
    }

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

    var header: DriveHeader
    var ending: Drive.Ending
    var seconds: Double
    var grade: String
    var findings: [FindingData]
    var gaps: [Gap]
    var awaySeconds: Double
    var reconnectSeconds: Quantiles<Double>?
    var rssi: Quantiles<Int>?
    var roundTripMilliseconds: Quantiles<Double>?
    var deliveries: Deliveries
    var waiting: Int
    var resent: Int
    var duplicates: Int
    var radioSeconds: DriveFigures.RadioTime
    var marks: [DriveFigures.Mark]
    var missingRows: Int

    init(_ entry: Report.Entry) {
        let figures = entry.figures
        header = entry.drive.header
        ending = entry.drive.ending
        seconds = figures.seconds
        grade = "\(entry.verdict.grade)"
        findings = entry.verdict.findings.map {
            FindingData(grade: "\($0.grade)", sentence: $0.sentence, advice: $0.advice)
        }
        gaps = figures.gaps
        awaySeconds = figures.away
        reconnectSeconds = Quantiles(figures.reconnects)
        rssi = Quantiles(figures.signal)
        roundTripMilliseconds = Quantiles(figures.roundTrips)
        deliveries = figures.deliveries
        waiting = figures.deliveries.waiting
        resent = figures.resent
        duplicates = figures.duplicates
        radioSeconds = figures.radio
        marks = figures.marks
        missingRows = figures.missing
    }
}
