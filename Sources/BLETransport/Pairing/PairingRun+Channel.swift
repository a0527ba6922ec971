// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// Finds the other device, and opens the channel to it.
extension PairingRun {
    func received(_ event: BearerEvent) {
        switch event {
        case .heard(let scanResult):
            let device = device(
                scanResult.endpoint.address, name: scanResult.advertisement.name,
                token: Hex.text(scanResult.advertisement.idPrefix))
            guard endpoints[device.id] != nil || endpoints.count < BearerLimits.scanResults else { return }
            endpoints[device.id] = scanResult.endpoint
            happened.yield(.heard(device))
        case .accepted(let channel):
            // Only one dial at a time is decided.
            guard let channel = channel as? L2CAPChannel, caller == nil else { return channel.close() }
            caller = channel
            happened.yield(.called(device(channel.endpoint.address)))
        case .failed(let error): happened.yield(.radioFailed(error))
        case .better, .lost, .reached, .recovered, .repaired, .timing, .broker: break
        }
    }

    private func device(_ address: String, name: String = "", token: String = "") -> PairingDevice {
        let name = name.isEmpty ? "" : NodeName(untrusted: name).text
        return PairingDevice(id: address, name: name, token: token, hasBond: device(at: address)?.hasBond == true)
    }

    func dial(_ device: PairingDevice) {
        guard let endpoint = endpoints[device.id] else {
            happened.yield(.dialFailed)
            return
        }
        talking = Task {
            do {
                await radio.endLink(to: endpoint)
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
        // If the link is gone, the task that reads from it reports the end.
        saying = Task { [before = saying] in
            await before?.value
            try? await channel.send(message.bytes)
        }
    }

    /// Waits until all messages are sent. If the other side does not read, the channel is closed.
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
