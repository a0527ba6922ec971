// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@Suite("The table of notices")
struct NoticeTableTests {
    /// A notice in the form of `docs/reference.md`.
    static func row(_ notice: Notice) -> String {
        let code = notice.cause.map { "`\(notice.code)`, `\($0)`" } ?? "`\(notice.code)`"
        let button = notice.button ?? notice.followUp.map { "\($0.button), after 10 s" } ?? ""
        let cells = [code, notice.message, notice.suggestion ?? "", button, notice.critical ? "stays" : "goes"]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    @Test("the reference has every notice with its texts, and no other")
    func complete() throws {
        let reference = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../../docs/reference.md"
        let text = String(decoding: try Data(contentsOf: URL(filePath: reference)), as: UTF8.self)
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Notices\n") })
        let written = section.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
        let told = Problem.every.map { Self.row(Notice($0)) }
        for row in Set(told).subtracting(written).sorted() { Issue.record("docs/reference.md lacks:\n\(row)") }
        for row in Set(written).subtracting(told).sorted() {
            Issue.record("nothing tells what docs/reference.md has:\n\(row)")
        }
        #expect(written.count == Set(told).count)
    }

    // MARK: Raised and cleared

    @Test(
        "every problem can be cleared, and has a button only if a tap can clear it",
        arguments: Problem.every.indices)
    func cleared(index: Int) {
        let problem = Problem.every[index]
        #expect(!problem.clearedBy.isEmpty)
        #expect(problem.clearedBy.contains(.time) == (problem.severity == .passes))
        // A problem that a tap clears has a button, or other ways to end.
        #expect(problem.button != nil || problem.clearedBy != [.retried])
    }

    @Test("each cause raises at least one problem", arguments: Problem.Raiser.allCases)
    func raisers(raiser: Problem.Raiser) {
        #expect(Problem.every.contains { $0.raisedBy == raiser })
    }

    @Test("an event clears the problems that it ends, and no others", arguments: Problem.Clearer.allCases)
    func clearers(clearer: Problem.Clearer) {
        var isOfUse = false
        for problem in Problem.every {
            var board = NoticeBoard()
            _ = board.handle(.tell(Notice(problem)), now: .zero)
            let cleared = board.handle(.cleared(by: clearer), now: .zero)
            let isMeant = problem.clearedBy.contains(clearer)
            #expect(cleared == (isMeant ? [.clear(Notice(problem).code)] : []))
            isOfUse = isOfUse || isMeant
        }
        #expect(isOfUse)
    }
}
