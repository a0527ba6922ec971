// SPDX-License-Identifier: Apache-2.0

import Bearers

extension AdapterSupervisor {
    /// An observation of the adapter, or the result of a step.
    enum Event: Hashable, Sendable {
        /// bluetoothd has left the bus, or is on it again.
        case serviceVanished
        case serviceAppeared
        /// The adapter is gone from bluetoothd.
        case adapterRemoved
        /// The adapter is on, or off for this cause.
        case poweredOn
        case poweredOff(BearerError)
        /// The adapter is still off, for this cause (`Action.lookAtSwitches`).
        case stillOff(BearerError)
        /// Another adapter exists and is on.
        case otherAdapterOn
        /// The adapter advertises, for the first time or again, or no longer has to.
        case advertised
        case advertisingStopped
        /// The adapter advertises again after it had stopped silently.
        case advertisingBack
        /// Advertising again has failed.
        case advertisingFailed(BearerError)
        /// A scan is wanted from now on.
        case scanWanted
        /// The scan has started, or is paused because it is not wanted or a dial needs the air.
        case scanStarted
        case scanPaused
        /// A wanted scan could not start.
        case scanFailed
        /// The scan has heard an advertisement.
        case heard
        /// bluetoothd reports that discovery is on or off.
        case discovering(Bool)
        /// The controller has answered, or has not (`Action.askController`).
        case controllerAnswered
        case controllerSilent
        /// The step with this number has succeeded or failed.
        case done(Int)
        case failed(Int, BearerError)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// A repair step, in the order in which they are tried.
    enum Step: Hashable, Sendable {
        /// Registers and starts everything that is wanted.
        case restore
        /// Switches the adapter off and on.
        case powerCycle
        /// Switches the adapter on.
        case powerOn
        /// Switches to another adapter of this machine.
        case move
    }

    /// An action for the radio.
    enum Action: Hashable, Sendable {
        /// Forget all registrations. The failure has removed them.
        case forget
        /// Report that the radio does not work, and why.
        case tell(BearerError)
        /// Report that the radio works again.
        case tellRecovered
        /// Report a repair of a fault that was never reported.
        case tellRepaired(RadioRepair)
        /// Perform this step and report its result.
        case start(Step, Int)
        /// Advertise, or scan, again.
        case advertise
        case scan
        /// Report whether the adapter is still off, and why.
        case lookAtSwitches
        /// Report whether the controller answers, and whether it advertises if it should.
        case askController
    }
}
