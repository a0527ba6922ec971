// SPDX-License-Identifier: Apache-2.0

import NodeCore
import FieldTest
import MeshNode
import Testing

@testable import roadmesh

@Suite("The values of command-line options")
struct OptionsTests {
    @Test(
        "an automatic mark has a time and a text",
        arguments: [("120s=tunnel in", 120.0, "tunnel in"), ("0.5=a=b", 0.5, "a=b")])
    func timedMark(text: String, seconds: Double, words: String) throws {
        let options = try RecordingOptions.parse(["--mark", text])
        #expect(try options.checked().marks == [DriveRecording.TimedMark(after: .seconds(seconds), text: words)])
    }

    @Test("an invalid automatic mark is reported", arguments: ["tunnel in", "s=x", "-1s=x", "nan=x", "5s"])
    func noTimedMark(text: String) throws {
        let options = try RecordingOptions.parse(["--mark=\(text)"])
        #expect(throws: SetupProblem.self) { try options.checked() }
    }

    @Test("a name is checked before anything starts", arguments: ["", "   ", String(repeating: "x", count: 300)])
    func names(name: String) {
        #expect { try checkedName(name) } throws: { ($0 as? SetupProblem)?.exitCode == .usage }
    }
    @Test(
        "an invalid command line is answered with the likely intention",
        arguments: [
            (["hots", "Car"], "There is no command \"hots\". Did you mean host?"),
            (
                ["dance"],
                "There is no command \"dance\". There are host, guest, scan, demo, doctor, control, pair, ping, trace, pipe, fieldtest."
            ),
            (["fieldtest", "lst"], "There is no command \"fieldtest lst\". Did you mean list?"),
            (["fieldtest", "record", "me"], "There is no command \"fieldtest record me\". There are host, guest."),
            (
                ["host", "Dads", "Car"],
                "Put a name of more than one word in quotation marks: roadmesh host \"Dads Car\""
            ),
            (
                ["fieldtest", "record", "guest", "Little", "Bob", "--json"],
                "Put a name of more than one word in quotation marks: roadmesh fieldtest record guest \"Little Bob\""
            ),
        ])
    func meant(arguments: [String], sentence: String) throws {
        #expect(try Self.problem(arguments) == SetupProblem(.usage, sentence))
    }

    private static func problem(_ arguments: [String]) throws -> SetupProblem? {
        #expect(throws: SetupProblem.self) { try RoadMesh.parsed(arguments) }
    }

    @Test(
        "an invalid option is reported with its name and its allowed values",
        arguments: [
            ("host Car --colour", "There is no option --colour."),
            ("host Car --jsn", "There is no option --jsn. Did you mean --json?"),
            ("host Car -1", "There is no option -1."),
            (
                "host Car --adapter",
                "--adapter <hci0> needs a value: which adapter, for example hci0; without it, the first that is on. A guest "
                    + "can use two, hci0,hci1: the one that dials and the one that is dialled."
            ),
            ("host Car --json=yes", "--json takes no value; leave \"=yes\" out."),
            (
                "host Car --radio wifi",
                "--radio <auto|bluez|virtual> cannot be \"wifi\"; it is one of auto, bluez or virtual."
            ),
            (
                "host Car --songs-in-a-row -1",
                "--songs-in-a-row <n> cannot be \"-1\": songs of one guest in a row while another guest's song waits, from 1 "
                    + "on; 0 for any number."
            ),
            (
                "host Car --open-suggestions few",
                "--open-suggestions <n> cannot be \"few\": suggestions of one guest that may wait at a time, from 1 on; 0 for "
                    + "any number."
            ),
            ("scan here", "\"here\" is one word too many."),
            ("scan here now", "\"here\", \"now\" are too many words."),
            (
                "scan --seconds 0",
                "--seconds <n> cannot be \"0\": how many seconds to listen: more than 0, and at most 3600."
            ),
            ("host", "<name> is missing: the name that guests see, for example \"Dad's Car\"."),
            ("fieldtest export 1", "--output <file> is missing: the file; - is standard output."),
            (
                "fieldtest replay 1 --runs 0",
                "--runs <n> cannot be \"0\": how often to replay it, each time with another seed: 1 to 1000 times."
            ),
        ])
    func options(line: String, sentence: String) throws {
        let problem = try #require(try Self.problem(line.split(separator: " ").map(String.init)))
        #expect(problem.sentence.hasPrefix(sentence + " Try: roadmesh "))
        #expect(problem.sentence.hasSuffix(" --help") && problem.exitCode == .usage)
    }

    @Test(
        "an option without a value, as from a script's empty variable, selects no folder and no adapter",
        arguments: ["--state", "--air", "--adapter", "--library"])
    func empty(option: String) throws {
        for arguments in [["host", "Car", option, ""], ["host", "Car", "\(option)="]] {
            let sentence = try #require(try Self.problem(arguments)).sentence
            #expect(sentence.hasPrefix("\(option) <") && sentence.contains("> needs a value"))
        }
    }

    @Test("of a repeated option the last value counts, and this is reported")
    func again() throws {
        let line = ["host", "Car", "--http", "none", "--json", "--mark", "1s=a", "--mark=2s=b", "--http=127.0.0.1:0"]
        #expect(RoadMesh.remarks(line) == ["--http is given more than once; the last one counts."])
        #expect(RoadMesh.remarks(["host", "--", "--json", "--json"]) == [])
        let again = try RoadMesh.parsed(["host", "Car", "--http", "none", "--http", "127.0.0.1:0"])
        #expect((again as? HostCommand)?.page.http == "127.0.0.1:0")
    }

    @Test("a guest relays only if an option says so")
    func relay() throws {
        #expect(try GuestCommand.parse(["Ana"]).others.relay == false)
        #expect(try GuestCommand.parse(["Ana", "--relay"]).others.relay)
        #expect(try RoadMesh.parsed(["fieldtest", "record", "guest", "Ana", "--relay"]) is RecordGuestCommand)
        #expect(
            try Self.problem(["host", "Car", "--relay"])?.sentence.hasPrefix("There is no option --relay.") == true)
        #expect(GuestCommand.helpMessage(columns: 200).contains("Relay other guests"))
    }

    @Test("every option of a host and a guest is in the group of its subject")
    func groups() throws {
        for help in [HostCommand.helpMessage(columns: 200), GuestCommand.helpMessage(columns: 200)] {
            let own = try #require(help.split(separator: "\nOPTIONS:\n").last?.split(separator: "\n\n").first)
            let isGeneral = own.split(separator: "\n").allSatisfy { $0.contains("--version") || $0.contains("--help") }
            #expect(isGeneral, "\(own)")
        }
    }

    @Test("a node's help and manual page contain all commands", arguments: [NodeCommand.User.host, .guest])
    func typedCommands(user: NodeCommand.User) {
        let help = user == .host ? HostCommand.helpMessage(columns: 200) : GuestCommand.helpMessage(columns: 200)
        for line in CommandReader(user).help(isComplete: true) { #expect(help.contains(line)) }
    }
}
