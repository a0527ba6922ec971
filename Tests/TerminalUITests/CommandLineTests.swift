// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import Testing

@testable import TerminalUI

@Suite("What programs type")
struct CommandLineTests {
    @Test(
        "a host's commands",
        arguments: [
            ("play", .host(.play)), ("  pause  ", .host(.pause)), ("skip", .host(.skip)),
            ("add s1", .host(.add("s1"))), ("remove  s1 ", .host(.remove("s1"))),
            ("kick Little Bob", .host(.kick("Little Bob"))), ("retry", .retry), ("end", .end), ("quit", .quit(.quit)),
        ] as [(String, NodeInput)])
    func host(line: String, input: NodeInput) {
        #expect(NodeInput(hostLine: line) == input)
    }

    @Test(
        "a guest's commands",
        arguments: [
            ("vote s1", .guest(.vote("s1"))), ("unvote s1", .guest(.takeBackVote("s1"))),
            ("suggest s2", .guest(.suggest("s2"))), ("search open road", .guest(.search("open road"))),
            ("skip", .guest(.skip)), ("retry", .retry), ("leave", .leave), ("quit", .quit(.quit)),
        ] as [(String, NodeInput)])
    func guest(line: String, input: NodeInput) {
        #expect(NodeInput(guestLine: line) == input)
    }

    @Test("a moment can be marked where the drive is recorded, and nowhere else")
    func mark() {
        for role in [NodeDescription.Role.host, .guest] {
            #expect(NodeInput(recordedLine: "mark tunnel \u{1B}[31min", role) == .mark("tunnel [31min"))
            #expect(NodeInput(recordedLine: "quit", role) == .quit(.quit))
            guard case .notice = NodeInput(recordedLine: "mark", role) else {
                Issue.record("a mark without words was taken")
                return
            }
        }
        #expect(NodeInput(recordedLine: "pause", .host) == .host(.pause))
        guard case .notice = NodeInput(guestLine: "mark tunnel in") else {
            Issue.record("a mark was taken where nothing is recorded")
            return
        }
    }

    @Test("an empty line is nothing", arguments: ["", "   ", "\t"])
    func empty(line: String) {
        #expect(NodeInput(hostLine: line) == nil)
        #expect(NodeInput(guestLine: line) == nil)
    }

    @Test(
        "anything else is told to be no command, and changes nothing",
        arguments: ["vote", "skip now", "Vote s1", "x", "help"])
    func bad(line: String) {
        guard case .notice(let notice) = NodeInput(guestLine: line) else {
            Issue.record("\(line) was taken for a command")
            return
        }
        #expect(notice.code == "badCommand")
        #expect(notice.suggestion?.contains("vote ID") == true)
    }
}
