// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshProtocol
import Testing

@Suite("The table of notices")
struct NoticeTableTests {
    /// What is told and is no `NetworkError`: a person's own words that led to nothing.
    static let others: [Notice] =
        CommandProblem.every.map { Notice($0) } + [
            .notRecorded("the line is dead"), .songsMissing(3), .cannotBePlayed(title: "Headlights"),
            .cannotBePlayed(title: nil), .otherAdapter("hci1", insteadOf: "hci0"), .advertisingAgain,
        ]

    /// A notice as `docs/using.md` has it.
    static func row(_ notice: Notice) -> String {
        let code = notice.cause.map { "`\(notice.code)`, `\($0)`" } ?? "`\(notice.code)`"
        let button = notice.button ?? notice.followUp.map { "\($0.button), after 10 s" } ?? ""
        let cells = [code, notice.message, notice.suggestion ?? "", button, notice.critical ? "stays" : "goes"]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    @Test("the manual has every notice with its words, and no other")
    func complete() throws {
        let manual = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../../docs/using.md"
        let text = String(decoding: try Data(contentsOf: URL(filePath: manual)), as: UTF8.self)
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Notices\n") })
        let written = section.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
        let told = (NetworkError.every.map { Notice($0) } + Self.others).map(Self.row)
        for row in Set(told).subtracting(written).sorted() { Issue.record("docs/using.md lacks:\n\(row)") }
        for row in Set(written).subtracting(told).sorted() {
            Issue.record("nothing tells what docs/using.md has:\n\(row)")
        }
        #expect(written.count == Set(told).count)
    }

    // MARK: Raised and cleared

    @Test("every problem is raised by something and cleared by something", arguments: NetworkError.every)
    func raisedAndCleared(error: NetworkError) {
        let problem = error.problem
        #expect(!problem.clearedBy.isEmpty)
        #expect(problem.clearedBy.contains(.time) == (problem.severity == .passes))
        #expect(
            (problem.raisedBy == .nothing) == (problem.code == "wrongPIN"), "the manual says what nothing tells yet")
        // What a tap clears has a button, or goes by other ways too.
        #expect(problem.button != nil || problem.clearedBy != [.retried])
    }

    @Test("whatever raises and clears problems has one", arguments: Problem.Raiser.allCases)
    func raisers(raiser: Problem.Raiser) {
        #expect(NetworkError.every.contains { $0.problem.raisedBy == raiser })
    }

    @Test("what has happened clears the problems that it ends, and no others", arguments: Problem.Clearer.allCases)
    func clearers(clearer: Problem.Clearer) {
        var isOfUse = false
        for error in NetworkError.every {
            var board = NoticeBoard()
            _ = board.handle(.tell(Notice(error)), now: .zero)
            let cleared = board.handle(.cleared(by: clearer), now: .zero)
            let isMeant = error.problem.clearedBy.contains(clearer)
            #expect(cleared == (isMeant ? [.clear(Notice(error).code)] : []))
            isOfUse = isOfUse || isMeant
        }
        #expect(isOfUse)
    }

    @Test("a person's own words that led to nothing go by themselves", arguments: others)
    func passing(notice: Notice) {
        #expect(notice.critical || notice.clearedBy == [.time])
    }
}
