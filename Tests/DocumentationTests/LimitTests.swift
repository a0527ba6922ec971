// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The limits in documents")
struct LimitTests {
    /// The page with all limits.
    static let path = "docs/limits.md"

    /// The expected text of the page.
    static func text() throws -> String {
        var text = """
            # All limits

            This page is for people who look for a limit and its reason. Each limit of the program is a constant with a reason. For example,
            `nameBytes` is the greatest length of a name. The page lists all limits, by module. It is made from the sources:
            `WRITE_LIMITS=1 swift test --filter LimitTests` writes it anew, and a test fails where it differs from the program.

            [protocol.md](protocol.md#limits), [dashboard.md](dashboard.md#limits), [library.md](library.md#limits),
            [fieldtest.md](fieldtest.md#limits) and [reference.md](reference.md#cover-art) say what happens at a limit that other nodes or people
            can reach.

            """
        for table in LimitTable.all {
            let values = Dictionary(table.entries.map { ($0.name, $0.text) }) { first, _ in first }
            text += "\n## \(table.type)\n\nIn `\(table.path)`.\n"
            var part: String?
            for source in try table.sources() {
                if source.part != part {
                    part = source.part
                    text +=
                        (source.part.isEmpty ? "" : "\n### \(source.part)\n")
                        + "\n| limit | value | reason |\n|---|---|---|\n"
                }
                let reason = source.reason.replacingOccurrences(of: "|", with: "\\|")
                text += "| `\(source.name)` | \(values[source.name] ?? "?") | \(reason) |\n"
            }
        }
        return text
    }

    /// The faults of the page of all limits.
    static func complaints(_ page: Page) throws -> [String] {
        let wanted = Page(path, text: try text())
        if page.lines.map(\.text) == wanted.lines.map(\.text) { return [] }
        var complaints: [String] = []
        for table in LimitTable.all {
            let heading = "## \(table.type)"
            let rows = Page.rows(page.section(heading))
            for right in Page.rows(wanted.section(heading)) {
                let name = "\(table.type).\(right["limit"].spans.first ?? "")"
                guard let row = rows.first(where: { $0["limit"] == right["limit"] }) else {
                    complaints.append("\(path) lacks \(name).")
                    continue
                }
                if row["value"] != right["value"] {
                    complaints.append("\(path):\(row.line) gives \(name) as \(row["value"]); it is \(right["value"]).")
                }
                if row["reason"] != right["reason"] {
                    complaints.append("\(path):\(row.line) gives another reason for \(name) than \(table.path).")
                }
            }
            for row in rows where !Page.rows(wanted.section(heading)).contains(where: { $0["limit"] == row["limit"] }) {
                complaints.append("\(path):\(row.line) lists \(row["limit"]), which \(table.type) does not have.")
            }
        }
        return complaints + [
            "\(path) differs from the sources. Write it again: WRITE_LIMITS=1 swift test --filter LimitTests"
        ]
    }

    @Test("The page of all limits has each of them with its value and reason")
    func page() throws {
        if ProcessInfo.processInfo.environment["WRITE_LIMITS"] != nil {
            try Self.text().write(to: Page.root.appending(path: Self.path), atomically: true, encoding: .utf8)
        }
        for complaint in try Self.complaints(Page(Self.path)) { Issue.record("\(complaint)") }
    }

    @Test("Each limit of a file is in the list of this test, and has a reason", arguments: LimitTable.all.indices)
    func listed(index: Int) throws {
        let table = LimitTable.all[index]
        let names = Set(table.entries.map(\.name))
        for source in try table.sources() {
            if !names.contains(source.name) {
                Issue.record(
                    """
                    \(table.path):\(source.line) has the limit \(source.name). Add it to \(table.type) in LimitValues.swift or \
                    MoreLimitValues.swift: .init("\(source.name)", \(table.type).\(source.name)),
                    """)
            }
            if source.reason.isEmpty { Issue.record("\(table.path):\(source.line) gives \(source.name) no reason.") }
        }
        #expect(try table.sources().count == table.entries.count)
    }

    // MARK: Limits in other documents

    private static let known: [String: LimitTable.Entry] = Dictionary(
        LimitTable.all.flatMap { table in table.entries.map { ("\(table.type).\($0.name)", $0) } }
    ) { first, _ in first }

    /// Tables with a column `constant`: each number of the second column is the value of a constant in the row, and
    /// each constant of the row has its value there. Rows without a constant have a word in that column.
    static func complaintsAboutTables(_ page: Page) -> [String] {
        var complaints: [String] = []
        for row in Page.rows(page.lines) where row.head.last == "constant" {
            let place = "\(page.path):\(row.line)"
            let names = row["constant"].spans
            if names.isEmpty, row["constant"].isEmpty { complaints.append("\(place) names no constant.") }
            var limits: [LimitTable.Entry] = []
            for name in names {
                guard let limit = known[name] else {
                    complaints.append("\(place) names \(name), which is not a limit of the program.")
                    continue
                }
                limits.append(limit)
            }
            guard limits.count == names.count, !names.isEmpty else { continue }
            let quantities = Set(limits.flatMap(\.quantities))
            for number in Quantity.written(in: row.cells[1]) where !number.readings.contains(where: quantities.contains)
            {
                let values = zip(names, limits).map { "\($0) is \($1.text)" }.joined(separator: ", ")
                complaints.append("\(place) has the limit \(number.text), which is none of its constants: \(values).")
            }
            let written = Set(row.cells.dropLast().flatMap { Quantity.written(in: $0) }.flatMap(\.readings))
            for (name, limit) in zip(names, limits) where !limit.quantities.contains(where: written.contains) {
                complaints.append("\(place) names \(name) and does not state its value, \(limit.text).")
            }
        }
        return complaints
    }

    /// Paragraphs with a comment `<!-- Limits.guests -->` on or after their last line contain the value of each
    /// constant in it.
    static func complaintsAboutParagraphs(_ page: Page) -> [String] {
        var complaints: [String] = []
        var paragraph = ""
        for line in page.lines {
            guard line.text.hasPrefix("<!-- limits: "), let names = line.text.without(suffix: " -->") else {
                paragraph = line.text.isEmpty ? "" : paragraph + " " + line.text
                continue
            }
            // Prose contains the word bytes once, if at all.
            let readings = Quantity.written(in: paragraph, words: true).flatMap(\.readings)
            let written = Set(readings + readings.filter { $0.kind == .plain }.map { Quantity($0.number, .bytes) })
            for name in names.dropFirst("<!-- limits: ".count).split(separator: ", ").map(String.init) {
                guard let limit = known[name] else {
                    complaints.append("\(page.path):\(line.number) names \(name), which is not a limit of the program.")
                    continue
                }
                if !limit.quantities.contains(where: written.contains) {
                    complaints.append(
                        "\(page.path):\(line.number): the paragraph above does not state \(name), which is \(limit.text)."
                    )
                }
            }
        }
        return complaints
    }

    /// Documents with limits.
    static let pages = [
        "protocol", "dashboard", "library", "using", "reference", "fieldtest", "player", "phones", "threat-model",
    ].map { "docs/\($0).md" }

    @Test("Each limit that a document states is the program's", arguments: pages)
    func stated(path: String) throws {
        let page = try Page(path)
        for complaint in Self.complaintsAboutTables(page) + Self.complaintsAboutParagraphs(page) {
            Issue.record("\(complaint)")
        }
    }
}
