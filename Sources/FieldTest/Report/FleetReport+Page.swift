// SPDX-License-Identifier: Apache-2.0

import NodeCore

// The page: one file without others, like the page of a drive.
extension FleetReport {
    /// The page.
    public var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>A fleet – RoadMesh field test</title>
        <style>\(Style.sheet)</style>
        </head>
        <body>
        <main>
        <h1>A fleet</h1>
        <p class="about">\(HTML.sentence(summary)).\(span)</p>
        \(verdict)
        <h2>How soon they were back</h2>
        <p class="note">The time from the end of a gap, when the other side was in range again, until everything was as \
        before. Hosts do not know it, and have a dash.</p>
        \(distribution)
        \(times("By car", "Car", byCar))
        \(times("By hour of the day (\(zone))", "Hour", byHour))
        \(times("By version", "Version", byVersion))
        \(slowestTable)
        <h2>The drives</h2>
        <p class="note">All times are in the time zone of the device that made this page.</p>
        \(drivesTable)
        <p class="about">Made by roadmesh \(RoadMeshVersion.text). What each figure means is in docs/fieldtest.md.</p>
        </main>
        </body>
        </html>

        """
    }

    private var span: String {
        let began = entries.map(\.header.began)
        guard let first = began.min(), let last = began.max() else { return "" }
        return " From \(clock.minuteAndZone(first)) to \(clock.minuteAndZone(last))."
    }

    private var verdict: String {
        let findings = findings.map { finding in
            "<li><b class=\"\(finding.grade)\">\(finding.grade.word).</b> \(HTML.sentence(finding.sentence))"
                + (finding.advice.map { " <span class=\"advice\">\(HTML.sentence($0))</span>" } ?? "") + "</li>"
        }
        return "<div class=\"verdict \(grade)\"><ul>\(findings.joined())</ul></div>"
    }

    private var distribution: String {
        let backs = backs
        guard !backs.isEmpty else { return "<p class=\"note\">There was no reconnect to measure.</p>" }
        return Plots.distribution(backs, most: Plots.counts(backs).max() ?? 1)
    }

    private static func time(_ seconds: Double?) -> String { seconds.map { Format.time($0) } ?? "–" }

    private func times(_ title: String, _ head: String, _ rows: [Times]) -> String {
        guard !rows.isEmpty else { return "" }
        let body = rows.prefix(FieldTestLimits.fleetRows).map { row in
            "<tr><th scope=\"row\">\(HTML.escaped(row.word))</th>"
                + Self.cells([
                    "\(row.drives)", "\(row.sorted.count)", Self.time(row.median), Self.time(row.slow),
                    Self.time(row.worst),
                ]) + "</tr>"
        }
        return "<h3>\(HTML.escaped(title))</h3>"
            + Self.table([head, "Drives", "Times", "Median", "95 %", "Worst"], body)
            + Self.others(rows.count - body.count)
    }

    private var slowestTable: String {
        let rows = slowest.map { entry, back in
            "<tr><th scope=\"row\">\(HTML.escaped(entry.car))</th>"
                + Self.cells([
                    Self.time(back.seconds), Self.time(back.gap), clock.minute(back.at), "\(entry.number)",
                    HTML.escaped(entry.header.version),
                ]) + "</tr>"
        }
        guard !rows.isEmpty else { return "" }
        return "<h3>The slowest</h3>"
            + Self.table(["Car", "Back after", "Gap", "When", "Drive", "Version"], rows)
    }

    private var drivesTable: String {
        let newest = entries.sorted { ($1.header.began, $1.number) < ($0.header.began, $0.number) }
        let rows = newest.prefix(FieldTestLimits.fleetDrivesShown).map { entry in
            "<tr><th scope=\"row\">\(entry.number) \(HTML.escaped(entry.header.name))</th>"
                + Self.cells([
                    HTML.escaped(entry.car), entry.header.role.rawValue, clock.minute(entry.header.began),
                    HTML.escaped(Self.length(entry)), "\(entry.gaps)",
                    Self.time(entry.backs.map(\.seconds).sorted().median), Self.votes(entry),
                    "<b class=\"\(entry.grade)\">\(entry.grade.word)</b>",
                ]) + "</tr>"
        }
        return Self.table(
            ["Drive", "Car", "Role", "Began", "Length", "Gaps", "Back", "Votes", "Verdict"], Array(rows))
            + Self.others(entries.count - rows.count)
    }

    private static func length(_ entry: Entry) -> String {
        let ending =
            switch entry.ending {
            case .complete: ""
            case .cutOff: ", cut off"
            case .underWay: ", goes on"
            }
        return Format.time(entry.seconds) + ending
    }

    /// The results of a drive's votes, in few words.
    static func votes(_ entry: Entry) -> String {
        let votes = entry.deliveries
        if entry.header.role == .host {
            return votes.countedTwice > 0 ? "\(votes.countedTwice) twice" : "\(votes.received) taken"
        }
        let answered = "\(votes.delivered) of \(votes.cast)"
        return entry.isLost ? "\(answered), \(votes.waiting) lost" : answered
    }

    private static func cells(_ texts: [String]) -> String { texts.map { "<td>\($0)</td>" }.joined() }

    /// A table that is wider than a phone scrolls separately from the page.
    private static func table(_ heads: [String], _ rows: [String]) -> String {
        let head = heads.map { "<th scope=\"col\">\(HTML.escaped($0))</th>" }.joined()
        return "<div class=\"scroll\"><table class=\"gaps\"><thead><tr>\(head)</tr></thead>"
            + "<tbody>\(rows.joined())</tbody></table></div>"
    }

    private static func others(_ count: Int) -> String {
        count > 0 ? "<p class=\"note\">\(count) more are in the CSV and JSON forms.</p>" : ""
    }
}

// For programs: JSON with all figures, and the reconnects for a spreadsheet.
extension FleetReport {
    private struct TimesData: Encodable {
        var of: String
        var drives: Int
        var times: Int
        var median: Double?
        var slow95: Double?
        var worst: Double?

        init(_ times: Times) {
            (of, drives, self.times) = (times.word, times.drives, times.sorted.count)
            (median, slow95, worst) = (times.median, times.slow, times.worst)
        }
    }

    private struct DriveData: Encodable {
        var drive: Int64
        var header: DriveHeader
        var ending: Drive.Ending
        var seconds: Double
        var grade: Verdict.Grade
        var gaps: Int
        var awaySeconds: Double
        var reconnectSeconds: [Double]
        var cast: Int
        var answered: Int
        var waiting: Int
        var isLost: Bool
        var received: Int
        var countedTwice: Int
        var missingRows: Int
    }

    private struct Everything: Encodable {
        var grade: Verdict.Grade
        var findings: [Verdict.Finding]
        var zone: String
        var all: TimesData
        var byCar: [TimesData]
        var byHour: [TimesData]
        var byVersion: [TimesData]
        var drives: [DriveData]
    }

    /// The figures as one JSON object.
    public var json: String {
        let all = Times(word: "all", drives: entries.count, sorted: backs)
        let everything = Everything(
            grade: grade, findings: findings, zone: zone, all: TimesData(all), byCar: byCar.map { TimesData($0) },
            byHour: byHour.map { TimesData($0) }, byVersion: byVersion.map { TimesData($0) },
            drives: entries.map(Self.data))
        return JSONLine.text(everything, isWide: true) + "\n"
    }

    private static func data(_ entry: Entry) -> DriveData {
        let votes = entry.deliveries
        return DriveData(
            drive: entry.number, header: entry.header, ending: entry.ending, seconds: entry.seconds, grade: entry.grade,
            gaps: entry.gaps, awaySeconds: entry.away, reconnectSeconds: entry.backs.map(\.seconds), cast: votes.cast,
            answered: votes.delivered, waiting: votes.waiting, isLost: entry.isLost, received: votes.received,
            countedTwice: votes.countedTwice, missingRows: entry.missing)
    }

    /// The reconnects of all drives, one per line.
    public var csv: String {
        let head = "drive,name,car,id,version,role,at,gap,reconnect"
        let lines = entries.flatMap { entry in
            entry.backs.map { back in
                [
                    "\(entry.number)", Report.field(entry.header.name), Report.field(entry.header.peer.name),
                    Report.field(entry.header.peer.id), Report.field(entry.header.version), entry.header.role.rawValue,
                    Format.number(back.at, digits: 3), Format.number(back.gap, digits: 4),
                    Format.number(back.seconds, digits: 4),
                ].joined(separator: ",")
            }
        }
        return ([head] + lines).joined(separator: "\r\n") + "\r\n"
    }
}
