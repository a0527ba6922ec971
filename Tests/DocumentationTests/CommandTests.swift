// SPDX-License-Identifier: Apache-2.0

import NodeCore
import Testing

@testable import TerminalUI

@Suite("The commands that docs/reference.md lists")
struct CommandTests {
    static let path = "docs/reference.md"

    /// The commands of a cell, each with its synonyms: `play`, `previous` or `back`.
    static func entries(_ cell: String) -> [[String]] {
        cell.split(separator: ", ").map { String($0).spans }.filter { !$0.isEmpty }
    }

    /// The faults of a table of typed commands.
    static func complaints(_ page: Page, _ section: String, _ user: NodeCommand.User) -> [String] {
        let rows = Page.rows(page.section(section)).filter { $0.head.first == "line" }
        var known = CommandReader(user).commands
        var complaints: [String] = []
        for row in rows {
            let spans = row["line"].spans
            guard let place = known.firstIndex(where: { spans.contains($0.usage()) }) else {
                complaints.append("\(page.path):\(row.line) lists \(row["line"]), which cannot be typed like this.")
                continue
            }
            let command = known.remove(at: place)
            // Typed text is read in lowercase.
            let words = Set([command.word] + command.aliases.filter { $0 == $0.lowercased() })
            let documented = Set(spans.compactMap { $0.split(separator: " ").first.map(String.init) })
            for word in words.symmetricDifference(documented).sorted() {
                complaints.append(
                    words.contains(word)
                        ? "\(page.path):\(row.line) lacks the word \(word) for \(command.word)."
                        : "\(page.path):\(row.line) lists the word \(word), which \(command.word) does not have.")
            }
        }
        return complaints + known.map { "\(page.path): the table in \"\(section)\" lacks the command \($0.usage())." }
    }

    @Test(
        "What can be typed at a host and at a guest",
        arguments: [("## At a host", "host"), ("## At a guest", "guest")])
    func typed(section: String, user: String) throws {
        let page = try Page(Self.path)
        for complaint in Self.complaints(page, section, user == "host" ? .host : .guest) {
            Issue.record("\(complaint)")
        }
    }

    @Test("The commands of programs for a host and a guest are in the reference")
    func programs() throws {
        for complaint in Self.programComplaints(try Page(Self.path)) { Issue.record("\(complaint)") }
    }

    /// A program's line: its words, and where it can be written.
    private struct Line: Hashable {
        var words: [String]
        var user: String
    }

    static func programComplaints(_ page: Page) -> [String] {
        let users: [(user: NodeCommand.User, name: String)] = [(.host, "host"), (.guest, "guest")]
        let rows = Page.rows(page.section("### Commands of programs")).filter { $0.head.first == "line" }
        var documented: [Line: Int] = [:]
        for row in rows {
            for words in entries(row["line"]) {
                for (_, user) in users where row["at a \(user)"].hasPrefix("yes") {
                    documented[Line(words: words, user: user)] = row.line
                }
            }
        }
        let known = Set(
            users.flatMap { user, name in
                CommandReader(user, isRecorded: true).commands.filter(\.isForPrograms).map {
                    Line(words: [$0.usage(forProgram: true)] + $0.aliases, user: name)
                }
            })
        let wrong = documented.filter { !known.contains($0.key) }.map { line, number in
            "\(page.path):\(number) lists \(line.words.joined(separator: " or ")), which a \(line.user) does not read."
        }
        let missing = known.subtracting(documented.keys).map { line in
            "\(page.path): the table of lines lacks \(line.words.joined(separator: " or ")) at a \(line.user)."
        }
        return (wrong + missing).sorted()
    }

    @Test("The answers to the digits of a pairing are in the reference")
    func pairing() throws {
        let text = try Page(Self.path).section("### Events of a pairing").map(\.text).joined(separator: "\n")
        for word in PairingReporter.programUsage.split(separator: ", ") {
            #expect(text.spans.contains(String(word)), "\(Self.path) lacks the line \(word) of a pairing")
        }
    }
}
