// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// How a step begins, and what its end leads to.
extension AdapterSupervisor {
    mutating func fail(_ error: RadioError) -> [Action] {
        step = nil
        if nextStep?.step != .move { nextStep = nil }
        guard trouble?.code != error.code else { return [.forget] }
        trouble = error
        return [.forget, .tell(error)]
    }

    mutating func start(_ step: Step) -> [Action] {
        lastNumber += 1
        self.step = (step, lastNumber)
        nextStep = nil
        if step == .powerCycle { isOffByUs = true }
        return [.start(step, lastNumber)]
    }

    mutating func done(_ number: Int, _ now: MeshInstant) -> [Action] {
        guard let step, step.number == number else { return [] }
        self.step = nil
        askAt = now + RadioLimits.controllerCheck
        switch step.step {
        case .restore:
            (trouble, restores) = (nil, 0)
            let told = mending.map { [Action.tellMended($0)] } ?? []
            mending = nil
            return [.tellRecovered] + told
        case .powerCycle, .powerOn, .move:
            if step.step == .powerCycle { (resets, lastReset) = (resets + 1, now) }
            (isOn, isOffByUs, wasBlocked) = (true, false, false)
            return start(.restore)
        }
    }

    mutating func failed(_ number: Int, _ error: RadioError, _ now: MeshInstant) -> [Action] {
        guard let step, step.number == number else { return [] }
        self.step = nil
        switch step.step {
        case .restore:
            restores += 1
            if restores >= RadioLimits.restoresBeforeReset, resets < RadioLimits.resetsBeforeMove, error.isWorthReset {
                return fail(error) + start(.powerCycle)
            }
            defer { nextStep = (.restore, now + RadioLimits.mendingPause(restores)) }
            return fail(error)
        case .powerCycle, .powerOn:
            resets += 1
            defer {
                let isMoving = mayMove && resets >= RadioLimits.resetsBeforeMove
                nextStep = (isMoving ? .move : .powerOn, now + (isMoving ? .zero : RadioLimits.mendingPause(resets)))
            }
            // A person, or rfkill, has switched it off for good.
            guard isOffByUs, resets >= RadioLimits.resetsBeforeMove else { return [] }
            return fail(RadioError(.adapterDead, "\(name) does not answer"))
        case .move:
            // There is no other, or it may not be taken: the one there was may come back.
            resets += 1
            nextStep = (isOffByUs ? .powerOn : .move, now + RadioLimits.mendingPause(resets))
            guard trouble?.code == .serviceNotRunning else { return [] }
            return fail(RadioError(.noAdapter, "\(name) is gone"))
        }
    }

    /// Another adapter was taken in the place of the one that has failed.
    mutating func moved(from old: String, to new: String, now: MeshInstant) -> AdapterSupervisor {
        var successor = AdapterSupervisor(adapter: new, mayMove: mayMove, now: now)
        (successor.trouble, successor.step, successor.lastNumber) = (trouble, step, lastNumber)
        if old != new { successor.mending = .otherAdapter(old: old, new: new) }
        return successor
    }

    mutating func begin(_ step: Step) -> [Action] {
        switch step {
        case .restore where !isOn: return []
        case .powerOn where isOn && !isOffByUs: return []
        case .move where isOn && !isOffByUs: return []
        default: return start(step)
        }
    }
}

extension RadioError {
    /// rfkill, or a switch of the machine, is what keeps the adapter off.
    var isBlock: Bool { code == .blocked || code == .blockedBySwitch }

    /// Switching the adapter off and on may help. Against a refusal it does not.
    var isWorthReset: Bool { code == .failed || code == .serviceNotRunning }
}
