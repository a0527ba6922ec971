// SPDX-License-Identifier: Apache-2.0

/// A channel that its user owns.
struct WeakChannel {
    weak var channel: L2CAPChannel?
}

/// The links below the channels. The kernel would let a link go when its last channel has closed, but bluetoothd looks
/// for GATT services on every new link, and holds on to it for as long as the other side is there: a guest that has left
/// would cost the host's adapter a link and airtime until it is out of reach, and the guest's bluetoothd would go on
/// naming the host by its GATT services and name.
extension BlueZRadio {
    /// Takes over a connected channel's descriptor.
    func channel(_ descriptor: Int32, to endpoint: RadioEndpoint, isDialled: Bool) -> L2CAPChannel {
        let link = L2CAPChannel.Link(
            idleBytesSent: isDialled ? RadioLimits.idleBytesToHost : RadioLimits.idleBytesFromHost,
            idleBytesReceived: isDialled ? RadioLimits.idleBytesFromHost : RadioLimits.idleBytesToHost,
            whenUsed: { [weak self] handle in Task { await self?.tune(handle, .data) } },
            condition: { [weak self] handle, phy in await self?.condition(of: handle, phy: phy) })
        let channel = L2CAPChannel(
            descriptor, endpoint: endpoint, adapterIndex: adapter.index, poller: poller, link: link
        ) { [weak self] in
            Task { await self?.channelClosed(endpoint.address) }
        }
        tune(channel.handle, .opened)
        channels.removeAll { $0.channel == nil }
        channels.append(WeakChannel(channel: channel))
        openChannels[endpoint.address, default: 0] += 1
        lettingGo.removeValue(forKey: endpoint.address)?.cancel()
        return channel
    }

    func closeChannels() {
        for weak in channels { weak.channel?.close() }
        for task in lettingGo.values { task.cancel() }
        lettingGo = [:]
    }

    private func channelClosed(_ address: String) {
        let left = (openChannels[address] ?? 1) - 1
        openChannels[address] = left > 0 ? left : nil
        guard left <= 0, lettingGo[address] == nil else { return }
        lettingGo[address] = Task {
            try? await Task.sleep(for: RadioLimits.unusedLink)
            if !Task.isCancelled { await letGo(address) }
        }
    }

    private func letGo(_ address: String) async {
        lettingGo[address] = nil
        let path = adapter.path + "/dev_" + address.replacing(":", with: "_")
        // A link that is gone needs nothing.
        guard let device = devices[path], device.isConnected, openChannels[address] == nil, !dialQueue.isBusy else {
            return
        }
        logger.debug("letting go of the link to \(address)")
        if !device.isPaired {
            try? await bus?.remove(device: path, from: adapter.path)
        } else if requiresBond {
            // The bond stays. Elsewhere a bonded device is somebody's on purpose, and may be at something else.
            await bus?.disconnect(path)
        }
    }
}
