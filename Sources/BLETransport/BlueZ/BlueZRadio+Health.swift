// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Dispatch
import Glibc
import MeshProtocol

/// Performs what `AdapterSupervisor` decides.
extension BlueZRadio {
    /// Tells the supervisor what was seen, and does what it says.
    func supervise(_ event: AdapterSupervisor.Event) {
        guard !isClosed else { return }
        let actions = supervisor.handle(event, now: now)
        for action in actions { perform(action) }
        watchSupervisor()
    }

    /// Sees to it that the supervisor hears of its deadline, which may have become another one.
    func watchSupervisor() {
        supervising?.cancel()
        guard let deadline = supervisor.deadline, !isClosed else { return }
        supervising = Task {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            if !Task.isCancelled { supervise(.tick) }
        }
    }

    private func perform(_ action: AdapterSupervisor.Action) {
        switch action {
        case .forget:
            // Not the advertisement: bluetoothd counts one of an adapter that is off among the few that it takes, and
            // the next registration takes it back.
            discovery.end()
            // A controller that was off has no links, and says of none that it has ended.
            linkWatch.links = [:]
            forgetWhatWasFound()
            // The hosts among them may well be there still: a guest dials its own where it was.
            devices = [:]
        case .tell(let error):
            logger.warning("\(error)")
            eventSink.yield(.failed(error))
        case .tellRecovered: eventSink.yield(.recovered)
        case .tellRepaired(let repair):
            logger.warning("repaired: \(repair)")
            eventSink.yield(.repaired(repair))
        case .start(let step, let number): Task { await take(step, number) }
        case .advertise: renewAdvertisement()
        case .scan: Task { await discoverAnew() }
        case .lookAtSwitches: supervise(.stillOff(adapter.whyOff))
        case .askController: askController()
        }
    }

    private func take(_ step: AdapterSupervisor.Step, _ number: Int) async {
        logger.info("repairing the radio: \(step)")
        do throws(RadioError) {
            switch step {
            case .restore: try await restore()
            case .powerCycle: try await powerCycle()
            case .powerOn: try await power(true)
            case .move: try move()
            }
            supervise(.done(number))
        } catch {
            logger.info("repairing the radio: \(step) failed: \(error)")
            supervise(.failed(number, error))
        }
    }

    /// bluetoothd or the adapter is back, and has forgotten everything.
    private func restore() async throws(RadioError) {
        let there = try Adapter.all().first { $0.name == adapter.name }
        // Another one was put in its place.
        if let there, there.address != adapter.address { use(there) }
        // A socket on an adapter that was pulled out ends, and hears nothing of the next.
        if linkWatch.socket == nil { watchLinks() }
        var refusal: RadioError?
        if wantedAdvertisement != nil {
            try listen()
            do throws(RadioError) {
                try await applyAdvertisement()
            } catch {
                // Scanning works all the same.
                guard error.code == .advertisingRefused else { throw error }
                refusal = error
            }
        }
        if scanned != nil {
            // One that was asked for while the adapter was off may not have been refused yet.
            discovery.end()
            try await discover()
        } else {
            // A host has nothing else that tells it of the links that are up.
            do { try await bus?.listObjects() } catch { throw explained(error) }
        }
        if let refusal { throw refusal }
    }

    // MARK: Switching off and on

    private func powerCycle() async throws(RadioError) {
        // A dial that is pending when its adapter goes can take some kernels down (`docs/bluez.md`).
        dialling?.close()
        if try await resetByKernel() { return }
        // Where it does not answer, switching it off may well fail; on is what counts.
        try? await power(false)
        try await power(true)
    }

    /// Without bluetoothd in between, which gives up on an adapter that does not answer. False where this process may
    /// not.
    private func resetByKernel() async throws(RadioError) -> Bool {
        let index = adapter.index
        // It blocks for seconds: on a thread of its own.
        let result = await withCheckedContinuation { caller in
            DispatchQueue(label: "roadmesh.reset").async { caller.resume(returning: cbluez_hci_power_cycle(index)) }
        }
        switch result {
        case 0: return true
        case -EPERM, -EACCES: return false
        default: throw RadioError(.adapterSilent, SystemError.text(-result))
        }
    }

    private func power(_ isOn: Bool) async throws(RadioError) {
        guard let bus else { throw RadioError(.closed) }
        do {
            try await bus.setPowered(isOn, on: adapter.path)
        } catch {
            throw error.radioError
        }
    }

    // MARK: Another adapter

    /// Takes the same adapter where it has come back under another name, one of the name that a person has given, or,
    /// where nobody has named one, any that is on.
    private func move() throws(RadioError) {
        let gone = adapter
        let there = try Adapter.all().filter { $0.isUp && $0.hasLowEnergy }
        let same = there.first { $0.address == gone.address && $0 != gone } ?? there.first { $0.name == named }
        let other = named == nil ? there.first { $0.address != gone.address } : nil
        guard let next = same ?? other else { throw RadioError(.noAdapter, "there is no other adapter") }
        use(next)
        supervisor = supervisor.moved(from: gone.name, to: next.name, now: now)
    }

    private func use(_ next: Adapter) {
        closeChannels()
        gatt.isServed = false
        stopListening()
        forgetLinks()
        returnSettings()
        forgetWhatWasFound()
        advertisingRoute.forget()
        advertisingNumber = nil
        adapter = next
    }

    // MARK: Is anybody there?

    func askController() {
        guard asking == nil else { return }
        guard dialling == nil || supervisor.suspectsController else {
            questionWaits = true
            return
        }
        questionWaits = false
        asking = Task {
            let answers = await ControllerQuestion.isAnswered(by: adapter.index, poller: poller)
            asking = nil
            guard let answers, !Task.isCancelled else { return }
            supervise(answers ? .controllerAnswered : .controllerSilent)
        }
    }
}
