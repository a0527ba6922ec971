// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import TestSupport
import Testing

@testable import Dashboard
@testable import NodeCore

@Suite("The page's contract in docs/dashboard.md")
struct ViewTests {
    static let path = "docs/dashboard.md"

    @Test("Each field of the view is in the document, and the document has no other")
    func view() throws {
        for complaint in try Self.complaints(Page(Self.path)) { Issue.record("\(complaint)") }
    }

    static func complaints(_ page: Page) throws -> [String] {
        let states = Set(NodeSamples.wishStates.map(\.name))
        let kinds = Set(Wish.Kind.allCases.map(\.rawValue))
        let view = Contract(page, sections: ["### The view"])
        let found = Contract(page, sections: ["### Found songs"])
        return view.complaints(about: ["view": try ViewSamples.all.map { try JSON($0) }])
            + view.complaints(aboutWords: [
                "view.role": Set(NodeView.Role.allCases.map(\.rawValue)),
                "view.connection": Set(NodeView.Connection.allCases.map(\.rawValue)),
                "view.radio": ["virtual", "bluez"],
                "wish.kind": kinds, "wish.state": states, "other wish.kind": kinds, "other wish.state": states,
                "guest.bearer": Set(BearerKind.allCases.map(\.rawValue)),
                "undo.kind": Set(NodeView.Undo.Kind.allCases.map(\.rawValue)),
                "notice.kind": Set(NodeView.ShownNotice.Kind.allCases.map(\.rawValue)),
            ]) + found.complaints(about: ["found": try ViewSamples.found.map { try JSON($0) }])
    }

    @Test("The notices that are banners are those in the document")
    func banners() throws {
        let page = try Page(Self.path)
        let row = try #require(
            Page.rows(page.section("#### notice")).first { $0["field"] == "`kind`" },
            "\(Self.path) lacks the field kind")
        let banners = Problem.every.map { Notice($0) }.filter { notice in
            var shown = ShownNotices()
            shown.tell(notice, now: .zero)
            return shown.current.first?.kind == .banner
        }
        let documented = Set(row["meaning"].spans).subtracting(["banner", "toast"])
        let wrong = documented.symmetricDifference(banners.map(\.code))
        #expect(wrong.isEmpty, "\(Self.path):\(row.line) is wrong about which of \(wrong.sorted()) are banners")
    }

    @Test("The fields of requests are in the document")
    func requests() throws {
        let page = try Page(Self.path)
        let row = try #require(Page.rows(page.section("## The contract")).first { $0["request"] == "`POST /api/join`" })
        let join = Dashboard.JoinRequest(key: "", name: "", pin: "", invitation: "")
        for field in Mirror(reflecting: join).children.compactMap(\.label) where !row["answer"].contains("\"\(field)\"")
        {
            Issue.record("\(Self.path):\(row.line) lacks the field \(field).")
        }
        let commands = Page.rows(page.section("### The commands of a page")).flatMap { $0["fields"].spans }
        let request = PageRequest(command: "")
        let known = Set(Mirror(reflecting: request).children.compactMap(\.label)).subtracting(["command"])
        let wrong = known.symmetricDifference(commands)
        #expect(wrong.isEmpty, "\(Self.path): the table of commands is wrong about the fields \(wrong.sorted())")
    }

    @Test("Each command of a page is in the document with its fields, and the document has no other")
    func commands() throws {
        for complaint in Self.commandComplaints(try Page(Self.path)) { Issue.record("\(complaint)") }
    }

    static func commandComplaints(_ page: Page) -> [String] {
        let users: [(NodeCommand.User, String)] = [
            (.driverPage, "host"), (.guestPage, "guest"), (.passenger, "web guest"),
        ]
        let rows = Page.rows(page.section("### The commands of a page")).filter { $0.head.first == "command" }
        let documented = rows.flatMap { row in
            CommandTests.entries(row["command"]).flatMap { words in
                row["page"].split(separator: ", ").map { Entry(words, row["fields"].spans, String($0), row.line) }
            }
        }
        let known = users.flatMap { user, name in
            CommandReader(user).commands.map {
                Entry([$0.word] + $0.aliases, fields($0.parameter), name, 0)
            }
        }
        return documented.filter { !known.contains($0) }.map {
            "\(page.path):\($0.line) has \($0.text), which the program does not have in this way."
        } + known.filter { !documented.contains($0) }.map { "\(page.path): the table of commands lacks \($0.text)." }
    }

    private struct Entry: Equatable {
        var words: [String]
        var fields: Set<String>
        var page: String
        var line: Int

        init(_ words: [String], _ fields: [String], _ page: String, _ line: Int) {
            (self.words, self.fields, self.page, self.line) = (words, Set(fields), page, line)
        }

        static func == (one: Entry, other: Entry) -> Bool {
            one.words == other.words && one.fields == other.fields && one.page == other.page
        }

        var text: String {
            "\(words.joined(separator: " or ")) (\(fields.sorted().joined(separator: ", "))) on the page of a \(page)"
        }
    }

    private static func fields(_ parameter: NodeCommand.Parameter?) -> [String] {
        switch parameter {
        case nil: []
        case .song: ["songID"]
        case .placedSong: ["songID", "position"]
        case .percent: ["percent"]
        case .place: ["seconds"]
        case .choice: ["isOn"]
        case .playlist: ["playlist"]
        case .guest, .outcast, .appointee, .driver: ["peer"]
        case .guestAndSpan: ["peer", "span"]
        case .span: ["span"]
        case .digits: ["digits"]
        case .host: ["host"]
        // A page has no such command.
        case .decibels, .group, .words, .command: ["?"]
        }
    }
}
