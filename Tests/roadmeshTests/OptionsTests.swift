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
    @Test(
        "a command line that goes wrong is answered with what was meant",
        arguments: [
            (["hots", "Car"], "There is no command \"hots\". Did you mean host?"),
            (["dance"], "There is no command \"dance\". There are host, guest, scan, demo, doctor, pair, fieldtest."),
            (
                ["host", "Dads", "Car"],
                "A name of more than one word stands in quotation marks: roadmesh host \"Dads Car\""
            ),
        ])
    func meant(arguments: [String], sentence: String) {
        #expect { try RoadMesh.parsed(arguments) } throws: { error in
            guard let problem = error as? SetupProblem else { return false }
            return problem.sentence == sentence && problem.exitCode == .usage
        }
    }

    @Test(
        "a number below zero is told to be wrong, and not taken for an option",
        arguments: ["songs-in-a-row", "open-suggestions"])
    func negative(option: String) throws {
        let fairness = try FairnessOptions.parse(["--\(option)", "-1"])
        #expect { try fairness.policies } throws: {
            ($0 as? SetupProblem)?.sentence == "A number of songs is 0 or more; 0 means that any number is fine."
        }
    }
}
