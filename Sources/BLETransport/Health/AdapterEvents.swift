// SPDX-License-Identifier: Apache-2.0

extension AdapterSupervisor {
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
        /// It advertises, for the first time or again; or it need not any more.
        case advertised
        case advertisingStopped
        /// It advertises again, after it had stopped silently.
        case advertisingBack
        /// It was to advertise again, and could not.
        case advertisingFailed(RadioError)
        /// It is to scan from now on.
        case scanWanted
        /// It scans; or it does not, since nobody wants it to or a dial needs the air.
        case scanStarted
        case scanPaused
        /// It was to scan, and could not.
        case scanFailed
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
        /// Report a repair of something that nobody had been told of.
        case tellRepaired(RadioRepair)
        /// Do this, and say how it has ended.
        case start(Step, Int)
        /// Advertise, or scan, again.
        case advertise
        case scan
        /// Say whether the adapter is still off, and why.
        case lookAtSwitches
        /// Say whether the controller answers, and is on the air where it should be.
        case askController
    }
}
