// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A document as lines.
struct Page {
    /// A line with its number.
    struct Line {
        var number: Int
        var text: String
    }

    /// A row of a table: its cells by the names in the table's head.
    struct Row {
        var line: Int
        var head: [String]
        var cells: [String]

        /// The cell of a column. Empty if the table has no such column.
        subscript(column: String) -> String {
            head.firstIndex(of: column).map { $0 < cells.count ? cells[$0] : "" } ?? ""
        }
    }

    /// The path in the repository.
    var path: String
    /// All lines.
    var lines: [Line]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A document of the repository.
    init(_ path: String) throws {
        let data = try Data(contentsOf: Self.root.appending(path: path))
        self.init(path, text: String(decoding: data, as: UTF8.self))
    }

    init(_ path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            Line(number: $0.offset + 1, text: String($0.element))
        }
    }

    /// The document with one change, to test its readers. The change is within a line.
    func changing(_ old: String, to new: String) throws -> Page {
        var page = self
        let place = try #require(
            lines.firstIndex { $0.text.range(of: old) != nil },
            "\(path) no longer has \(old): name something that it has")
        page.lines[place].text = lines[place].text.replacingOccurrences(of: old, with: new)
        return page
    }

    // MARK: Sections

    /// The lines below a heading, until the next one of its level or above.
    func section(_ heading: String) -> [Line] {
        let level = heading.prefix { $0 == "#" }.count
        guard let start = lines.firstIndex(where: { $0.text == heading }) else { return [] }
        let rest = lines[(start + 1)...]
        return Array(rest.prefix { line in !(1...level).contains(Self.level(of: line.text)) })
    }

    /// The headings of a level in a section, each with the lines below it until the next heading.
    static func parts(of section: [Line], level: Int) -> [(heading: Line, lines: [Line])] {
        var parts: [(heading: Line, lines: [Line])] = []
        var isOpen = false
        for line in section {
            let here = Self.level(of: line.text)
            if here > 0 { isOpen = here == level }
            if here == level {
                parts.append((line, []))
            } else if isOpen {
                parts[parts.count - 1].lines.append(line)
            }
        }
        return parts
    }

    private static func level(of text: String) -> Int {
        let marks = text.prefix { $0 == "#" }.count
        return marks > 0 && text.dropFirst(marks).first == " " ? marks : 0
    }

    // MARK: Tables

    /// The rows of the tables in these lines.
    static func rows(_ lines: [Line]) -> [Row] {
        var rows: [Row] = []
        var head: [String]?
        for line in lines {
            guard line.text.hasPrefix("|") else {
                head = nil
                continue
            }
            let cells = Self.cells(line.text)
            guard let known = head else {
                head = cells
                continue
            }
            guard !line.text.allSatisfy({ "|-: ".contains($0) }) else { continue }
            rows.append(Row(line: line.number, head: known, cells: cells))
        }
        return rows
    }

    /// The cells of a line. A bar in a cell is written as `\|`.
    private static func cells(_ line: String) -> [String] {
        var cells = [""]
        var isEscaped = false
        for character in line.dropFirst() {
            switch character {
            case "\\" where !isEscaped: isEscaped = true
            case "|" where !isEscaped: cells.append("")
            default:
                if isEscaped, character != "|" { cells[cells.count - 1].append("\\") }
                cells[cells.count - 1].append(character)
                isEscaped = false
            }
        }
        return cells.dropLast().map { $0.trimmed }
    }

    /// The lines of the code blocks of a language.
    static func code(_ language: String, in lines: [Line]) -> [Line] {
        var found: [Line] = []
        var isOpen = false
        for line in lines {
            if line.text.hasPrefix("```") {
                isOpen = !isOpen && line.text == "```\(language)"
            } else if isOpen {
                found.append(line)
            }
        }
        return found
    }
}

extension String {
    /// Without the spaces around it.
    var trimmed: String {
        var rest = self[...]
        while rest.first == " " { rest = rest.dropFirst() }
        while rest.last == " " { rest = rest.dropLast() }
        return String(rest)
    }

    /// The texts in backticks.
    var spans: [String] {
        let parts = split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 && $0 < parts.count - 1 }.map { String(parts[$0]) }
    }

    /// The text before this suffix. Nil if it has another end.
    func without(suffix: String) -> String? { hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil }
}
