// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What carries one link: its transport, and the tasks that read, write and watch it.
struct Carrier {
    let transport: any MeshTransport
    let sendMTU: Int
    let signal: AsyncStream<Void>.Continuation
    var report = LinkReport()
    /// The listener has not taken this link's last events yet: we are the silent ones.
    var isHeldUp = false
    /// The peer has sent too much: nothing is read before this time.
    var heldUntil: MeshInstant?
    var pausing: Task<Void, Never>?
    var reader: Task<Void, Never>?
    var writer: Task<Void, Never>?
    var timer: Task<Void, Never>?
}

extension MeshEndpoint {
    func read(link id: MeshCore.LinkID) async {
        guard let transport = carriers[id]?.transport else { return }
        do {
            while let sdu = try await transport.receive() {
                carriers[id]?.report.receivedBytes += sdu.count
                carryOut(core.received(sdu, on: id, now: now))
                await pause(id)
            }
        } catch {
            logger.debug("link \(id): \(error)")
        }
        carryOut(core.channelClosed(id))
        await transport.close()
        finish(id)
    }

    /// Lets the listener catch up, and a peer that sends too much wait.
    private func pause(_ id: MeshCore.LinkID) async {
        carriers[id]?.isHeldUp = true
        await waitForRoom()
        if let until = carriers[id]?.heldUntil, until > now {
            let pausing = Task { [origin] in _ = try? await Task.sleep(until: origin + until, clock: .continuous) }
            carriers[id]?.pausing = pausing
            await pausing.value
        }
        carriers[id]?.isHeldUp = false
    }

    func write(link id: MeshCore.LinkID, signals: AsyncStream<Void>) async {
        guard let carrier = carriers[id] else { return }
        do {
            for await _ in signals {
                while let (sdu, actions) = core.nextSDU(for: id, limit: carrier.sendMTU) {
                    try await carrier.transport.send(sdu)
                    carriers[id]?.report.sentBytes += sdu.count
                    carryOut(actions)
                }
            }
        } catch {
            // The reader is told by the channel itself, and ends the link.
            await carrier.transport.close()
        }
    }

    /// Begins to watch a link's deadline, which has just become another one.
    func watchAnew(_ id: MeshCore.LinkID) {
        carriers[id]?.timer?.cancel()
        carriers[id]?.timer = Task { await self.watch(link: id) }
    }

    private func watch(link id: MeshCore.LinkID) async {
        while let deadline = core.deadline(of: id) {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            // While the listener holds this link up, its silence is ours.
            if carriers[id]?.isHeldUp == true {
                core.heardNothingByChoice(on: id, now: now)
            } else {
                carryOut(core.tick(id, now: now))
            }
        }
    }

    func report(_ id: MeshCore.LinkID) async {
        guard let carrier = carriers[id] else { return }
        let rssi = await carrier.transport.signalStrength()
        let condition = await carrier.transport.linkCondition()
        guard var report = carriers[id]?.report, let peer = core.peer(on: id) else { return }
        report.rssi = rssi
        report.condition = condition
        if let conversation = core.conversation(with: peer.id) {
            report.resent = conversation.resent
            report.duplicates = conversation.duplicates
            report.outbox = conversation.unacknowledged
        }
        emit(.report(id, peer, report))
    }

    /// The channel is closed: nothing of the link is left.
    private func finish(_ id: MeshCore.LinkID) {
        guard let carrier = carriers.removeValue(forKey: id) else { return }
        carrier.signal.finish()
        carrier.timer?.cancel()
    }
}
