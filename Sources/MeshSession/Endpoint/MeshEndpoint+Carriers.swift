// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// An endpoint's state of a link in addition to the protocol's.
struct EndpointLink {
    var report = LinkReport()
    /// The listener has not read this link's last events yet, so this side does not read the link.
    var isHeldUp = false
    /// The peer has sent too much. The link is not read before this time.
    var heldUntil: MeshInstant?
    /// The last `AirNote` that was sent to the peer.
    var noted: AirNote?
    var pausing: Task<Void, Never>?
    var timer: Task<Void, Never>?
}

extension MeshEndpoint: LinkCarrying {
    package func received(_ sdu: [UInt8], on id: MeshCore.LinkID) {
        links[id]?.report.receivedBytes += sdu.count
        perform(core.received(sdu, on: id, now: now))
    }

    package func nextSDU(for id: MeshCore.LinkID, limit: Int) -> [UInt8]? {
        guard let (sdu, actions) = core.nextSDU(for: id, limit: limit) else { return nil }
        links[id]?.report.sentBytes += sdu.count
        perform(actions)
        return sdu
    }

    package func channelClosed(_ id: MeshCore.LinkID) {
        perform(core.channelClosed(id))
        links.removeValue(forKey: id)?.timer?.cancel()
    }

    /// Waits until the listener has caught up, and delays a peer that sends too much.
    package func untilReadable(_ id: MeshCore.LinkID) async {
        links[id]?.isHeldUp = true
        await waitForRoom()
        if let until = links[id]?.heldUntil, until > now {
            let pausing = Task { [origin] in _ = try? await Task.sleep(until: origin + until, clock: .continuous) }
            links[id]?.pausing = pausing
            await pausing.value
        }
        links[id]?.isHeldUp = false
    }

    /// Starts to watch a link's deadline, which has changed.
    func watchDeadline(of id: MeshCore.LinkID) {
        links[id]?.timer?.cancel()
        links[id]?.timer = Task { await self.watch(link: id) }
    }

    private func watch(link id: MeshCore.LinkID) async {
        while let deadline = core.deadline(of: id) {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            // While the listener has not caught up, this side causes the silence, so the peer does not count as lost. A
            // handshake keeps its own deadline.
            if links[id]?.isHeldUp == true, core.peer(on: id) != nil {
                perform(core.holdUp(id, now: now))
            } else {
                perform(core.tick(id, now: now))
            }
        }
    }

    func report(_ id: MeshCore.LinkID) async {
        let (rssi, condition) = await condition(of: id)
        guard var report = links[id]?.report, let peer = core.peer(on: id) else { return }
        report.rssi = rssi
        report.condition = condition
        if let conversation = core.conversation(on: id) {
            report.resent = conversation.resent
            report.duplicates = conversation.duplicates
            report.outbox = conversation.unacknowledged
        }
        if let note = condition?.note, note != links[id]?.noted {
            links[id]?.noted = note
            perform(core.note(note, on: id))
        }
        emit(.report(id, peer, report))
    }
}
