// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Diagnostics
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import TerminalUI

/// `roadmesh doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check this device, and show what to repair.",
        discussion:
            "It changes nothing without --fix. With two adapters, each advertises briefly while the other "
            + "listens."
    )

    @OptionGroup var options: NodeOptions

    @Flag(
        help: ArgumentHelp(
            "Show the changes that repair problems, ask once, make them, and check again. As root: sudo roadmesh "
                + "doctor --fix."))
    var fix = false

    @Flag(help: "Undo the changes of --fix that no other program has changed since. As root.")
    var undo = false

    @Flag(help: "With --fix or --undo: do not ask.")
    var yes = false

    func validate() throws {
        guard !(fix && undo) else { throw ValidationError("--fix and --undo exclude each other.") }
        guard !yes || fix || undo else { throw ValidationError("--yes goes with --fix or --undo.") }
    }

    func run() async throws {
        let report = DoctorReport(isJSON: options.json)
        let code =
            if fix {
                try await DoctorFix(report: report, options: options, isAgreed: yes).run()
            } else if undo {
                try await DoctorUndo(report: report, isAgreed: yes).run()
            } else {
                try await check(report)
            }
        if let code { throw ExitCode(code.rawValue) }
    }

    private func check(_ report: DoctorReport) async throws -> SetupProblem.ExitCode? {
        let check = try await DoctorCheck(options: options, isForUsers: false)
        let code = await check.tell(report)
        if check.doctor.findings.contains(where: { $0.level != .good && FixPlanner.repaired.contains($0.code) }) {
            report.say("To repair what RoadMesh can change: sudo roadmesh doctor --fix")
        }
        return code
    }
}

/// A check of the device.
struct DoctorCheck {
    let options: NodeOptions
    let radio: RadioFacts?
    let doctor: Doctor

    /// Collects the facts. With `isForUsers`, root checks the permissions of a user who starts this program, since root
    /// has all of them.
    init(options: NodeOptions, isForUsers: Bool, environment: [String: String] = ProcessInfo.processInfo.environment)
        async throws
    {
        self.options = options
        let folder = try options.statePath()
        let adapters = try RadioChoice.adapters(options.adapter)
        var radio: RadioFacts?
        if options.radio != .virtual {
            do {
                radio = try await RadioCheckup.collect()
            } catch {
                throw SetupProblem(error)
            }
        }
        if isForUsers {
            radio?.permissions = ProgramFile.running().permissions
            if radio?.service == .answers, let denial = await FixFacts.User(environment: environment)?.denial() {
                radio?.service = .denies(denial)
            }
        }
        self.radio = radio
        var doctor = Doctor(radio: radio, device: .collect(folder: folder), wanted: adapters)
        if isForUsers { doctor.permissionsAre = .anyUser }
        self.doctor = doctor
    }

    /// Reports all findings and tests the radios. Returns the exit code; nil if nothing is broken.
    func tell(_ report: DoctorReport) async -> SetupProblem.ExitCode? {
        var diagnosis = Diagnosis()
        func tell(_ findings: [Finding]) {
            for finding in findings { report.show(finding) }
            diagnosis.findings += findings
        }
        tell(doctor.findings)
        let maySet = radio?.permissions.mayAdminister == true
        let settings = options.settingsPolicy(maySet ? options.adapterSettings : .leave)
        for test in await ReceptionTest.run(
            adapters: doctor.adaptersToTry, settings: settings, logger: options.errorLogger)
        {
            tell([doctor.finding(test), doctor.kernelFinding(test)].compactMap(\.self))
        }
        report.show(diagnosis)
        return diagnosis.exitCode
    }
}
