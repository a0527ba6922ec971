// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Finding the other box, and the channel to it.
extension PairingRun {
    func received(_ event: RadioEvent) {
        switch event {
        case .heard(let sighting):
            let box = box(
                sighting.endpoint.address, name: sighting.advertisement.name,
                token: Hex.text(sighting.advertisement.idPrefix))
            guard endpoints[box.id] != nil || endpoints.count < RadioLimits.sightings else { return }
            endpoints[box.id] = sighting.endpoint
            happened.yield(.heard(box))
        case .accepted(let channel):
            // One at a time is decided on.
            guard let channel = channel as? L2CAPChannel, caller == nil else { return channel.close() }
            caller = channel
            happened.yield(.called(box(channel.endpoint.address)))
        case .failed(let error): happened.yield(.radioFailed(RadioFailure(error)))
        case .lost, .reached, .recovered, .mended: break
        }
    }

    private func box(_ address: String, name: String = "", token: String = "") -> PairingBox {
        let name = name.isEmpty ? "" : NodeName(untrusted: name).text
        return PairingBox(id: address, name: name, token: token, hasBond: device(at: address)?.hasBond == true)
    }

    func dial(_ box: PairingBox) {
        guard let endpoint = endpoints[box.id] else {
            happened.yield(.dialFailed)
            return
        }
        talking = Task {
            do {
                let channel = try await radio.dial(endpoint)
                guard !Task.isCancelled, let channel = channel as? L2CAPChannel else { return channel.close() }
                self.channel = channel
                happened.yield(.dialled)
                await listen(on: channel)
            } catch {
                logger.debug("pairing: the dial has failed: \(error)")
                if !Task.isCancelled { happened.yield(.dialFailed) }
            }
        }
    }

    func takeCall() {
        guard let caller else { return }
        (channel, self.caller) = (caller, nil)
        talking = Task { await listen(on: caller) }
    }

    func refuseCall() {
        caller?.close()
        caller = nil
    }

    func hangUp() {
        talking?.cancel()
        channel?.close()
        (talking, channel, saying) = (nil, nil, nil)
    }

    func say(_ message: PairingMessage) {
        guard let channel else { return }
        // What cannot be said because the link is gone: its end is told by whoever listens on it.
        saying = Task { [before = saying] in
            await before?.value
            try? await channel.send(message.bytes)
        }
    }

    /// Waits until what was said has left. Who takes nothing is hung up on.
    func sayEverything() async {
        guard let saying, let channel else { return }
        let alarm = Task {
            try? await Task.sleep(for: Limits.goodbyeTimeout)
            if !Task.isCancelled { channel.close() }
        }
        await saying.value
        alarm.cancel()
    }

    private func listen(on channel: L2CAPChannel) async {
        while let sdu = try? await channel.receive() {
            guard !Task.isCancelled else { return }
            happened.yield(.received(PairingMessage(sdu)))
        }
        if !Task.isCancelled { happened.yield(.linkEnded) }
    }
}
