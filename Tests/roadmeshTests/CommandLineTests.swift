// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import Testing

@testable import roadmesh

@Suite("What people and programs type")
struct CommandLineTests {
    @Test(
        "a host's commands",
        arguments: [
            ("play", .command(.play)), ("  pause  ", .command(.pause)), ("skip", .command(.skip)),
            ("add s1", .command(.add("s1"))), ("remove  s1 ", .command(.remove("s1"))),
            ("kick Little Bob", .command(.kick("Little Bob"))), ("end", .quit(.quit)), ("quit", .quit(.quit)),
        ] as [(String, HostInput)])
    func host(line: String, input: HostInput) {
        #expect(HostInput(line: line) == input)
    }

    @Test(
        "a guest's commands",
        arguments: [
            ("vote s1", .vote("s1")), ("suggest s2", .suggest("s2")), ("retry", .retry), ("leave", .leave),
            ("quit", .quit(.quit)),
        ] as [(String, GuestInput)])
    func guest(line: String, input: GuestInput) {
        #expect(GuestInput(line: line) == input)
    }

    @Test("an empty line is nothing", arguments: ["", "   ", "\t"])
    func empty(line: String) {
        #expect(HostInput(line: line) == nil)
        #expect(GuestInput(line: line) == nil)
    }

    @Test(
        "anything else is told to be no command, and changes nothing", arguments: ["vote", "play now", "Vote s1", "x"])
    func bad(line: String) {
        guard case .notice(let notice) = GuestInput(line: line) else {
            Issue.record("\(line) was taken for a command")
            return
        }
        #expect(notice.code == "badCommand")
        #expect(notice.suggestion?.contains("vote ID") == true)
    }

    @Test("a name is checked before anything starts", arguments: ["", "   ", String(repeating: "x", count: 300)])
    func names(name: String) {
        #expect { try checkedName(name) } throws: { ($0 as? SetupProblem)?.exitCode == .usage }
    }
}
