// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// Decides how to repair an adapter that does not work: an event goes in, actions come out. It reads no clock; `now` is
/// an argument.
///
/// The first step registers everything that is wanted again. If that fails, the adapter is switched off and on. If that
/// fails too, the node switches to another adapter, if it may. An adapter that a person has switched off stays off.
struct AdapterSupervisor: Sendable {
    /// Whether the node may switch to another adapter. False if the user has named an adapter.
    private let mayMove: Bool
    private let name: String

    private var isServiceThere = true
    private var isOn = true
    /// Whether this node has switched the adapter off.
    private var isOffByUs = false
    /// rfkill has switched it off while it was on, so it must be on again afterwards.
    private var wasBlocked = false
    /// The last reported failure, until recovery.
    private var trouble: BearerError?
    /// The reported refusal of the kernel to advertise. Scanning and links still work.
    private var refusal: BearerError?
    private var repair: RadioRepair?

    private var step: (step: Step, number: Int)?
    private var lastNumber = 0
    /// How often in a row `restore` has failed, and the adapter was reset.
    private var restores = 0
    private var resets = 0
    private var lastReset: MeshInstant?

    /// The next step, check, question, advertisement and scan, each with its time.
    private var nextStep: (step: Step, at: MeshInstant)?
    private var lookAt: MeshInstant?
    private var askAt: MeshInstant?
    private var advertiseAt: MeshInstant?
    private var scanAt: MeshInstant?
    private var scanPause = RadioLimits.firstRescan
    private var isScanning = false
    private var silences = 0
    /// The controller has not answered the last question. Another question cannot disturb a command that waits for the
    /// controller.
    var suspectsController: Bool { silences > 0 }

    /// A supervisor of an adapter that works.
    init(adapter: String, mayMove: Bool, now: MeshInstant) {
        name = adapter
        self.mayMove = mayMove
        askAt = now + RadioLimits.controllerCheck
    }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        [nextStep?.at, lookAt, askAt, advertiseAt, scanAt].compactMap(\.self).min()
    }

    /// Why the radio does not work. Nil if it works.
    var failure: BearerError? { trouble }

    /// Decides the actions for an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .serviceVanished:
            (isServiceThere, isOn) = (false, false)
            return fail(BearerError(.serviceNotRunning, "bluetoothd has stopped"))
        case .serviceAppeared:
            isServiceThere = true
            // The event of the adapter follows, unless the adapter has gone since.
            if trouble != nil { nextStep = (.move, now + RadioLimits.adapterGrace) }
            return []
        case .adapterRemoved:
            // When bluetoothd is gone, so are all adapters.
            guard isServiceThere else { return [] }
            (isOn, isOffByUs, wasBlocked) = (false, false, false)
            (restores, resets, lookAt) = (0, 0, nil)
            defer { nextStep = (.move, now + RadioLimits.adapterGrace) }
            return fail(BearerError(.noAdapter, "\(name) is gone"))
        case .poweredOn: return poweredOn(now)
        case .poweredOff(let why): return poweredOff(why, now)
        case .stillOff(let why): return stillOff(why, now)
        case .advertisingFailed(let error) where error.code == .advertisingRefused: return refused(error, now)
        case .advertisingFailed(let error):
            guard trouble == nil, isOn, isServiceThere, step == nil else { return [] }
            restores += 1
            defer { nextStep = (.restore, now + RadioLimits.repairPause(restores)) }
            return fail(error)
        case .otherAdapterOn:
            // The person has plugged in this adapter to replace the node's own.
            if nextStep?.step == .move, trouble?.code == .noAdapter { nextStep = (.move, now) }
            return []
        case .controllerAnswered:
            silences = 0
            if let last = lastReset, now - last >= RadioLimits.resetForgotten { (resets, lastReset) = (0, nil) }
            return []
        case .controllerSilent: return controllerSilent(now)
        case .done(let number): return done(number, now)
        case .failed(let number, let error): return failed(number, error, now)
        case .advertised, .advertisingStopped, .advertisingBack, .scanWanted, .scanStarted, .scanPaused,
            .scanFailed, .heard, .discovering:
            return air(event, now)
        case .tick: return tick(now)
        }
    }

    // MARK: The adapter goes on or off, or does not answer

    private mutating func poweredOn(_ now: MeshInstant) -> [Action] {
        let wasOn = isOn
        isOn = true
        lookAt = nil
        // The current step switches it on, and reports when it is done.
        if let step, step.step == .powerCycle || step.step == .powerOn { return [] }
        (isOffByUs, wasBlocked) = (false, false)
        askAt = now + RadioLimits.controllerCheck
        guard trouble != nil else { return [] }
        // `restore` lists the objects of bluetoothd, which reports once more that the adapter is on. If the adapter had
        // gone off meanwhile, `fail` would have ended the step.
        if wasOn, step?.step == .restore { return [] }
        return start(.restore)
    }

    private mutating func poweredOff(_ why: BearerError, _ now: MeshInstant) -> [Action] {
        let wasOn = isOn
        isOn = false
        if let step, step.step == .powerCycle || step.step == .powerOn { return [] }
        // The adapter is off because of this node's reset, not because of a person.
        guard !isOffByUs || why.isBlock else {
            nextStep = nextStep ?? (.powerOn, now + RadioLimits.repairPause(resets))
            return []
        }
        if why.isBlock, wasOn || isOffByUs { wasBlocked = true }
        isOffByUs = false
        lookAt = why.isBlock ? now + RadioLimits.switchLook : nil
        nextStep = nil
        return fail(why)
    }

    private mutating func stillOff(_ why: BearerError, _ now: MeshInstant) -> [Action] {
        guard !isOn, !isOffByUs, step == nil, trouble?.code != .noAdapter, isServiceThere else { return [] }
        lookAt = now + RadioLimits.switchLook
        if why.isBlock {
            if nextStep?.step == .powerOn { (wasBlocked, nextStep) = (true, nil) }
        } else if wasBlocked {
            // bluetoothd usually switches it on. If it does not, no other program will.
            let told = why.code == trouble?.code ? [] : fail(why)
            wasBlocked = false
            nextStep = (.powerOn, now + RadioLimits.unblockedGrace)
            return told
        }
        return why.code == trouble?.code ? [] : fail(why)
    }

    /// Whether the controller's silence means a fault. A `restore` may itself wait for a controller that has stopped.
    private var mayAsk: Bool { isOn && isServiceThere && (step == nil || step?.step == .restore) }

    private mutating func controllerSilent(_ now: MeshInstant) -> [Action] {
        guard mayAsk else { return [] }
        silences += 1
        guard silences >= RadioLimits.controllerSilences else {
            askAt = now
            return []
        }
        silences = 0
        guard resets < RadioLimits.resetsBeforeMove else {
            // The adapter has come back after each reset, and has stopped answering again.
            resets += 1
            defer { nextStep = (mayMove ? .move : .powerCycle, now + RadioLimits.repairPause(resets)) }
            isOffByUs = mayMove
            return fail(BearerError(.adapterDead, "\(name) does not answer"))
        }
        return fail(BearerError(.adapterSilent, "\(name) does not answer")) + start(.powerCycle)
    }

    // MARK: Steps

    private mutating func fail(_ error: BearerError) -> [Action] {
        (step, refusal) = (nil, nil)
        if nextStep?.step != .move { nextStep = nil }
        guard trouble?.code != error.code else { return [.forget] }
        trouble = error
        return [.forget, .tell(error)]
    }

    /// A reset would not help, and would cost the existing links.
    private mutating func refused(_ error: BearerError, _ now: MeshInstant) -> [Action] {
        advertiseAt = now + RadioLimits.refusedRenewal
        guard trouble == nil, refusal == nil else { return [] }
        refusal = error
        return [.tell(error)]
    }

    private mutating func accepted() -> [Action] {
        defer { refusal = nil }
        return refusal != nil && trouble == nil ? [.tellRecovered] : []
    }

    private mutating func start(_ step: Step) -> [Action] {
        lastNumber += 1
        self.step = (step, lastNumber)
        nextStep = nil
        if step == .powerCycle { isOffByUs = true }
        return [.start(step, lastNumber)]
    }

    private mutating func done(_ number: Int, _ now: MeshInstant) -> [Action] {
        guard let step, step.number == number else { return [] }
        self.step = nil
        askAt = now + RadioLimits.controllerCheck
        switch step.step {
        case .restore:
            (trouble, restores) = (nil, 0)
            let told = repair.map { [Action.tellRepaired($0)] } ?? []
            repair = nil
            return [.tellRecovered] + told
        case .powerCycle, .powerOn, .move:
            if step.step == .powerCycle { (resets, lastReset) = (resets + 1, now) }
            (isOn, isOffByUs, wasBlocked) = (true, false, false)
            return start(.restore)
        }
    }

    private mutating func failed(_ number: Int, _ error: BearerError, _ now: MeshInstant) -> [Action] {
        guard let step, step.number == number else { return [] }
        self.step = nil
        switch step.step {
        case .restore where error.code == .advertisingRefused:
            (trouble, repair, restores) = (nil, nil, 0)
            return refused(error, now)
        case .restore:
            restores += 1
            if restores >= RadioLimits.restoresBeforeReset, resets < RadioLimits.resetsBeforeMove, error.isWorthReset {
                return fail(error) + start(.powerCycle)
            }
            defer { nextStep = (.restore, now + RadioLimits.repairPause(restores)) }
            return fail(error)
        case .powerCycle, .powerOn:
            resets += 1
            defer {
                let isMoving = mayMove && resets >= RadioLimits.resetsBeforeMove
                nextStep = (isMoving ? .move : .powerOn, now + (isMoving ? .zero : RadioLimits.repairPause(resets)))
            }
            // A person or rfkill has switched the adapter off permanently.
            guard isOffByUs, resets >= RadioLimits.resetsBeforeMove else { return [] }
            return fail(BearerError(.adapterDead, "\(name) does not answer"))
        case .move:
            // No other adapter exists, or this node may not use it. The old one may come back.
            resets += 1
            nextStep = (isOffByUs ? .powerOn : .move, now + RadioLimits.repairPause(resets))
            guard trouble?.code == .serviceNotRunning else { return [] }
            return fail(BearerError(.noAdapter, "\(name) is gone"))
        }
    }

    /// Another adapter has replaced the one that failed.
    mutating func moved(from old: String, to new: String, now: MeshInstant) -> AdapterSupervisor {
        var successor = AdapterSupervisor(adapter: new, mayMove: mayMove, now: now)
        (successor.trouble, successor.step, successor.lastNumber) = (trouble, step, lastNumber)
        if old != new { successor.repair = .otherAdapter(old: old, new: new) }
        return successor
    }

    private mutating func begin(_ step: Step) -> [Action] {
        switch step {
        case .restore where !isOn: return []
        case .powerOn where isOn && !isOffByUs: return []
        case .move where isOn && !isOffByUs: return []
        default: return start(step)
        }
    }

    // MARK: Checks while the radio works

    private mutating func air(_ event: Event, _ now: MeshInstant) -> [Action] {
        switch event {
        case .advertised:
            advertiseAt = now + RadioLimits.advertisingRenewal
            return accepted()
        case .advertisingStopped:
            advertiseAt = nil
            return accepted()
        case .advertisingBack: return trouble == nil && advertiseAt != nil ? [.tellRepaired(.advertising)] : []
        case .scanWanted: scanPause = RadioLimits.firstRescan
        case .scanStarted:
            isScanning = true
            scanAt = now + scanPause
        case .scanPaused:
            isScanning = false
            scanAt = nil
        case .scanFailed:
            // If another fault is known, the scan starts when that ends.
            isScanning = false
            scanAt = now + scanPause
        case .heard:
            scanPause = RadioLimits.quietScan
            if isScanning { scanAt = now + scanPause }
        case .discovering(let isOn):
            guard isScanning else { break }
            // bluetoothd pauses between two scans. A longer pause means that the scan is over.
            scanAt = isOn ? now + scanPause : min(scanAt ?? now + RadioLimits.scanBreath, now + RadioLimits.scanBreath)
        default: break
        }
        return []
    }

    private mutating func tick(_ now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        if let next = nextStep, now >= next.at {
            // Without bluetoothd no step can help, and its return starts everything again.
            nextStep = nil
            if isServiceThere, step == nil { actions += begin(next.step) }
        }
        if let at = lookAt, now >= at {
            lookAt = isOn || isOffByUs ? nil : now + RadioLimits.switchLook
            if lookAt != nil { actions.append(.lookAtSwitches) }
        }
        if let at = askAt, now >= at {
            askAt = now + RadioLimits.controllerCheck
            if mayAsk { actions.append(.askController) }
        }
        if let at = advertiseAt, now >= at {
            advertiseAt = now + RadioLimits.advertisingRenewal
            if trouble == nil { actions.append(.advertise) }
        }
        if let at = scanAt, now >= at {
            // Usually no host is in range.
            scanPause = min(scanPause * 2, RadioLimits.slowestRescan)
            scanAt = now + scanPause
            if trouble == nil { actions.append(.scan) }
        }
        return actions
    }
}

extension BearerError {
    /// rfkill or a hardware switch keeps the adapter off.
    var isBlock: Bool { code == .blocked || code == .blockedBySwitch }

    /// Switching the adapter off and on may help. It does not help if the kernel refuses advertisements.
    var isWorthReset: Bool { code == .failed || code == .serviceNotRunning }
}
