// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import FoundationEssentials
import MeshNode

/// Shows a pairing, and bonds: sentences to people, one JSON object a line to programs.
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
            emit(PairingObject("ready", role: "pair", name: name, radio: radio, version: RoadMeshVersion.text))
        }
    }

    func show(_ update: PairingUpdate) {
        switch (form, update) {
        case (_, .looking): break
        case (.people, .digits(let digits, let device, let limit)):
            let seconds = Int(limit / .seconds(1))
            StandardOutput.write("\n    \(digits.prefix(3)) \(digits.suffix(3))\n")
            // A whole line: what comes next may be an end and no answer.
            StandardOutput.write("Does \(device.shown) show the same? Type yes or no, within \(seconds) seconds.")
        case (.people, .heard(let device)): StandardOutput.write("Heard \(device.shown).")
        case (.people, .waiting(let device)): StandardOutput.write("Waiting for the answer on \(device.shown).")
        case (.people, .forgotten(let device)):
            StandardOutput.write("\(device.shown) did not know the old bond, so it is forgotten here too.")
        case (.people, .nothingAsked): StandardOutput.write("! There are no digits to compare yet.")
        case (.programs, .heard(let device)): emit(PairingObject("peerDiscovered", peer: .init(device)))
        case (.programs, .digits(let digits, let device, let limit)):
            emit(PairingObject("digits", peer: .init(device), digits: digits, seconds: Int(limit / .seconds(1))))
        case (.programs, .waiting(let device)): emit(PairingObject("waiting", peer: .init(device)))
        case (.programs, .forgotten(let device)): emit(PairingObject("bondForgotten", peer: .init(device)))
        case (.programs, .nothingAsked):
            notice(Notice(.nothingAsked))
        }
    }

    func badCommand(_ line: String) {
        switch form {
        case .people: StandardOutput.write("! \(Notice(.badCommand(line, expected: Self.usage)).sentences)")
        case .programs: notice(Notice(.badCommand(line, expected: Self.programUsage)))
        }
    }

    func end(_ outcome: PairingOutcome, isSignalled: Bool) {
        switch form {
        case .people where outcome.exitCode == nil: StandardOutput.write(outcome.sentence)
        case .people: StandardError.write("roadmesh: \(outcome.sentence)")
        case .programs:
            let reason = outcome == .stopped && isSignalled ? "terminated" : outcome.code
            emit(
                PairingObject("bye", peer: outcome.device.map { .init($0) }, reason: reason, message: outcome.sentence))
        }
    }

    // MARK: Bonds

    package func list(_ bonds: [Bond]) {
        switch form {
        case .people where bonds.isEmpty:
            StandardOutput.write("This device is bonded with none. To bond it with another: roadmesh pair, on both.")
        case .people:
            for bond in bonds {
                StandardOutput.write("\(bond.name)  \(bond.id)\(bond.isConnected ? "  linked" : "")")
            }
        case .programs:
            for bond in bonds { emit(PairingObject("bond", peer: .init(bond), connected: bond.isConnected)) }
            emit(PairingObject("bye", reason: "listed"))
        }
    }

    package func forgot(_ bond: Bond) {
        switch form {
        case .people:
            StandardOutput.write("The bond with \"\(bond.name)\" is forgotten. Forget it on the other device, too.")
        case .programs:
            emit(PairingObject("bondForgotten", peer: .init(bond)))
            emit(PairingObject("bye", reason: "forgotten"))
        }
    }

    // MARK: Objects

    private func notice(_ notice: Notice) {
        StandardOutput.write(JSONLine.text(TimedEvent(.notice(notice), at: Date().timeIntervalSince1970)))
    }

    private func emit(_ object: PairingObject) { StandardOutput.write(JSONLine.text(object)) }
}

/// An event of a pairing, as `docs/using.md` has it.
private struct PairingObject: Encodable {
    struct Peer: Encodable {
        var id: String
        var name: String

        init(_ device: PairingDevice) { (id, name) = (device.id, device.name) }
        init(_ bond: Bond) { (id, name) = (bond.id, bond.name) }
    }

    var at = Date().timeIntervalSince1970
    var event: String
    var role: String?
    var name: String?
    var radio: String?
    var version: String?
    var peer: Peer?
    var digits: String?
    var seconds: Int?
    var connected: Bool?
    var reason: String?
    var message: String?

    init(
        _ event: String, role: String? = nil, name: String? = nil, radio: String? = nil, version: String? = nil,
        peer: Peer? = nil, digits: String? = nil, seconds: Int? = nil, connected: Bool? = nil, reason: String? = nil,
        message: String? = nil
    ) {
        self.event = event
        (self.role, self.name, self.radio, self.version) = (role, name, radio, version)
        (self.peer, self.digits, self.seconds, self.connected) = (peer, digits, seconds, connected)
        (self.reason, self.message) = (reason, message)
    }
}
