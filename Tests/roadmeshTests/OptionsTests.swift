// SPDX-License-Identifier: Apache-2.0

import FieldTest
import MeshNode
import Testing

@testable import roadmesh

@Suite("What the command line's options take")
struct OptionsTests {
    @Test(
        "a mark that sets itself has a time and words",
        arguments: [("120s=tunnel in", 120.0, "tunnel in"), ("0.5=a=b", 0.5, "a=b")])
    func timedMark(text: String, seconds: Double, words: String) throws {
        let options = try RecordingOptions.parse(["--mark", text])
        #expect(try options.checked().marks == [DriveRecording.TimedMark(after: .seconds(seconds), text: words)])
    }

    @Test("and anything else is told", arguments: ["tunnel in", "s=x", "-1s=x", "nan=x", "5s"])
    func noTimedMark(text: String) throws {
        let options = try RecordingOptions.parse(["--mark=\(text)"])
        #expect(throws: SetupProblem.self) { try options.checked() }
    }

    @Test("a name is checked before anything starts", arguments: ["", "   ", String(repeating: "x", count: 300)])
    func names(name: String) {
        #expect { try checkedName(name) } throws: { ($0 as? SetupProblem)?.exitCode == .usage }
    }
}
