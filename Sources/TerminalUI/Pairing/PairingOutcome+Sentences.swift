// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshNode

extension PairingBox {
    /// Its name in a sentence.
    var shown: String { name.isEmpty ? "the other box" : "\"\(name)\"" }
}

extension PairingOutcome {
    /// What happened, what it means and what to do.
    var sentence: String {
        switch self {
        case .bonded(let box): "Bonded with \(box.shown)."
        case .alreadyBonded(let box):
            "Bonded with \(box.shown) already. To bond anew, forget it on both boxes first: roadmesh pair forget."
        case .nobody(nil):
            "No box was heard that wants to bond; run roadmesh pair on the other one at the same time, nearby."
        case .nobody(let wanted?):
            "No box called \"\(wanted)\" was heard that wants to bond; run roadmesh pair on it at the same time, nearby."
        case .several(let boxes):
            "Several boxes want to bond at the same time (\(boxes.prefix(4).map(\.shown).joined(separator: ", "))). Say "
                + "which one you mean, on both: roadmesh pair NAME."
        case .refusedHere(let box):
            "You have refused, so there is no bond with \(box.shown). If the digits were different, somebody may be in "
                + "between; try again elsewhere."
        case .refusedThere(let box):
            "There is no bond: \(box.shown) has refused. If you want one, run it again on both."
        case .unansweredHere(let box):
            "Nobody has answered here in time, so there is no bond with \(box.shown); run it again on both."
        case .unansweredThere(let box):
            "Nobody has answered on \(box.shown) in time, so there is no bond; run it again on both."
        case .leftThere(let box): "There is no bond: it was stopped on \(box.shown). Run it again on both."
        case .weakHere(let box, let weakness): "There is no bond with \(box.shown): \(weakness.words)"
        case .weakThere(let box):
            "There is no bond: \(box.shown) has found the key too weak, which may be an attack. Try again elsewhere."
        case .lost(let box): "The link to \(box.shown) broke, so there is no bond; run it again on both, side by side."
        case .failed(let box, let cause):
            "There is no bond with \(box.shown): \(cause.trimmedStop). Run it again on both, side by side."
        case .misspoke(let box):
            "\(box.shown.capitalizedFirst) does not speak as RoadMesh does when it bonds; install the same version on both."
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

    /// What the program ends with; nil where there is a bond.
    var exitCode: SetupProblem.ExitCode? {
        switch self {
        case .bonded, .alreadyBonded: nil
        case .weakHere, .weakThere, .misspoke: .protocolError
        case .radio(let failure): failure.kind == .notPermitted ? .notPermitted : .unavailable
        case .nobody, .several, .refusedHere, .refusedThere, .unansweredHere, .unansweredThere, .leftThere, .lost,
            .failed,
            .stopped:
            .unavailable
        }
    }

    /// The box that it is about.
    var box: PairingBox? {
        switch self {
        case .bonded(let box), .alreadyBonded(let box), .refusedHere(let box), .refusedThere(let box),
            .unansweredHere(let box), .unansweredThere(let box), .leftThere(let box), .weakHere(let box, _),
            .weakThere(let box), .lost(let box), .failed(let box, _), .misspoke(let box):
            box
        case .nobody, .several, .radio, .stopped: nil
        }
    }
}

extension PairingWeakness {
    fileprivate var words: String {
        switch self {
        case .shortKey(let bytes):
            "the key has \(bytes) bytes instead of 16, so that it could be guessed. Somebody may have made it so; try again "
                + "elsewhere."
        case .notSecureConnections:
            "one of the adapters cannot do LE Secure Connections, or somebody has kept them from it. Use a newer adapter."
        case .unasked: "they paired without a question. Somebody may be in between; try again elsewhere."
        }
    }
}

extension Notice {
    /// What it says, and what to do.
    var sentences: String { suggestion.map { "\(message) \($0)" } ?? message }
}

extension String {
    fileprivate var trimmedStop: String { hasSuffix(".") ? String(dropLast()) : self }
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
