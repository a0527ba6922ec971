// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import FoundationEssentials
import NodeCore

/// Shows a pairing, and bonds: in sentences to people, as one JSON object per line to programs.
package struct PairingReporter {
    package enum Form {
        case people, programs
    }

    let form: Form

    package init(form: Form) { self.form = form }

    static let usage = "yes, no, quit"
    static let programUsage = "accept, refuse, quit"

    func begin(name: String, radio: String) {
        switch form {
        case .people:
            StandardOutput.write(
                "This device is called \"\(name)\" (\(radio)). Looking for another one: run roadmesh pair there too.")
        case .programs:
            emit(PairingObject(beginning: name, radio: radio))
        }
    }

    func show(_ update: PairingUpdate) {
        switch (form, update) {
        case (_, .looking): break
        case (.people, .digits(let digits, let device, let limit)):
            let seconds = Int(limit / .seconds(1))
            StandardOutput.write("\n    \(digits.prefix(3)) \(digits.suffix(3))\n")
            // The line must be complete, because the pairing may end before an answer.
            StandardOutput.write("Does \(device.shown) show the same? Type yes or no, within \(seconds) seconds.")
        case (.people, .heard(let device)): StandardOutput.write("Heard \(device.shown).")
        case (.people, .waiting(let device)): StandardOutput.write("Waiting for the answer on \(device.shown).")
        case (.people, .forgotten(let device)):
            StandardOutput.write("\(device.shown) did not know the old bond, so it is forgotten here too.")
        case (.people, .nothingAsked): StandardOutput.write("! There are no digits to compare yet.")
        case (.programs, .nothingAsked): notice(Notice(.nothingAsked))
        case (.programs, _): if let object = PairingObject(update) { emit(object) }
        }
    }

    func badCommand(_ line: String) {
        switch form {
        case .people: StandardOutput.write("! \(Notice(.badCommand(line, expected: "\(Self.usage)")).sentences)")
        case .programs: notice(Notice(.badCommand(line, expected: "\(Self.programUsage)")))
        }
    }

    func end(_ outcome: PairingOutcome, isSignalled: Bool) {
        switch form {
        case .people where outcome.exitCode == nil: StandardOutput.write(outcome.sentence)
        case .people: StandardError.write("roadmesh: \(outcome.sentence)")
        case .programs: emit(PairingObject(outcome, isSignalled: isSignalled))
        }
    }

    // MARK: Bonds

    package func list(_ bonds: [Bond]) {
        switch form {
        case .people where bonds.isEmpty:
            StandardOutput.write("This device has no bonds. To bond it with another, run roadmesh pair on both.")
        case .people:
            for bond in bonds {
                StandardOutput.write("\(bond.name)  \(bond.id)\(bond.isConnected ? "  linked" : "")")
            }
        case .programs:
            for object in PairingObject.list(bonds) { emit(object) }
        }
    }

    package func forgot(_ bond: Bond) {
        switch form {
        case .people:
            StandardOutput.write("The bond with \"\(bond.name)\" is forgotten. Forget it on the other device, too.")
        case .programs:
            for object in PairingObject.forgot(bond) { emit(object) }
        }
    }

    // MARK: Objects

    private func notice(_ notice: Notice) {
        StandardOutput.write(JSONLine.text(TimedEvent(.notice(notice), at: Date().timeIntervalSince1970)))
    }

    private func emit(_ object: PairingObject) { StandardOutput.write(JSONLine.text(object)) }
}
