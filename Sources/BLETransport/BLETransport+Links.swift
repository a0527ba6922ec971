// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A link's number in its transport.
typealias LinkID = Int

/// One link: its channel, who decides about it, and what waits to leave on it.
struct Link {
    let channel: any RadioChannel
    let role: LinkMachine.Role
    /// What a guest called the host it dialled.
    let invited: Peer.ID?
    var machine: LinkMachine
    var outbox = LinkOutbox()
    var peer: Peer?
    var roundTrip: Duration?
    var sentBytes = 0
    var receivedBytes = 0
    /// The listener has not taken this link's last event yet: we are the silent ones.
    var isHeldUp = false
    var reader: Task<Void, Never>?
    var writer: Task<Void, Never>?
    var timer: Task<Void, Never>?
    let signal: AsyncStream<Void>.Continuation

    func wake() { signal.yield() }
}

extension BLETransport {
    /// Takes over a channel that has just opened, and runs it until it ends.
    func open(_ channel: any RadioChannel, role: LinkMachine.Role, invited: Peer.ID? = nil) async {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        lastLink += 1
        let id = lastLink
        links[id] = Link(
            channel: channel, role: role, invited: invited,
            machine: LinkMachine(role: role, local: local, now: now), signal: signal)
        links[id]?.writer = Task { await self.write(link: id, to: channel, signals: signals) }
        links[id]?.reader = Task { await self.read(link: id, from: channel) }
        watchAnew(id)
        await carryOut(links[id]?.machine.opened() ?? [], on: id)
    }

    /// Carries out what a link's machine has decided, in order.
    func carryOut(_ actions: [LinkMachine.Action], on id: LinkID) async {
        for action in actions {
            guard links[id] != nil else { return }
            switch action {
            case .send(let frame):
                links[id]?.outbox.enqueue(frame)
                links[id]?.wake()
            case .introduced(let peer): await answer(peer, on: id)
            case .connected(let peer):
                links[id]?.peer = peer
                linkOfPeer[peer.id] = id
                watchAnew(id)
                await tell(.connected(peer), of: id)
            case .deliver(let body):
                guard let peer = links[id]?.peer else { continue }
                await tell(.received(body, from: peer.id), of: id)
            case .roundTrip(let time):
                links[id]?.roundTrip = time
                // In a task of its own: asking the controller for the signal strength takes time, and reading goes on.
                Task { await report(id) }
            case .close(let end): await close(id, end)
            }
        }
    }

    private func answer(_ peer: Peer, on id: LinkID) async {
        let answer = admission.answer(peer.id, local: local.id, connected: linkOfPeer.keys)
        switch answer {
        case .refuse(let reason):
            await carryOut(links[id]?.machine.refuse(reason) ?? [], on: id)
            return
        case .admitReplacing: if let old = linkOfPeer[peer.id] { await close(old, .replaced) }
        case .admit: break
        }
        await carryOut(links[id]?.machine.admit() ?? [], on: id)
    }

    /// Gives an event of a link to the listener, and waits until it is taken.
    private func tell(_ event: TransportEvent, of id: LinkID) async {
        links[id]?.isHeldUp = true
        await outlet.send(event)
        links[id]?.isHeldUp = false
    }

    // MARK: Reading, writing, watching

    private func read(link id: LinkID, from channel: any RadioChannel) async {
        do {
            while let sdu = try await channel.receive() {
                links[id]?.receivedBytes += sdu.count
                let actions = links[id]?.machine.received(sdu, now: now) ?? []
                await carryOut(actions, on: id)
            }
        } catch {
            logger.debug("link \(id): \(error)")
        }
        await carryOut(links[id]?.machine.channelClosed() ?? [], on: id)
        channel.close()
        finish(id)
    }

    private func write(link id: LinkID, to channel: any RadioChannel, signals: AsyncStream<Void>) async {
        do {
            for await _ in signals {
                while let batch = nextBatch(of: id, fitting: channel.sendMTU) {
                    for start in stride(from: 0, to: batch.count, by: channel.sendMTU) {
                        let sdu = Array(batch[start..<min(start + channel.sendMTU, batch.count)])
                        try await channel.send(sdu)
                        links[id]?.sentBytes += sdu.count
                    }
                }
            }
        } catch {
            // The reader is told by the channel itself, and ends the link.
            channel.close()
        }
    }

    /// The next frames as bytes: as many as fit one SDU, since every SDU costs a credit and airtime of its own; or one
    /// that is larger.
    private func nextBatch(of id: LinkID, fitting limit: Int) -> [UInt8]? {
        var batch = links[id]?.outbox.next()?.bytes
        while let bytes = batch, let frame = links[id]?.outbox.next(fitting: limit - bytes.count) {
            batch = bytes + frame.bytes
        }
        return batch
    }

    /// Begins to watch a link's deadline, which has just become another one.
    private func watchAnew(_ id: LinkID) {
        links[id]?.timer?.cancel()
        links[id]?.timer = Task { await self.watch(link: id) }
    }

    private func watch(link id: LinkID) async {
        while let deadline = links[id]?.machine.deadline {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            // While the listener holds this link up, its silence is ours.
            guard links[id]?.isHeldUp == false else {
                links[id]?.machine.heardNothingByChoice(now: now)
                continue
            }
            await carryOut(links[id]?.machine.tick(now: now) ?? [], on: id)
        }
    }

    private func report(_ id: LinkID) async {
        guard let channel = links[id]?.channel else { return }
        let rssi = await channel.signalStrength()
        guard let link = links[id], let peer = link.peer else { return }
        let report = LinkReport(
            rssi: rssi, roundTrip: link.roundTrip, sentBytes: link.sentBytes, receivedBytes: link.receivedBytes,
            outbox: link.outbox.count)
        await outlet.send(.link(peer, report))
    }

    // MARK: Ending

    /// Ends a link. Where this side has the last word, the word is waited for; the channel closes by itself otherwise.
    private func close(_ id: LinkID, _ end: LinkEnd) async {
        guard let link = links[id] else { return }
        let hasLastWord: Bool
        switch end {
        case .left: hasLastWord = true
        case .refused: hasLastWord = link.role == .host
        default: hasLastWord = false
        }
        if hasLastWord {
            link.wake()
            Task {
                // The other side closes when it has read the last word. This is for one that does not.
                try? await Task.sleep(for: Limits.goodbyeTimeout)
                link.channel.close()
            }
        } else {
            link.channel.close()
        }
        if let peer = link.peer {
            links[id]?.peer = nil
            if linkOfPeer[peer.id] == id { linkOfPeer[peer.id] = nil }
            logger.info("link to \(peer) ended: \(end)")
            await outlet.send(.disconnected(peer, end))
        } else if let invited = link.invited {
            if case .refused(let reason) = end {
                await outlet.send(.inviteFailed(peer: invited, .refused(reason)))
            } else {
                await outlet.send(.inviteFailed(peer: invited, .linkEnded(end)))
            }
        }
    }

    /// The channel is closed: nothing of the link is left.
    private func finish(_ id: LinkID) {
        guard let link = links.removeValue(forKey: id) else { return }
        link.signal.finish()
        link.timer?.cancel()
        linksChanged()
    }
}
