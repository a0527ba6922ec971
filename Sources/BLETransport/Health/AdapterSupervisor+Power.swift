// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What comes of an adapter that goes on, goes off or falls silent.
extension AdapterSupervisor {
    mutating func poweredOn(_ now: MeshInstant) -> [Action] {
        isOn = true
        lookAt = nil
        // The step that is under way switches it on, and says when it is through.
        if let step, step.step == .powerCycle || step.step == .powerOn { return [] }
        (isOffByUs, wasBlocked) = (false, false)
        askAt = now + RadioLimits.controllerCheck
        guard trouble != nil else { return [] }
        return start(.restore)
    }

    mutating func poweredOff(_ why: RadioError, _ now: MeshInstant) -> [Action] {
        let wasOn = isOn
        isOn = false
        if let step, step.step == .powerCycle || step.step == .powerOn { return [] }
        // What is off because we have reset it is not a person's doing.
        guard !isOffByUs || why.isBlock else {
            nextStep = nextStep ?? (.powerOn, now + RadioLimits.mendingPause(resets))
            return []
        }
        if why.isBlock, wasOn || isOffByUs { wasBlocked = true }
        isOffByUs = false
        lookAt = why.isBlock ? now + RadioLimits.switchLook : nil
        nextStep = nil
        return fail(why)
    }

    mutating func stillOff(_ why: RadioError, _ now: MeshInstant) -> [Action] {
        guard !isOn, !isOffByUs, step == nil, trouble?.code != .noAdapter, isServiceThere else { return [] }
        lookAt = now + RadioLimits.switchLook
        if why.isBlock {
            if nextStep?.step == .powerOn { (wasBlocked, nextStep) = (true, nil) }
        } else if wasBlocked {
            // bluetoothd switches it on itself, most often; where it does not, nobody else will.
            let told = why.code == trouble?.code ? [] : fail(why)
            wasBlocked = false
            nextStep = (.powerOn, now + RadioLimits.unblockedGrace)
            return told
        }
        return why.code == trouble?.code ? [] : fail(why)
    }

    mutating func controllerSilent(_ now: MeshInstant) -> [Action] {
        guard isOn, step == nil, isServiceThere else { return [] }
        silences += 1
        guard silences >= RadioLimits.controllerSilences else {
            askAt = now
            return []
        }
        silences = 0
        guard resets < RadioLimits.resetsBeforeMove else {
            // It has come back from each reset, and gone silent again.
            resets += 1
            defer { nextStep = (mayMove ? .move : .powerCycle, now + RadioLimits.mendingPause(resets)) }
            isOffByUs = mayMove
            return fail(RadioError(.adapterDead, "\(name) does not answer"))
        }
        return fail(RadioError(.adapterSilent, "\(name) does not answer")) + start(.powerCycle)
    }
}
