// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The tables of a report.
enum Tables {
    /// Rows of a drive's metrics: a name, and its value in words.
    static func rows(_ entry: Report.Entry) -> [(name: String, value: String)] {
        let metrics = entry.metrics
        let votes = metrics.deliveries
        let isHost = entry.drive.header.role == .host
        func time(_ seconds: Double?) -> String { seconds.map { Format.time($0) } ?? "–" }
        func trip(_ milliseconds: Double?) -> String { time(milliseconds.map { $0 / 1_000 }) }
        func strength(_ dBm: Int?) -> String { dBm.map { "\($0) dBm" } ?? "–" }
        return [
            ("Length", Format.time(metrics.seconds)), ("Gaps", "\(metrics.gaps.count)"),
            ("Out of range", "\(Format.time(metrics.away)), \(Format.share(metrics.awayShare, of: 1))"),
            ("Longest gap", time(metrics.longestGap)), ("Reconnect, median", time(metrics.reconnects.median)),
            ("Reconnect, slowest", time(metrics.reconnects.last)), ("Signal, median", strength(metrics.signal.median)),
            ("Signal, weakest 5 %", strength(metrics.signal.quantile(0.05))),
            ("Round trip, median", trip(metrics.roundTrips.median)),
            ("Round trip, slowest 5 %", trip(metrics.roundTrips.quantile(0.95))),
        ]
            + (isHost
                ? [("Wishes accepted", "\(votes.received)"), ("Counted twice", "\(votes.countedTwice)")]
                : [
                    ("Cast", "\(votes.cast)"), ("Answered", "\(votes.delivered)"),
                    ("of these, rejected", "\(votes.rejected)"),
                    ("Without answer", "\(votes.waiting)"), ("Wait, median", time(votes.waits.median)),
                    ("Wait, longest", time(votes.waits.last)),
                ]) + ways(metrics) + [
                ("Sent again", "\(metrics.resent)"), ("Came again, dropped", "\(metrics.duplicates)"),
                ("Radio: scanning", Format.time(metrics.radio.scanning)),
                ("Radio: dialling", Format.time(metrics.radio.dialling)),
                ("Radio: linked", Format.time(metrics.radio.linked)),
                ("Radio: advertising", Format.time(metrics.radio.advertising)),
            ] + load(metrics.load)
    }

    /// The average load of the program; empty if the recording does not say.
    private static func load(_ rate: LoadRate?) -> [(name: String, value: String)] {
        rate.map { [("Wake-ups a second", $0.wakeUpsText), ("Processor", $0.processorText)] } ?? []
    }

    /// Linked time by number of relays; empty without relays.
    private static func ways(_ metrics: DriveMetrics) -> [(name: String, value: String)] {
        guard metrics.hops.hasRelays else { return [] }
        return metrics.hops.byHops.map { hops, seconds in
            let share = Format.share(seconds, of: metrics.hops.linked)
            return ("Linked \(Format.way(hops))", "\(Format.time(seconds)), \(share)")
        }
    }

    static func figures(_ entry: Report.Entry) -> String {
        let rows = rows(entry).map { "<tr><th scope=\"row\">\($0)</th><td>\(HTML.escaped($1))</td></tr>" }
        return "<h3>In numbers</h3><table class=\"figures\"><tbody>\(rows.joined())</tbody></table>"
    }

    static func marks(_ metrics: DriveMetrics) -> String {
        guard !metrics.marks.isEmpty else { return "" }
        let rows = metrics.marks.enumerated().map { index, mark in
            "<tr><th scope=\"row\">\(index + 1)</th><td>\(Format.clock(mark.at))</td>"
                + "<td>\(HTML.escaped(mark.text))</td></tr>"
        }
        return "<h4>Marks</h4><table class=\"marks\"><tbody>\(rows.joined())</tbody></table>"
    }

    static func gaps(_ metrics: DriveMetrics, _ packets: [PacketFile]) -> String {
        guard !metrics.gaps.isEmpty else { return "" }
        func time(_ seconds: Double?) -> String { seconds.map { Format.time($0) } ?? "–" }
        let rows = metrics.gaps.prefix(FieldTestLimits.shownGaps).map { gap in
            let links = packets.isEmpty ? "" : "<td>\(Self.links(GapPackets(gap, in: packets)))</td>"
            return "<tr><td>\(Format.clock(gap.start))</td><td>\(time(gap.length))</td>"
                + "<td>\(time(gap.reconnect))</td>\(links)</tr>"
        }
        let others = metrics.gaps.count - rows.count
        let note = others > 0 ? "<p class=\"note\">\(others) more are in the CSV and JSON forms.</p>" : ""
        return "<h3>Gaps</h3><table class=\"gaps\"><thead><tr><th scope=\"col\">At</th><th scope=\"col\">Lasted</th>"
            + "<th scope=\"col\">Back after</th>\(packets.isEmpty ? "" : "<th scope=\"col\">Packets</th>")</tr></thead><tbody>\(rows.joined())</tbody></table>\(note)"
    }

    /// Links to the files of a gap, in the state folder of this device.
    private static func links(_ packets: GapPackets) -> String {
        let links = [("loss", packets.loss), ("return", packets.back)].compactMap { name, file in
            file.map { "<a href=\"\(HTML.escaped(URL(filePath: $0.path).absoluteString))\">\(name)</a>" }
        }
        return links.isEmpty ? "–" : links.joined(separator: ", ")
    }

    /// A table of several drives. A host's rows and a guest's differ, and a missing value is a dash.
    static func comparison(_ entries: [Report.Entry]) -> String {
        var names: [String] = []
        var values: [[String: String]] = []
        for entry in entries {
            // Drives of two dongles or two versions are compared by their names here.
            let header = entry.drive.header
            let rows =
                [("Radio", header.radio), ("RoadMesh", header.version)].map { (name: $0.0, value: $0.1) } + rows(entry)
            for row in rows where !names.contains(row.name) { names.append(row.name) }
            values.append(Dictionary(uniqueKeysWithValues: rows))
        }
        let heads = entries.map { "<th scope=\"col\">\(HTML.escaped($0.name))</th>" }
        let grades = entries.map { "<td><b class=\"\($0.verdict.grade)\">\($0.verdict.grade.word)</b></td>" }
        let rows = names.map { name in
            "<tr><th scope=\"row\">\(name)</th>"
                + values.map { "<td>\(HTML.sentence($0[name] ?? "–"))</td>" }.joined() + "</tr>"
        }
        // A table that is wider than a phone scrolls separately from the page.
        let width = 6 + 6 * entries.count
        return
            "<div class=\"scroll\"><table class=\"compare\" style=\"min-width:\(width)em\"><thead><tr><th scope=\"col\"></th>\(heads.joined())</tr></thead>"
            + "<tbody><tr><th scope=\"row\">Verdict</th>\(grades.joined())</tr>\(rows.joined())</tbody></table></div>"
    }
}
