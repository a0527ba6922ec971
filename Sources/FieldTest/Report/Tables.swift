// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// The tables of a report.
enum Tables {
    /// Rows of what a drive comes to: a name, and its value in words.
    static func rows(_ entry: Report.Entry) -> [(name: String, value: String)] {
        let figures = entry.figures
        let votes = figures.deliveries
        let isHost = entry.drive.header.role == .host
        func time(_ seconds: Double?) -> String { seconds.map { Words.time($0) } ?? "–" }
        func trip(_ milliseconds: Double?) -> String { time(milliseconds.map { $0 / 1_000 }) }
        func strength(_ dBm: Int?) -> String { dBm.map { "\($0) dBm" } ?? "–" }
        return [
            ("Length", Words.time(figures.seconds)), ("Gaps", "\(figures.gaps.count)"),
            ("Out of reach", "\(Words.time(figures.away)), \(Words.share(figures.away, of: figures.seconds))"),
            ("Longest gap", time(figures.longestGap)), ("Back, half of the times", time(figures.reconnects.median)),
            ("Back, at worst", time(figures.reconnects.last)), ("Signal, median", strength(figures.signal.median)),
            ("Signal, weakest 5 %", strength(figures.signal.quantile(0.05))),
            ("Round trip, median", trip(figures.roundTrips.median)),
            ("Round trip, slowest 5 %", trip(figures.roundTrips.quantile(0.95))),
        ]
            + (isHost
                ? [("Wishes taken", "\(votes.received)"), ("Counted twice", "\(votes.countedTwice)")]
                : [
                    ("Cast", "\(votes.cast)"), ("Answered", "\(votes.delivered)"),
                    ("of these, not taken", "\(votes.rejected)"),
                    ("Without answer", "\(votes.waiting)"), ("Wait, median", time(votes.waits.median)),
                    ("Wait, longest", time(votes.waits.last)),
                ]) + [
                ("Sent again", "\(figures.resent)"), ("Came again, dropped", "\(figures.duplicates)"),
                ("Radio: scanning", Words.time(figures.radio.scanning)),
                ("Radio: dialling", Words.time(figures.radio.dialling)),
                ("Radio: linked", Words.time(figures.radio.linked)),
                ("Radio: advertising", Words.time(figures.radio.advertising)),
            ]
    }

    static func figures(_ entry: Report.Entry) -> String {
        let rows = rows(entry).map { "<tr><th scope=\"row\">\($0)</th><td>\(HTML.escaped($1))</td></tr>" }
        return "<h3>In numbers</h3><table class=\"figures\"><tbody>\(rows.joined())</tbody></table>"
    }

    static func marks(_ figures: DriveFigures) -> String {
        guard !figures.marks.isEmpty else { return "" }
        let rows = figures.marks.enumerated().map { index, mark in
            "<tr><th scope=\"row\">\(index + 1)</th><td>\(Words.clock(mark.at))</td>"
                + "<td>\(HTML.escaped(mark.text))</td></tr>"
        }
        return "<h4>Marks</h4><table class=\"marks\"><tbody>\(rows.joined())</tbody></table>"
    }

    static func gaps(_ figures: DriveFigures) -> String {
        guard !figures.gaps.isEmpty else { return "" }
        func time(_ seconds: Double?) -> String { seconds.map { Words.time($0) } ?? "–" }
        let rows = figures.gaps.prefix(FieldTestLimits.shownGaps).map { gap in
            "<tr><td>\(Words.clock(gap.start))</td><td>\(time(gap.length))</td><td>\(time(gap.reconnect))</td></tr>"
        }
        let others = figures.gaps.count - rows.count
        let note = others > 0 ? "<p class=\"note\">\(others) more are in the CSV and JSON forms.</p>" : ""
        return "<h3>Gaps</h3><table class=\"gaps\"><thead><tr><th scope=\"col\">At</th><th scope=\"col\">Lasted</th>"
            + "<th scope=\"col\">Back after</th></tr></thead><tbody>\(rows.joined())</tbody></table>\(note)"
    }

    /// Drives beside one another. A host's rows and a guest's differ; what only some have is a dash for the others.
    static func comparison(_ entries: [Report.Entry]) -> String {
        var names: [String] = []
        var values: [[String: String]] = []
        for entry in entries {
            let rows = rows(entry)
            for row in rows where !names.contains(row.name) { names.append(row.name) }
            values.append(Dictionary(uniqueKeysWithValues: rows))
        }
        let heads = entries.map { "<th scope=\"col\">\(HTML.escaped($0.name))</th>" }
        let grades = entries.map { "<td><b class=\"\($0.verdict.grade)\">\($0.verdict.grade.word)</b></td>" }
        let rows = names.map { name in
            "<tr><th scope=\"row\">\(name)</th>"
                + values.map { "<td>\(HTML.sentence($0[name] ?? "–"))</td>" }.joined() + "</tr>"
        }
        // More than a phone has room for is pushed aside in its own box, not the page.
        let width = 6 + 6 * entries.count
        return
            "<div class=\"scroll\"><table class=\"compare\" style=\"min-width:\(width)em\"><thead><tr><th scope=\"col\"></th>\(heads.joined())</tr></thead>"
            + "<tbody><tr><th scope=\"row\">Verdict</th>\(grades.joined())</tr>\(rows.joined())</tbody></table></div>"
    }
}
