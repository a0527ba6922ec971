// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Diagnostics
import FoundationEssentials
import Glibc
import MeshNode
import TerminalUI

/// `roadmesh doctor --fix`: shows the findings and the possible changes, asks once, makes the changes, and checks
/// again.
struct DoctorFix {
    let report: DoctorReport
    let options: NodeOptions
    let music: DoctorMusicOptions
    let isAgreed: Bool

    /// Returns the exit code; nil for success.
    func run() async throws -> SetupProblem.ExitCode? {
        let isRoot = geteuid() == 0
        let check = try await DoctorCheck(options: options, music: music, isForUsers: isRoot)
        let facts = await FixFacts.collect(check.radio, environment: ProcessInfo.processInfo.environment)
        let plan = FixPlanner(radio: check.radio, facts: facts).plan(for: check.doctor.findings)
        guard !plan.changes.isEmpty else {
            let code = await check.tell(report)
            report.show(plan)
            report.say("\n--fix has nothing to change.")
            return code
        }
        if options.json, !isAgreed {
            let code = await check.tell(report)
            report.show(plan)
            return code
        }
        for finding in check.doctor.findings where options.json || finding.level != .good { report.show(finding) }
        report.show(plan)
        guard isRoot else { throw Consent.needsRoot("--fix") }
        guard try isAgreed || Consent.ask(plan.question, option: "--fix") else {
            report.say("Nothing was changed.")
            return nil
        }
        let failures = try await make(plan)
        if plan.changes.contains(where: \.unsettles) { await settle() }
        report.say("")
        let second = try await DoctorCheck(options: options, music: music, isForUsers: true)
        let code = await second.tell(report)
        if failures < plan.changes.count { report.say("To undo the changes: sudo roadmesh doctor --undo") }
        if failures == 0, try await hasMore(second) {
            report.say("More can be changed now: run it again.")
        }
        return failures > 0 ? code ?? .cannotCreate : code
    }

    /// Whether a finding appeared that was hidden before, such as an adapter's advertising interval while bluetoothd
    /// was not running.
    private func hasMore(_ check: DoctorCheck) async throws -> Bool {
        let facts = await FixFacts.collect(check.radio, environment: ProcessInfo.processInfo.environment)
        return !FixPlanner(radio: check.radio, facts: facts).plan(for: check.doctor.findings).changes.isEmpty
    }

    /// Makes the changes. Returns the number of failures.
    private func make(_ plan: FixPlan) async throws -> Int {
        var run = FixRun(try FixJournal.forChanges())
        report.say("")
        var failures = 0
        for change in plan.changes {
            do throws(FixFailure) {
                try await run.make(change, at: report.now)
                report.show(change, .made)
            } catch {
                failures += 1
                report.show(change, .failed, cause: error.text)
            }
        }
        return failures
    }

    /// Waits until bluetoothd and an adapter are available, which takes some time after a restart.
    private func settle() async {
        let deadline = ContinuousClock.now + FixLimits.settling
        while ContinuousClock.now < deadline {
            if let radio = try? await RadioCheckup.collect(), radio.service == .answers,
                radio.adapters.contains(where: \.isUp)
            {
                return
            }
            try? await Task.sleep(for: FixLimits.settlingStep)
        }
    }
}

/// `roadmesh doctor --undo`
struct DoctorUndo {
    let report: DoctorReport
    let isAgreed: Bool

    /// Returns the exit code; nil for success.
    func run() async throws -> SetupProblem.ExitCode? {
        guard geteuid() == 0 else { throw Consent.needsRoot("--undo") }
        let made = Array(try FixJournal.stored().changes.reversed())
        guard !made.isEmpty else {
            report.say("There is nothing to undo: --fix has changed nothing here.")
            return nil
        }
        report.show(made)
        if report.isJSON, !isAgreed { return nil }
        let question = "Undo \(made.count == 1 ? "this change" : "these \(made.count) changes")?"
        guard try isAgreed || Consent.ask(question, option: "--undo") else {
            report.say("Nothing was changed.")
            return nil
        }
        var run = FixRun(try FixJournal.forChanges())
        report.say("")
        var isComplete = true
        for change in run.changes.reversed() {
            switch await run.takeBack(change) {
            case .done, .wasDone: report.show(change, .takenBack)
            case .leftAlone(let why):
                isComplete = false
                report.show(change, .leftAlone, cause: why)
            case .failed(let why):
                isComplete = false
                report.show(change, .failed, cause: why)
            }
        }
        run.resetAdapters()
        if let change = run.afterwards {
            do throws(FixFailure) {
                try await run.make(change, at: report.now)
                report.show(change, .made)
            } catch {
                isComplete = false
                report.show(change, .failed, cause: error.text)
            }
        }
        return isComplete ? nil : .cannotCreate
    }
}

/// The conditions for changing a device: root, and a person's consent.
private enum Consent {
    static func needsRoot(_ option: String) -> SetupProblem {
        SetupProblem(.notPermitted, "Nothing was changed: that takes root. Type: sudo roadmesh doctor \(option)")
    }

    /// Asks the person at the terminal. Throws without a terminal.
    static func ask(_ question: String, option: String) throws(SetupProblem) -> Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw SetupProblem(
                .usage,
                "Nothing was changed: there is no terminal to ask at. With --yes, doctor \(option) asks nothing.")
        }
        StandardOutput.write(unfinished: "\n\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }
}

extension FixJournal {
    /// The journal of this device, for reading.
    fileprivate static func stored() throws(SetupProblem) -> Self { try standard(forChanges: false) }

    /// The journal of this device, owned by this process.
    fileprivate static func forChanges() throws(SetupProblem) -> Self { try standard(forChanges: true) }

    private static func standard(forChanges: Bool) throws(SetupProblem) -> Self {
        do throws(FixFailure) {
            return try Self(reading: standardFolder, forChanges: forChanges)
        } catch {
            throw SetupProblem(.cannotCreate, "Nothing was changed: \(error.text).")
        }
    }
}
