// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Up to the two hellos: which box, and who dials.
extension Pairing {
    /// When a box that was heard is to be dialled, or it is to be said that there are several. Of two boxes the one with the
    /// lower token dials; the other one does too when nothing has come of that.
    var dialDue: MeshInstant? {
        guard let gatherEnds, let box = candidates.first else { return nil }
        return candidates.count > 1 || token < box.token ? gatherEnds : gatherEnds + RadioLimits.pairingPatience
    }

    /// The boxes that may be meant.
    private var candidates: [PairingBox] {
        heard.values.filter { box in !ignored.contains(box.id) && wanted.map { box.isCalled($0) } ?? true }
            .sorted { $0.id < $1.id }
    }

    mutating func look(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .heard(let box): return hear(box, now: now)
        case .called(let box):
            guard !ignored.contains(box.id) else { return [.refuseCall] }
            enter(.greeting(box, isDialler: false), for: RadioLimits.pairingStep, now: now)
            return [.takeCall, .stopLooking, .send(.hello(name: name, hasBond: box.hasBond))]
        case .tick where now >= stateEnds: return finish(.nobody(wanted: wanted))
        case .tick:
            guard let dialDue, now >= dialDue, let box = candidates.first else { return [] }
            guard candidates.count == 1 else { return finish(.several(candidates)) }
            enter(.dialling(box), for: RadioLimits.pairingStep, now: now)
            return [.stopLooking, .dial(box)]
        default: return []
        }
    }

    private mutating func hear(_ box: PairingBox, now: MeshInstant) -> [Action] {
        guard heard[box.id] != nil || heard.count < RadioLimits.sightings else { return [] }
        let isNews = heard[box.id]?.name != box.name && !box.name.isEmpty && !ignored.contains(box.id)
        heard[box.id] = box
        // A box that was named is not waited for: it is the one, whoever else there is.
        if gatherEnds == nil, !candidates.isEmpty {
            gatherEnds = wanted == nil ? now + RadioLimits.pairingGather : now
        }
        return isNews ? [.tell(.heard(box))] : []
    }

    mutating func dial(_ box: PairingBox, _ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .dialled:
            enter(.greeting(box, isDialler: true), for: RadioLimits.pairingStep, now: now)
            return [.send(.hello(name: name, hasBond: box.hasBond))]
        case .dialFailed: return linkBroke(with: box, now: now)
        case .tick where now >= stateEnds: return lookAgain(box, now: now)
        case .called: return [.refuseCall]
        default: return []
        }
    }

    mutating func greet(_ box: PairingBox, _ isDialler: Bool, _ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .received(.hello(let name, let hasBond)):
            var box = box
            if !name.isEmpty { box.name = name }
            return meet(box, isDialler, theyHaveBond: hasBond, now: now)
        case .received(.no(let reason)): return turnedAway(by: box, reason, now: now)
        case .received: return finish(.misspoke(box))
        case .linkEnded: return linkBroke(with: box, now: now)
        case .tick where now >= stateEnds: return lookAgain(box, now: now)
        case .called: return [.refuseCall]
        default: return []
        }
    }

    private mutating func meet(
        _ box: PairingBox, _ isDialler: Bool, theyHaveBond: Bool, now: MeshInstant
    ) -> [Action] {
        if let wanted, !box.isCalled(wanted) {
            ignored.insert(box.id)
            return part(box, .no(.notMeant), .lookAgain, now: now)
        }
        // Whoever has called may be heard as well, or not.
        let others = wanted == nil ? heard.values.filter { $0.id != box.id && !ignored.contains($0.id) } : []
        guard others.isEmpty else {
            let all = (others + [box]).sorted { $0.id < $1.id }
            return part(box, .no(.several), .finish(.several(all)), now: now)
        }
        switch (box.hasBond, theyHaveBond) {
        case (true, true): return part(box, .verified, .finish(.alreadyBonded(box)), now: now)
        // Half a bond is in the way of a whole one. Who has it forgets it, and they meet anew.
        case (true, false): return lookAgain(box, forgettingBond(with: box), now: now)
        case (false, true): return lookAgain(box, now: now)
        case (false, false):
            hasBegun = true
            enter(.bonding(box), for: RadioLimits.pairingStep, now: now)
            return isDialler ? [.pair] : []
        }
    }

    private mutating func turnedAway(
        by box: PairingBox, _ reason: PairingMessage.Reason, now: MeshInstant
    ) -> [Action] {
        switch reason {
        case .notMeant:
            ignored.insert(box.id)
            return lookAgain(box, now: now)
        default: return finish(outcome(of: reason, box))
        }
    }

    /// A bond that the other side does not know breaks the link as soon as it is used. So may anything else, once.
    private mutating func linkBroke(with box: PairingBox, now: MeshInstant) -> [Action] {
        lookAgain(box, meetings > 0 ? forgettingBond(with: box) : [], now: now)
    }

    private func forgettingBond(with box: PairingBox) -> [Action] {
        box.hasBond ? [.forget(box), .tell(.forgotten(box))] : []
    }
}
