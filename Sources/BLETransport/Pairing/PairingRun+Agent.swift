// SPDX-License-Identifier: Apache-2.0

import Bearers

/// bluetoothd's part: the agent that it asks, the pairing, and the bonds that it keeps.
extension PairingRun {
    func openAgent() async throws(BearerError) {
        let bus = try BlueZBus(poller: radio.poller)
        self.bus = bus
        Task { for await event in bus.events { await self.received(event) } }
        await bus.start()
        do {
            try await bus.listObjects()
            try await bus.registerAgent()
        } catch {
            throw error.radioError
        }
    }

    func closeAgent() async {
        pairing?.cancel()
        try? await bus?.unregisterAgent()
        await bus?.close()
    }

    /// The properties that bluetoothd has reported for an address on this adapter.
    func device(at address: String) -> KnownDevice? {
        path(of: address).flatMap { devices[$0] }
    }

    private func path(of address: String) -> String? {
        devices.first { $0.value.address?.address == address }?.key
    }

    private func received(_ event: BusEvent) async {
        switch event {
        case .device(let path, let change): changed(path, change)
        case .deviceRemoved(let path): devices[path] = nil
        case .agentQuestion(let path, let passkey, let request):
            // The person here has not compared the number of another device that wants to pair at this time.
            guard question == nil, let channel, devices[path]?.address?.address == channel.endpoint.address else {
                await bus?.answer(request, isYes: false)
                return
            }
            (question, partner) = (request, path)
            let digits = String(passkey)
            happened.yield(.asked(digits: String(repeating: "0", count: max(0, 6 - digits.count)) + digits))
        case .agentCancelled(let request):
            guard question == request else { return }
            question = nil
            happened.yield(.withdrawn)
        case .agentReleased: happened.yield(.radioFailed(BearerError(.failed, "bluetoothd has dropped the agent")))
        case .serviceVanished, .closed:
            happened.yield(.radioFailed(BearerError(.serviceNotRunning, "bluetoothd has stopped")))
        case .ready, .serviceAppeared, .adapter, .adapterRemoved, .objectsListed, .advertisementReleased, .gattQuestion:
            break
        }
    }

    private func changed(_ path: String, _ change: DeviceChange) {
        guard path.hasPrefix(adapter.path + "/"), devices[path] != nil || devices.count < RadioLimits.pairingDevices
        else { return }
        var device = devices[path] ?? KnownDevice()
        let wasPaired = device.isPaired
        device.merge(change)
        devices[path] = device
        guard device.isPaired, !wasPaired, let channel, path == partner || isAtOtherEnd(device, of: channel) else {
            return
        }
        partner = path
        happened.yield(.paired(weakness(of: channel)))
    }

    private func isAtOtherEnd(_ device: KnownDevice, of channel: L2CAPChannel) -> Bool {
        device.address?.address == channel.endpoint.address
    }

    private func weakness(of channel: L2CAPChannel) -> PairingWeakness? {
        guard let security = channel.security, !security.isOfBond else {
            return channel.security == nil ? .notSecureConnections : nil
        }
        logger.debug("pairing: the link has \(security)")
        return security.level < LinkSecurity.bondLevel
            ? .notSecureConnections : .shortKey(bytes: security.keyBytes)
    }

    // MARK: Actions

    func pair() {
        guard let channel, let bus, let path = path(of: channel.endpoint.address) else {
            happened.yield(.pairingFailed(cause: "bluetoothd does not know the other device"))
            return
        }
        partner = path
        pairing = Task {
            do throws(BusFailure) {
                try await bus.pair(with: path)
            } catch {
                happened.yield(.pairingFailed(cause: error.text.isEmpty ? error.name : error.text))
            }
        }
    }

    func answerQuestion(_ isYes: Bool) async {
        guard let request = question else { return }
        question = nil
        // Send the reason first: Bluetooth's own refusal ends the same link, and has no reason.
        await sayEverything()
        await bus?.answer(request, isYes: isYes)
    }

    /// Keeps the bond, and ends the link because it is unused from now on.
    func keep(_ device: PairingDevice) async {
        guard let bus, let path = partner ?? path(of: device.id) else { return }
        try? await bus.rename(path, device.name)
        await bus.disconnect(path)
    }

    /// Cancels an open pairing, ends the link, and removes the keys.
    func forget(_ device: PairingDevice) async {
        guard let bus, let path = partner ?? path(of: device.id) else { return }
        do {
            try await bus.remove(device: path, from: adapter.path)
        } catch {
            // A missing bond need not be removed.
            logger.debug("pairing: \(path) is not removed: \(error)")
        }
        (partner, devices[path]) = (nil, nil)
    }
}
