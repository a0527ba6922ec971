// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what is done about an adapter that does not work: an event goes in, actions come out. Reads no clock; `now` is
/// an argument.
///
/// What is wanted of the radio is registered again first; where that does not help, the adapter is switched off and on;
/// where that does not help either, another adapter is taken, if it may be. What a person has switched off stays off.
struct AdapterSupervisor: Sendable {
    /// What was seen of the adapter, and what has come of the steps.
    enum Event: Hashable, Sendable {
        /// bluetoothd has left the bus, or is on it again.
        case serviceVanished
        case serviceAppeared
        /// bluetoothd has the adapter no more.
        case adapterRemoved
        /// The adapter is on; or off, for this cause.
        case poweredOn
        case poweredOff(RadioError)
        /// The adapter is still off, for this cause (`Action.lookAtSwitches`).
        case stillOff(RadioError)
        /// Another adapter is there, and on.
        case otherAdapterOn
        /// It advertises, from now on or anew; or it need not any more.
        case advertised
        case advertisingStopped
        /// It advertises again, after it had stopped to without a word.
        case advertisingBack
        /// It was to advertise anew, and could not.
        case advertisingFailed(RadioError)
        /// It is to scan from now on.
        case scanWanted
        /// It scans; or it does not, since nobody wants it to or a dial needs the air.
        case scanStarted
        case scanPaused
        /// Something was heard by the scan.
        case heard
        /// bluetoothd says that discovery is on, or off.
        case discovering(Bool)
        /// The controller has answered, or has not (`Action.askController`).
        case controllerAnswered
        case controllerSilent
        /// How the step of this number has ended.
        case done(Int)
        case failed(Int, RadioError)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is tried, in the order in which it is.
    enum Step: Hashable, Sendable {
        /// Registers and starts whatever is wanted, again.
        case restore
        /// Switches the adapter off and on.
        case powerCycle
        /// Switches the adapter on.
        case powerOn
        /// Takes another adapter of this machine.
        case move
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// What was registered is gone with whatever has failed.
        case forget
        /// Tell that the radio does not work, and why.
        case tell(RadioError)
        /// Tell that it works again.
        case tellRecovered
        /// Tell what was mended that nobody had been told of.
        case tellMended(RadioMending)
        /// Do this, and say how it has ended.
        case start(Step, Int)
        /// Advertise, or scan, anew.
        case advertise
        case scan
        /// Say whether the adapter is still off, and why.
        case lookAtSwitches
        /// Say whether the controller answers, and is on the air where it should be.
        case askController
    }

    /// Whether another adapter may be taken: not where a person has named one.
    let mayMove: Bool
    let name: String

    var isServiceThere = true
    var isOn = true
    /// Our own doing has switched it off.
    var isOffByUs = false
    /// rfkill has switched it off while it was on, so it is to be on when that is over.
    var wasBlocked = false
    /// What was told last, and not recovered from.
    var trouble: RadioError?
    var mending: RadioMending?

    var step: (step: Step, number: Int)?
    var lastNumber = 0
    /// How often in a row `restore` has failed, and the adapter was reset.
    var restores = 0
    var resets = 0
    var lastReset: MeshInstant?

    /// What is to be done when.
    var nextStep: (step: Step, at: MeshInstant)?
    var lookAt: MeshInstant?
    var askAt: MeshInstant?
    var advertiseAt: MeshInstant?
    var scanAt: MeshInstant?
    var scanPause = RadioLimits.firstRescan
    var isScanning = false
    var silences = 0

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

    /// Why the radio does not work; nil where it does.
    var failure: RadioError? { trouble }

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .serviceVanished:
            (isServiceThere, isOn) = (false, false)
            return fail(RadioError(.serviceNotRunning, "bluetoothd has stopped"))
        case .serviceAppeared:
            isServiceThere = true
            // The adapter follows, unless it has gone meanwhile.
            if trouble != nil { nextStep = (.move, now + RadioLimits.adapterGrace) }
            return []
        case .adapterRemoved:
            // With bluetoothd all of its adapters go.
            guard isServiceThere else { return [] }
            (isOn, isOffByUs, wasBlocked) = (false, false, false)
            (restores, resets, lookAt) = (0, 0, nil)
            defer { nextStep = (.move, now + RadioLimits.adapterGrace) }
            return fail(RadioError(.noAdapter, "\(name) is gone"))
        case .poweredOn: return poweredOn(now)
        case .poweredOff(let why): return poweredOff(why, now)
        case .stillOff(let why): return stillOff(why, now)
        case .advertisingFailed(let error):
            guard trouble == nil, isOn, isServiceThere, step == nil else { return [] }
            restores += 1
            defer { nextStep = (.restore, now + RadioLimits.mendingPause(restores)) }
            return fail(error)
        case .otherAdapterOn:
            // Somebody has put it in because of this.
            if nextStep?.step == .move, trouble?.code == .noAdapter { nextStep = (.move, now) }
            return []
        case .controllerAnswered:
            silences = 0
            if let last = lastReset, now - last >= RadioLimits.resetForgotten { (resets, lastReset) = (0, nil) }
            return []
        case .controllerSilent: return controllerSilent(now)
        case .done(let number): return done(number, now)
        case .failed(let number, let error): return failed(number, error, now)
        case .advertised, .advertisingStopped, .advertisingBack, .scanWanted, .scanStarted, .scanPaused, .heard,
            .discovering:
            return air(event, now)
        case .tick: return tick(now)
        }
    }
}
