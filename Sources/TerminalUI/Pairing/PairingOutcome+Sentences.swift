// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshNode

extension PairingDevice {
    /// The name for sentences.
    var shown: String { name.isEmpty ? "the other device" : "\"\(name)\"" }
}

extension PairingOutcome {
    /// The outcome, its meaning and what to do.
    var sentence: String {
        switch self {
        case .bonded(let device): "Bonded with \(device.shown)."
        case .alreadyBonded(let device):
            "Bonded with \(device.shown) already. To bond again, forget it on both devices first: roadmesh pair forget."
        case .nobody(nil):
            "No other device in range wants to bond; run roadmesh pair on it at the same time, nearby."
        case .nobody(let wanted?):
            "No device in range called \"\(wanted)\" wants to bond; run roadmesh pair on it at the same time, nearby."
        case .several(let devices):
            "Several devices want to bond at the same time (\(devices.prefix(4).map(\.shown).joined(separator: ", "))). Say "
                + "which one you mean, on both: roadmesh pair NAME."
        case .refusedHere(let device):
            "You refused, so there is no bond with \(device.shown). If the digits were different, this may be an "
                + "attack; try again elsewhere."
        case .refusedThere(let device):
            "There is no bond: \(device.shown) has refused. To try again, run roadmesh pair on both."
        case .unansweredHere(let device):
            "You did not answer in time, so there is no bond with \(device.shown); run it again on both."
        case .unansweredThere(let device):
            "The question on \(device.shown) was not answered in time, so there is no bond; run it again on both."
        case .leftThere(let device): "There is no bond: it was stopped on \(device.shown). Run it again on both."
        case .weakHere(let device, let weakness): "There is no bond with \(device.shown): \(weakness.words)"
        case .weakThere(let device):
            "There is no bond: \(device.shown) has found the key too weak, which may be an attack. Try again elsewhere."
        case .lost(let device):
            "The link to \(device.shown) broke, so there is no bond; run it again on both, side by side."
        case .failed(let device, let cause):
            "There is no bond with \(device.shown): \(cause.trimmedStop). Run it again on both, side by side."
        case .misspoke(let device):
            "\(device.shown.capitalizedFirst) does not follow RoadMesh's rules for bonding; install the same version on both."
        case .radio(let failure):
            "There is no bond: \(Notice(NetworkError(failure)).sentences)"
        case .stopped: "Stopped; there is no bond."
        }
    }

    /// A name for programs, the same in every version.
    var code: String {
        switch self {
        case .bonded: "bonded"
        case .alreadyBonded: "alreadyBonded"
        case .nobody: "nobody"
        case .several: "several"
        case .refusedHere: "refusedHere"
        case .refusedThere: "refusedThere"
        case .unansweredHere: "unansweredHere"
        case .unansweredThere: "unansweredThere"
        case .leftThere: "leftThere"
        case .weakHere: "weakHere"
        case .weakThere: "weakThere"
        case .lost: "lost"
        case .failed: "failed"
        case .misspoke: "misspoke"
        case .radio: "radio"
        case .stopped: "quit"
        }
    }

    /// The program's exit code; nil with a bond.
    var exitCode: SetupProblem.ExitCode? {
        switch self {
        case .bonded, .alreadyBonded: nil
        case .weakHere, .weakThere, .misspoke: .protocolError
        case .radio(let failure): failure.code == .notPermitted ? .notPermitted : .unavailable
        case .nobody, .several, .refusedHere, .refusedThere, .unansweredHere, .unansweredThere, .leftThere, .lost,
            .failed,
            .stopped:
            .unavailable
        }
    }

    /// The device of this outcome.
    var device: PairingDevice? {
        switch self {
        case .bonded(let device), .alreadyBonded(let device), .refusedHere(let device), .refusedThere(let device),
            .unansweredHere(let device), .unansweredThere(let device), .leftThere(let device), .weakHere(let device, _),
            .weakThere(let device), .lost(let device), .failed(let device, _), .misspoke(let device):
            device
        case .nobody, .several, .radio, .stopped: nil
        }
    }
}

extension PairingWeakness {
    fileprivate var words: String {
        switch self {
        case .shortKey(let bytes):
            "the key has \(bytes) bytes instead of 16, so it can be guessed. This may be an attack; try again "
                + "elsewhere."
        case .notSecureConnections:
            "one of the adapters lacks LE Secure Connections, or an attacker has prevented it. Use a newer adapter."
        case .unasked: "they paired without a question, which may be an attack; try again elsewhere."
        }
    }
}

extension Notice {
    /// The message, and what to do.
    var sentences: String { suggestion.map { "\(message) \($0)" } ?? message }
}

extension String {
    fileprivate var trimmedStop: String { hasSuffix(".") ? String(dropLast()) : self }
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
