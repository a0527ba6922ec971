// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Diagnostics
import FoundationEssentials
import Logging
import MeshNode

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

    func show(_ finding: Finding) {
        guard !isJSON else { return StandardOutput.write(JSONLine.text(TimedFinding(finding, at: now))) }
        let mark =
            switch finding.level {
            case .good: "good          "
            case .worthKnowing: "worth knowing "
            case .broken: "BROKEN        "
            }
        StandardOutput.write(mark + finding.message)
        let margin = String(repeating: " ", count: mark.count)
        if !finding.meaning.isEmpty {
            for line in ShownText.wrap(finding.meaning, to: 88) { StandardOutput.write(margin + line) }
        }
        if let command = finding.command { StandardOutput.write(margin + "  " + command) }
    }

    func show(_ diagnosis: Diagnosis) {
        guard !isJSON else { return StandardOutput.write(JSONLine.text(TimedSummary(diagnosis, at: now))) }
        let broken = diagnosis.count(.broken)
        let known = diagnosis.count(.worthKnowing)
        StandardOutput.write("")
        StandardOutput.write(
            broken > 0
                ? "\(broken) \(broken == 1 ? "thing is" : "things are") broken: mend the first one, and look again."
                : known > 0 ? "Nothing is broken; \(known) worth knowing." : "This box is well.")
    }

    private var now: Double { Date().timeIntervalSince1970 }
}
