// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Diagnostics
import FoundationEssentials
import Logging
import MeshNode
import TerminalUI

/// `roadmesh doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check this box, and say what to mend.",
        discussion:
            "It changes nothing. Where there are two adapters, each of them advertises for a moment and is listened for."
    )

    @OptionGroup var options: NodeOptions

    func run() async throws {
        let folder = try options.statePath()
        var radio: RadioFacts?
        if options.radio != .virtual {
            do {
                radio = try await RadioCheckup.collect()
            } catch {
                throw SetupProblem(error)
            }
        }
        let doctor = Doctor(radio: radio, box: .collect(folder: folder), wanted: options.adapter)
        var diagnosis = Diagnosis()
        let report = DoctorReport(isJSON: options.json)
        func tell(_ findings: [Finding]) {
            for finding in findings { report.show(finding) }
            diagnosis.findings += findings
        }
        tell(doctor.findings)
        for test in await HearingTest.run(adapters: doctor.adaptersToTry, logger: options.errorLogger) {
            tell(doctor.findings(test))
        }
        report.show(diagnosis)
        if let code = diagnosis.exitCode { throw ExitCode(code.rawValue) }
    }
}

/// Shows findings as they come.
private struct DoctorReport {
    let isJSON: Bool

    /// Columns of a paragraph, beside the margin.
    private static let columns = 88

    func show(_ finding: Finding) {
        guard !isJSON else { return StandardOutput.write(JSONLine.text(TimedFinding(finding, at: now))) }
        for line in finding.lines(wrap: { ShownText.wrap($0, to: Self.columns) }) { StandardOutput.write(line) }
    }

    func show(_ diagnosis: Diagnosis) {
        guard !isJSON else { return StandardOutput.write(JSONLine.text(TimedSummary(diagnosis, at: now))) }
        StandardOutput.write("\n\(diagnosis.sentence)")
    }

    private var now: Double { Date().timeIntervalSince1970 }
}
