// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import MeshProtocol

/// A weak reference: the user owns the channel.
struct WeakChannel {
    weak var channel: (any BearerChannel)?
}

/// The links below the channels. `UnusedLinks` decides which of them end. Until its device is out of range, an unused
/// link would occupy one of the links of the host's adapter, and airtime. The guest's bluetoothd would keep the name
/// and the GATT services of the host.
extension BlueZBearer {
    /// Takes ownership of a connected channel's descriptor.
    func channel(_ descriptor: Int32, to endpoint: BearerEndpoint, isDialled: Bool) -> L2CAPChannel {
        let channel = L2CAPChannel(
            descriptor, endpoint: endpoint, poller: poller, link: channelLink(isDialled: isDialled)
        ) { [weak self] handle in
            Task { await self?.channelClosed(endpoint.address, handle, isDialled: isDialled) }
        }
        opened(channel, on: channel.handle, isDialled: isDialled)
        return channel
    }

    /// The calls between a channel and this radio.
    func channelLink(isDialled: Bool) -> ChannelLink {
        let (index, poller) = (adapter.index, poller)
        return ChannelLink(
            idleBytesSent: isDialled ? RadioLimits.idleBytesToHost : RadioLimits.idleBytesFromHost,
            idleBytesReceived: isDialled ? RadioLimits.idleBytesFromHost : RadioLimits.idleBytesToHost,
            whenUsed: { [weak self] handle in Task { await self?.tune(handle, .data) } },
            condition: { [weak self] handle, phy in await self?.condition(of: handle, phy: phy) },
            heed: { [weak self] handle, note in await self?.heed(note, of: handle, isDialled: isDialled) },
            signalStrength: { await ControllerQuestion.signalStrength(of: $0, on: index, poller: poller) })
    }

    /// A channel has opened on the link with this handle.
    func opened(_ channel: any BearerChannel, on handle: UInt16, isDialled: Bool) {
        tune(handle, .opened)
        if isDialled {
            let intervals = linkWatch.links[handle]?.intervals
            plan { $0.dialled(handle, intervals: intervals) }
        } else {
            plan { $0.opened(handle) }
        }
        channels.removeAll { $0.channel == nil }
        channels.append(WeakChannel(channel: channel))
        unusedLinks.opened(channel.endpoint.address)
        packets?.met(channel.endpoint)
    }

    func closeChannels() {
        for weak in channels { weak.channel?.close() }
        lettingGo?.cancel()
    }

    /// A device has connected or disconnected. A host ends links of devices that connect and open no channel.
    func linkChanged(_ address: String, isConnected: Bool) {
        if !isConnected {
            gattLinkLost(address)
            linkEnded(address)
            return unusedLinks.unlinked(address)
        }
        guard wantedAdvertisement != nil else { return }
        unusedLinks.linked(address, now: now)
        watchUnusedLinks()
    }

    /// Checks the links that came up before this device was a host, or before the radio knew them.
    func lookAtLinks() {
        for device in devices.values where device.isConnected {
            if let address = device.address?.address { linkChanged(address, isConnected: true) }
        }
    }

    func channelClosed(_ address: String, _ handle: UInt16, isDialled: Bool) {
        if isDialled { dialTimes[handle] = nil }
        plan { if isDialled { $0.hungUp(handle) } else { $0.closed(handle) } }
        unusedLinks.closed(address, now: now)
        watchUnusedLinks()
    }

    private func watchUnusedLinks() {
        lettingGo?.cancel()
        guard let deadline = unusedLinks.deadline else { return }
        lettingGo = Task {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            for (address, wasUsed) in unusedLinks.due(now: now) { await letGo(address, wasUsed: wasUsed) }
            watchUnusedLinks()
        }
    }

    /// Makes room for a dial. An adapter with one role at a time can dial only when no other device is linked to it.
    /// Links without a channel end first. If a link has a channel, the dial waits, and the node that uses the channel
    /// decides. A dial to a device that is already linked opens one more channel on that link.
    func makeWayForDial(of endpoint: BearerEndpoint) async {
        guard !devices.values.contains(where: { $0.isConnected && $0.address?.address == endpoint.address }) else {
            return
        }
        let index = adapter.index
        let isInTheWay = { [devices, path = adapter.path] (address: String) in
            let device = devices[path + "/dev_" + address.replacing(":", with: "_")]
            guard var peer = device?.address?.kernelAddress else { return false }
            return cbluez_hci_is_incoming(index, &peer) == 1
        }
        guard adapter.hasBothRoles == false else { return }
        for (address, wasUsed) in unusedLinks.vacate(now: now, where: isInTheWay) {
            await letGo(address, wasUsed: wasUsed, isBeforeDial: true)
        }
    }

    // MARK: Ending a link

    /// Ends the link to a device, if there is one, and waits until it has ended. On an existing link the kernel would
    /// pair with the settings of the time when the link came up: without an agent, so without digits (`docs/bluez.md`).
    func endLink(to endpoint: BearerEndpoint) async {
        let linked = devices.first { $0.value.isConnected && $0.value.address?.address == endpoint.address }
        guard let path = linked?.key, !isClosed else { return }
        logger.debug("ending the link to \(endpoint.address)")
        await bus?.disconnect(path)
        guard devices[path]?.isConnected == true else { return }
        let alarm = Task {
            try? await Task.sleep(for: RadioLimits.linkEnd)
            if !Task.isCancelled { linkEnded(endpoint.address) }
        }
        await withCheckedContinuation { endedLinks.append((endpoint.address, $0)) }
        alarm.cancel()
    }

    private func linkEnded(_ address: String) {
        for waiter in endedLinks where waiter.address == address { waiter.waiter.resume() }
        endedLinks.removeAll { $0.address == address }
    }

    /// Resumes all callers that wait for the end of a link.
    func forgetEndingLinks() {
        for waiter in endedLinks { waiter.waiter.resume() }
        endedLinks = []
    }

    /// Ends a link. Set `isBeforeDial` if the next dial waits for the end of this link.
    private func letGo(_ address: String, wasUsed: Bool, isBeforeDial: Bool = false) async {
        let path = adapter.path + "/dev_" + address.replacing(":", with: "_")
        // Skip a link that is gone, or that is used again since the decision.
        guard let device = devices[path], device.isConnected, !unusedLinks.knows(address) else { return }
        // bluetoothd would end a pending dial.
        guard !dialQueue.isBusy || isBeforeDial, let kernelAddress = device.address?.kernelAddress else {
            return unusedLinks.kept(address, wasUsed: wasUsed, now: now)
        }
        var peer = kernelAddress
        // A link that this device has dialled for another program belongs to that program.
        guard wasUsed || cbluez_hci_is_incoming(adapter.index, &peer) == 1 else { return }
        logger.debug("releasing the link to \(address)")
        if !device.isPaired {
            await remove(path, address, wasUsed: wasUsed)
        } else if requiresBond {
            // Keep the bond. On other adapters a bonded device is linked on purpose and may be in use.
            await bus?.disconnect(path)
        }
    }

    private func remove(_ path: String, _ address: String, wasUsed: Bool) async {
        do throws(BusFailure) {
            try await bus?.remove(device: path, from: adapter.path)
        } catch {
            logger.debug("the link to \(address) stays: \(error)")
            unusedLinks.kept(address, wasUsed: wasUsed, now: now)
        }
    }
}
