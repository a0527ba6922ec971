// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import Glibc
import MeshNode
import TerminalUI

/// `roadmesh fieldtest report DRIVE…`
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Make a page about a recorded drive, or about several side by side.")

    @Argument(help: "Numbers or names of the list, last, or files of exported drives.", completion: .drives)
    var drives: [String]

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The page; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("The gaps, for a spreadsheet.", valueName: "file"), completion: .file())
    var csv: String?

    @Option(help: ArgumentHelp("The figures, for a program.", valueName: "file"), completion: .file())
    var json: String?

    @OptionGroup var sharing: SharingOption
    @OptionGroup var options: DriveOptions

    func run() async throws {
        guard !drives.isEmpty, drives.count <= FieldTestLimits.comparedDrives else {
            throw SetupProblem(.usage, "Name 1 to \(FieldTestLimits.comparedDrives) drives.")
        }
        guard [output, csv, json].count(where: { $0 == "-" }) < 2 else {
            throw SetupProblem(.usage, "Only one of --output, --csv and --json can be -, standard output.")
        }
        let report = Report(try options.drives(drives).map(sharing.shown))
        if let output { try writeFile(report.html, output) }
        if let csv { try writeFile(report.csv, csv) }
        if let json { try writeFile(report.json, json) }
        if ![output, csv, json].contains("-") { for line in report.sentences { StandardOutput.write(line) } }
    }
}

/// `roadmesh fieldtest replay DRIVE`
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Replay a recorded drive in the simulator.",
        discussion: """
            A host and a guest of this program run through the drive's gaps, signal and votes in virtual time. \
            Everything else varies from run to run. The exit code is 1 if any run violates an invariant.
            """)

    @Argument(help: "A number or a name of the list, last, or the file of an exported drive.", completion: .drives)
    var drive: String

    /// Bounds of the number of runs.
    enum RunBounds: NumberBounds {
        static let range = 1...FieldTestLimits.replaySeeds
    }

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How often to replay it, each time with another seed: 1 to \(FieldTestLimits.replaySeeds) times.",
            valueName: "n"))
    var runs = BoundedNumber<RunBounds>(20)

    @Flag(help: "Run the gaps back to back, with shorter times between them.")
    var fast = false

    @Flag(help: "Print the drive's radio steps, one JSON object per line, and run nothing.")
    var steps = false

    @OptionGroup var options: DriveOptions

    func run() async throws {
        let script = AirScript(try options.drive(drive), backToBack: fast)
        if steps {
            for line in script.lines { StandardOutput.write(line) }
            return
        }
        let showsProgress = isatty(STDERR_FILENO) == 1
        let all = runs.value
        var told = ContinuousClock.now
        let result = await SimulatedDrive(script).run(seeds: 1...UInt64(all)) { done in
            let now = ContinuousClock.now
            guard showsProgress, done < all, now - told >= Self.progressInterval else { return }
            told = now
            StandardError.write("Replaying the drive: \(done) of \(all)")
        }
        for line in result.sentences { StandardOutput.write(line) }
        if result.violation != nil { throw ExitCode(SetupProblem.ExitCode.failed.rawValue) }
    }

    /// How often the progress is shown.
    private static let progressInterval: Duration = .seconds(1)
}

extension SimulatedDrive.Result {
    fileprivate var sentences: [String] {
        let gaps = figures.faults[.tunnel] ?? 0
        let driven =
            "Replayed \(runs == 1 ? "once" : "\(runs) times"): \(Self.count(gaps, "gap")), "
            + "\(Self.count(figures.connections / 2, "link")), "
            + "\(figures.wishes) \(figures.wishes == 1 ? "wish" : "wishes"), \(figures.confirmed) confirmed, \(figures.rejected) rejected."
        guard let violation else {
            return [driven] + explanations + ["Every invariant held: nothing was lost or duplicated."]
        }
        return [driven] + explanations + [
            "Run \(violation.seed) violated an invariant, \(violation.violation.invariant): "
                + "\(violation.violation.invariant.rawValue)",
            "  \(violation.violation.who) at \(Format.time(violation.violation.time / .seconds(1))): "
                + "\(violation.violation.what)",
        ]
    }

    private static func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
}
