// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Dispatch
import Glibc
import MeshProtocol

/// Performs the actions of `AdapterSupervisor`.
extension BlueZBearer {
    /// Sends an event to the supervisor, and performs its actions.
    func supervise(_ event: AdapterSupervisor.Event) {
        guard !isClosed else { return }
        let actions = supervisor.handle(event, now: now)
        for action in actions { perform(action) }
        watchSupervisor()
    }

    /// Schedules the supervisor's next deadline, which may have changed.
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
            // Keep the registered advertisement. bluetoothd counts an advertisement of an adapter that is off among the
            // few that it allows, and the next registration removes it.
            discovery.end()
            // A controller that was off has no links, and reports no end for any.
            linkWatch.links = [:]
            forgetWhatWasFound()
            // The hosts may still be in range. A guest dials its own host at the old endpoint.
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
        do throws(BearerError) {
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

    /// bluetoothd or the adapter is back, without its former state.
    private func restore() async throws(BearerError) {
        let there = try Adapter.all().first { $0.name == adapter.name }
        // Another adapter has replaced the old one.
        if let there, there.address != adapter.address { use(there) }
        // The socket of an adapter that was unplugged ends, and gets no events of the next adapter.
        if linkWatch.socket == nil { watchLinks() }
        var refusal: BearerError?
        if wantedAdvertisement != nil {
            try listen()
            do throws(BearerError) {
                try await applyAdvertisement()
            } catch {
                // Scanning works without advertising.
                guard error.code == .advertisingRefused else { throw error }
                refusal = error
            }
        }
        if scanned != nil {
            // A discovery that was requested while the adapter was off may not have failed yet.
            discovery.end()
            try await discover()
        } else {
            // A host has no other source for the links that are up.
            do { try await bus?.listObjects() } catch { throw explained(error) }
        }
        if let refusal { throw refusal }
    }

    // MARK: Switching off and on

    private func powerCycle() async throws(BearerError) {
        // A pending dial at a power-off can crash some kernels (`docs/bluez.md`).
        dialling?.close()
        if try await resetByKernel() { return }
        // If the adapter does not answer, switching it off may fail. Only switching it on matters.
        try? await power(false)
        try await power(true)
    }

    /// Power-cycles through the kernel. bluetoothd gives up on an adapter that does not answer. Returns false if this
    /// process lacks the permission.
    private func resetByKernel() async throws(BearerError) -> Bool {
        let index = adapter.index
        // The call blocks for seconds, so it gets its own thread.
        let result = await withCheckedContinuation { caller in
            DispatchQueue(label: "roadmesh.reset").async { caller.resume(returning: cbluez_hci_power_cycle(index)) }
        }
        switch result {
        case 0: return true
        case -EPERM, -EACCES: return false
        default: throw BearerError(.adapterSilent, SystemError.text(-result))
        }
    }

    func power(_ isOn: Bool) async throws(BearerError) {
        guard let bus else { throw BearerError(.closed) }
        do {
            try await bus.setPowered(isOn, on: adapter.path)
        } catch {
            throw error.radioError
        }
    }

    // MARK: Another adapter

    /// Switches to the same adapter if it has come back under another name, else to the adapter that the user has
    /// named, or to any adapter that is on if the user has named none.
    private func move() throws(BearerError) {
        let gone = adapter
        let there = try Adapter.all().filter { $0.isUp && $0.hasLowEnergy }
        let same = there.first { $0.address == gone.address && $0 != gone } ?? there.first { $0.name == named }
        let other = named == nil ? there.first { $0.address != gone.address } : nil
        guard let next = same ?? other else { throw BearerError(.noAdapter, "there is no other adapter") }
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

    // MARK: Asking the controller

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
