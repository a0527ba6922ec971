// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import MeshNode
import TerminalUI

/// `roadmesh fieldtest fleet`
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Make a page about all drives that are here: by car, by hour, by version.")

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The page; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("Each reconnect, for a spreadsheet.", valueName: "file"), completion: .file())
    var csv: String?

    @Option(help: ArgumentHelp("The figures, for a program.", valueName: "file"), completion: .file())
    var json: String?

    @OptionGroup var options: DriveOptions

    func run() async throws {
        guard [output, csv, json].count(where: { $0 == "-" }) < 2 else {
            throw SetupProblem(.usage, "Only one of --output, --csv and --json can be -, standard output.")
        }
        let all = try options.list().drives
        guard !all.isEmpty else {
            throw SetupProblem(
                .data,
                "There are no drives here; roadmesh fieldtest collect collects those of a fleet. Or name a folder with "
                    + "--state.")
        }
        var report = FleetReport()
        // Load one drive at a time: a drive may be large, but its results are small.
        for stored in all {
            guard let drive = try? options.drive(String(stored.number)) else {
                StandardError.write("roadmesh: Drive \(stored.number) cannot be read; it is left out.")
                continue
            }
            report.add(drive, number: stored.number)
        }
        if let output { try writeFile(report.html, output) }
        if let csv { try writeFile(report.csv, csv) }
        if let json { try writeFile(report.json, json) }
        if ![output, csv, json].contains("-") { for line in report.sentences { StandardOutput.write(line) } }
    }
}
