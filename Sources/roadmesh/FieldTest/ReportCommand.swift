// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import MeshNode
import TerminalUI

/// `roadmesh fieldtest report DRIVE…`
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Make a page of a recorded drive, or of several beside one another.")

    @Argument(help: "Numbers of drives in the list, last, or files of exported drives.")
    var drives: [String]

    @Option(name: .shortAndLong, help: ArgumentHelp("The page; - is standard output.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("The gaps, for a spreadsheet.", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("The figures, for a program.", valueName: "file"))
    var json: String?

    @OptionGroup var options: DriveOptions

    func run() async throws {
        guard !drives.isEmpty, drives.count <= FieldTestLimits.comparedDrives else {
            throw SetupProblem(.usage, "Name 1 to \(FieldTestLimits.comparedDrives) drives.")
        }
        guard [output, csv, json].count(where: { $0 == "-" }) < 2 else {
            throw SetupProblem(.usage, "Only one of the forms can go to standard output.")
        }
        let report = Report(try options.drives(drives))
        if let output { try writeFile(report.html, output) }
        if let csv { try writeFile(report.csv, csv) }
        if let json { try writeFile(report.json, json) }
        if ![output, csv, json].contains("-") { for line in report.sentences { StandardOutput.write(line) } }
    }
}

/// `roadmesh fieldtest replay DRIVE`
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Drive a recorded drive again, in the simulator.",
        discussion: """
            A host and a guest of this program meet the drive's gaps, its signal and its votes again, in virtual time. \
            Everything else varies from run to run. The exit code is 1 where a promise was broken in any of them.
            """)

    @Argument(help: "The number of a drive in the list, last, or the file of an exported drive.")
    var drive: String

    @Option(help: "How often it is driven, each time with other luck.")
    var runs = 20

    @Flag(help: "Run the gaps back to back: what lies between them is shortened.")
    var fast = false

    @Flag(help: "Print what the drive does to an air, one JSON object a line, and run nothing.")
    var steps = false

    @OptionGroup var options: DriveOptions

    func run() async throws {
        guard (1...FieldTestLimits.replaySeeds).contains(runs) else {
            throw SetupProblem(.usage, "A drive is driven 1 to \(FieldTestLimits.replaySeeds) times.")
        }
        let script = AirScript(try options.drive(drive), backToBack: fast)
        if steps {
            for line in script.lines { StandardOutput.write(line) }
            return
        }
        let result = await SimulatedDrive(script).run(seeds: 1...UInt64(runs))
        for line in result.sentences { StandardOutput.write(line) }
        if result.violation != nil { throw ExitCode(1) }
    }
}

extension SimulatedDrive.Result {
    fileprivate var sentences: [String] {
        let gaps = figures.faults[.tunnel] ?? 0
        let driven =
            "Driven \(runs == 1 ? "once" : "\(runs) times"): \(gaps) gaps, \(figures.connections / 2) links, "
            + "\(figures.wishes) wishes, \(figures.confirmed) confirmed, \(figures.rejected) rejected."
        guard let violation else { return [driven, "Every promise held: nothing was lost, and nothing came twice."] }
        return [
            driven,
            "Run \(violation.seed) broke a promise, \(violation.violation.promise.rawValue): "
                + "\(violation.violation.promise.sentence)",
            "  \(violation.violation.who) at \(Words.time(violation.violation.time / .seconds(1))): "
                + "\(violation.violation.what)",
        ]
    }
}
