// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FieldTest
import MeshProtocol
import Testing

@testable import Diagnostics
@testable import NodeCore

@Suite("The events that docs/reference.md describes")
struct EventTests {
    /// A program, with the section of the document that describes its output.
    struct Group: Sendable {
        var section: String
        var objects: [String] = []
        var samples: @Sendable () throws -> [JSON]
        var words: [String: Set<String>]
    }

    static let path = "docs/reference.md"
    private static let reasons = Set(RejectionReason.allCases.map(\.rawValue))
    private static let states = Set(NodeSamples.wishStates.map(\.name))
    private static let bearers = Set(BearerKind.allCases.map(\.rawValue))
    private static let roles = Set(NodeDescription.Role.allCases.map(\.rawValue))

    /// Encoded once, since there are some hundred.
    private static let nodeSamples = Result {
        try NodeSamples.all.map { try JSON(TimedEvent($0, at: 1.5)) } + ViewSamples.events()
    }

    static let node = Group(
        section: "### Events of a node", objects: ["### Objects"],
        samples: { try nodeSamples.get() },
        words: [
            "`ready`.role": roles, "`peerDiscovered`.bearer": bearers, "`link`.bearer": bearers,
            "`peerDisconnected`.reason": Set(DisconnectReason.allCases.map(\.rawValue)),
            "`connection`.state": Set(NodeSamples.connections.map(\.name)),
            "`vote`.wish": Set(Wish.Kind.allCases.map(\.rawValue)).subtracting(["suggest"]), "`vote`.state": states,
            "`vote`.reason": reasons, "`suggestion`.state": states, "`suggestion`.reason": reasons,
            "`intent`.reason": reasons, "`intent`.kind": Set(NodeSamples.intents.map(\.kind)),
            "`searchResults`.shelf": Set(SongQuery.Shelf.allCases.map(\.rawValue)),
            "`broker`.state": Set(BrokerReport.State.allCases.map(\.rawValue)),
            // Only a recording knows when a guest sees the current state.
            "`contact`.phase": Set(Encounter.Phase.allCases.map(\.rawValue)).subtracting(["current"]),
            "`contact`.evidence": Set(Encounter.Evidence.allCases.map(\.rawValue)),
            "`bye`.reason": Set(ByeReason.allCases.map(\.rawValue)), "adapter.setBy": ["roadmesh", "system"],
            "undo.kind": Set(NodeView.Undo.Kind.allCases.map(\.rawValue)),
        ])

    static let groups = [
        node,
        Group(
            section: "### Events of a pairing", objects: ["### Objects of commands"], samples: ProgramSamples.pairing,
            words: ["`ready`.role": ["pair"], "`bye`.reason": ProgramSamples.reasons]),
        Group(section: "### The answer to a command", samples: ProgramSamples.answers, words: [:]),
        Group(
            section: "### Events of a check", samples: ProgramSamples.check,
            words: [
                "`finding`.area": Set(Finding.Area.allCases.map(\.rawValue)),
                "`finding`.level": Set(Finding.Level.allCases.map(\.rawValue)),
                "`change`.state": Set(TimedChange.State.allCases.map(\.rawValue)),
            ]),
        Group(
            section: "### Events of a collector", objects: ["### Objects of commands"],
            samples: ProgramSamples.collecting,
            words: [
                "`broker`.state": ["connected", "unreachable"], "`drive`.state": ["begins", "goesOn", "complete"],
                "`drive`.role": roles.subtracting(["scan"]),
                "`drive`.ending": Set(Drive.Ending.allCases.map(\.rawValue)),
            ]),
        Group(
            section: "### Events of a link tool", samples: ProgramSamples.linkTools,
            words: ["`connection`.state": ProgramSamples.connections]),
    ]

    /// Differences between a page and the program for a group.
    static func complaints(_ page: Page, _ group: Group) throws -> [String] {
        var contract = Contract(page, sections: [group.section] + group.objects)
        let samples = Dictionary(grouping: try group.samples()) { "`\($0.event ?? "?")`" }
        // The view has its own page.
        if samples["`view`"] != nil {
            contract.objects["view"] = Contract.Object(
                line: 0, fields: [], examples: [], isEvent: false, isElsewhere: true)
        }
        return contract.complaints(about: samples) + contract.complaintsAboutExamples()
            + contract.complaints(aboutWords: group.words)
    }

    @Test("Each event and each field is in the reference, and the reference has no other", arguments: groups.indices)
    func described(index: Int) throws {
        for complaint in try Self.complaints(Page(Self.path), Self.groups[index]) { Issue.record("\(complaint)") }
    }

    @Test("Every event of a node has its samples here")
    func samples() {
        let missing = Set(NodeSamples.Kind.allCases).subtracting(NodeSamples.all.map(NodeSamples.kind))
        #expect(missing.isEmpty, "NodeSamples has no sample of \(missing)")
        #expect(ProgramSamples.outcomes.map(ProgramSamples.place) == Array(ProgramSamples.outcomes.indices))
        #expect(ProgramSamples.isCollectingComplete())
        #expect(ProgramSamples.linkEvents.map(ProgramSamples.place) == Array(0..<9))
    }

    @Test("Each code of a finding is in the reference at its area, and the reference has no other")
    func findings() throws {
        let page = try Page(Self.path)
        for complaint in Self.findingComplaints(page) { Issue.record("\(complaint)") }
    }

    static func findingComplaints(_ page: Page) -> [String] {
        var complaints: [String] = []
        var known = Set(Finding.Code.allCases.map { [Finding($0, .good, "").area.rawValue, $0.rawValue] })
        for row in Page.rows(page.section("### Events of a check")) where row.head.first == "area" {
            let area = row["area"].spans.first ?? ""
            for code in row["codes that are not good"].spans where known.remove([area, code]) == nil {
                complaints.append(
                    "\(page.path):\(row.line) has the code \(code), which is not one of the area \(area).")
            }
            known.remove([area, area])
        }
        for missing in known.map({ $0.joined(separator: ": ") }).sorted() {
            complaints.append("\(page.path): the table of findings lacks \(missing).")
        }
        return complaints
    }
}
