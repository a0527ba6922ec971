// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// From the hellos to the bond, or to nothing.
extension Pairing {
    mutating func bond(_ event: Event, now: MeshInstant) -> [Action] {
        switch (state, event) {
        case (_, .called): return [.refuseCall]
        case (.bonding(let box), .asked(let digits)):
            enter(.asking(box), for: RadioLimits.pairingAnswer, now: now)
            return [.tell(.digits(digits, box, within: RadioLimits.pairingAnswer))]
        // Another question than the one that the person has seen is nobody's.
        case (_, .asked): return [.answer(false)]
        case (.asking(let box), .answered(true)):
            // The other person began to compare at the same time, or a little later.
            state = .agreed(box)
            stateEnds += RadioLimits.pairingLastWord + RadioLimits.pairingStep
            return [.answer(true), .tell(.waiting(for: box))]
        // The word leaves before Bluetooth's own no, which has no reason in it.
        case (.asking(let box), .answered(false)):
            return part(box, .no(.refused), .finish(.refusedHere(box)), now: now) + [.answer(false)]
        case (.asking(let box), .tick) where now >= stateEnds:
            return part(box, .no(.unanswered), .finish(.unansweredHere(box)), now: now) + [.answer(false)]
        case (.agreed(let box), .paired(nil)): return vouch(for: box, now: now)
        case (.agreed(let box), .paired(let weakness?)):
            return part(box, .no(.weak), .finish(.weakHere(box, weakness)), now: now)
        case (.bonding(let box), .paired), (.asking(let box), .paired):
            return part(box, .no(.weak), .finish(.weakHere(box, .unasked)), now: now)
        case (_, .received(let message)): return listen(to: message, now: now)
        case (.bonding(let box), .pairingFailed(let cause)), (.asking(let box), .pairingFailed(let cause)),
            (.agreed(let box), .pairingFailed(let cause)):
            enter(.failing(box, .failed(box, cause: cause)), for: RadioLimits.pairingLastWord, now: now)
            return []
        case (.asking(let box), .withdrawn), (.agreed(let box), .withdrawn), (.bonding(let box), .withdrawn):
            let outcome = PairingOutcome.failed(box, cause: "the pairing was broken off")
            enter(.failing(box, outcome), for: RadioLimits.pairingLastWord, now: now)
            return []
        case (_, .linkEnded), (_, .tick): return end(event, now: now)
        default: return []
        }
    }

    private mutating func vouch(for box: PairingBox, now: MeshInstant) -> [Action] {
        guard !isVouchedFor else { return part(box, .verified, .finish(.bonded(box)), now: now) }
        enter(.verified(box), for: RadioLimits.pairingStep, now: now)
        return [.send(.verified)]
    }

    private mutating func listen(to message: PairingMessage?, now: MeshInstant) -> [Action] {
        switch (state, message) {
        case (.verified(let box), .verified):
            // This side's own word may still be under way.
            enter(.parting(box, .finish(.bonded(box))), for: Limits.goodbyeTimeout, now: now)
            return []
        // The other side was quicker.
        case (.agreed, .verified):
            isVouchedFor = true
            return []
        case (.parting(_, .finish(.alreadyBonded)), .verified): return []
        case (.asking(let box), .no(let reason)): return [.answer(false)] + finish(outcome(of: reason, box))
        case (.bonding(let box), .no(let reason)), (.agreed(let box), .no(let reason)),
            (.verified(let box), .no(let reason)), (.failing(let box, _), .no(let reason)):
            return finish(outcome(of: reason, box))
        case (.parting, _): return []
        case (.asking(let box), _): return [.answer(false)] + finish(.misspoke(box))
        case (.bonding(let box), _), (.agreed(let box), _), (.verified(let box), _), (.failing(let box, _), _):
            return finish(.misspoke(box))
        default: return []
        }
    }

    /// The link has ended, or the time of a state has.
    private mutating func end(_ event: Event, now: MeshInstant) -> [Action] {
        guard event == .linkEnded || now >= stateEnds else { return [] }
        switch state {
        case .parting(let box, .lookAgain): return lookAgain(box, now: now)
        case .parting(_, .finish(let outcome)): return finish(outcome)
        case .failing(_, let outcome): return finish(outcome)
        case .asking(let box): return [.answer(false)] + finish(.lost(box))
        case .bonding(let box), .agreed(let box), .verified(let box): return finish(.lost(box))
        case .looking, .dialling, .greeting, .over: return []
        }
    }

    /// What the other side's reason means here.
    func outcome(of reason: PairingMessage.Reason, _ box: PairingBox) -> PairingOutcome {
        switch reason {
        case .refused: .refusedThere(box)
        case .unanswered: .unansweredThere(box)
        case .weak: .weakThere(box)
        case .left: .leftThere(box)
        case .several: .several([box])
        case .notMeant, .unspecified: .failed(box, cause: "the other box did not say why")
        }
    }
}
