// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NodeCore

/// A report on one drive, or on several next to each other.
public struct Report: Sendable {
    /// A drive with its metrics.
    struct Entry: Sendable {
        let drive: Drive
        let metrics: DriveMetrics
        let verdict: Verdict

        init(_ drive: Drive) {
            self.drive = drive
            metrics = DriveMetrics(drive)
            verdict = Verdict(drive, metrics)
        }

        var name: String { drive.header.name.isEmpty ? "A drive" : drive.header.name }
    }

    let entries: [Entry]
    /// Where links got lost, over all drives.
    let zones: [DeadZone]
    private let clock: LocalClock

    /// A report on these drives, in this order.
    public init(_ drives: [Drive]) { self.init(drives, clock: .device) }

    init(_ drives: [Drive], clock: LocalClock) {
        entries = drives.map { Entry($0) }
        zones = DeadZoneFinder.zones(entries.map(\.metrics))
        self.clock = clock
    }

    /// The verdicts, for a terminal.
    public var sentences: [String] {
        entries.flatMap { entry in
            ["\(entry.name): \(entry.verdict.sentence)"]
                + entry.verdict.findings.map { finding in
                    "  \(finding.grade.word). \(finding.sentence)\(finding.advice.map { " " + $0 } ?? "")"
                }
        } + (entries.count > 1 ? [Comparison(entries: entries).sentence] : [])
            + ZoneTable.sentences(zones, drives: entries.count)
    }

    /// A map of all drives with a track; nil without any.
    private var map: String? {
        TrackMap(entries.map { ($0.name, $0.metrics) }, zones)?.html
    }

    // MARK: The page

    /// One page without other files: no script, picture, font or network access.
    public var html: String {
        let title = entries.map(\.name).joined(separator: " and ")
        let most = entries.flatMap { Plots.counts($0.metrics.reconnects) }.max() ?? 1
        let sections = entries.map { section($0, most) }.joined(separator: "\n")
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(HTML.escaped(title)) – RoadMesh field test</title>
            <style>\(Style.sheet)</style>
            </head>
            <body>
            <main>
            <h1>\(entries.count > 1 ? "\(entries.count) drives compared" : "A drive")</h1>
            \(entries.count > 1 ? comparison : "")\(sections)
            <p class="about">Made by roadmesh \(RoadMeshVersion.text). What each figure means is in docs/fieldtest.md.</p>
            </main>
            </body>
            </html>

            """
    }

    private func section(_ entry: Entry, _ mostReconnects: Int) -> String {
        let plots = Plots(metrics: entry.metrics, mostReconnects: mostReconnects)
        return """
            <section class="drive">
            <h2>\(HTML.escaped(entry.name))</h2>
            <p class="about">\(HTML.escaped(about(entry)))</p>
            \(verdict(entry.verdict))
            \(entries.count > 1 ? "" : mapSection)            <h3>Signal, and gaps</h3>
            \(plots.signal)
            \(Tables.marks(entry.metrics))
            <h3>How long reconnects took</h3>
            \(plots.reconnects)
            \(plots.hops(entry.drive.header.role))<h3>\(entry.drive.header.role == .host ? "Votes and suggestions that the host accepted" : "Votes and suggestions: cast and answered")</h3>
            \(plots.deliveries)
            \(entries.count > 1 ? "" : Tables.figures(entry))
            \(Tables.gaps(entry.metrics, entry.drive.packets))
            </section>
            """
    }

    private func about(_ entry: Entry) -> String {
        let header = entry.drive.header
        let began = clock.minuteAndZone(header.began)
        let ending =
            switch entry.drive.ending {
            case .complete: ""
            case .cutOff: " The recording was cut off."
            case .underWay: " It is still being recorded."
            }
        let origin = header.origin.map { " \($0)" } ?? ""
        return "\(header.peer.name), \(header.role.rawValue), on \(header.radio). Recorded on \(began), for "
            + "\(Format.time(entry.metrics.seconds)).\(ending)\(origin)"
    }

    private func verdict(_ verdict: Verdict) -> String {
        let findings = verdict.findings.map { finding in
            "<li><b class=\"\(finding.grade)\">\(finding.grade.word).</b> \(HTML.sentence(finding.sentence))"
                + (finding.advice.map { " <span class=\"advice\">\(HTML.sentence($0))</span>" } ?? "") + "</li>"
        }
        return "<div class=\"verdict \(verdict.grade)\"><p>\(HTML.sentence(verdict.sentence))</p>"
            + "<ul>\(findings.joined())</ul></div>"
    }

    private var comparison: String {
        "<p>\(HTML.sentence(Comparison(entries: entries).sentence))</p>\n\(mapSection)" + Tables.comparison(entries)
            + "\n"
    }

    private var mapSection: String { map.map { "<h3>Map</h3>\n\($0)\n" } ?? "" }
}
