// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension MeshEndpoint {
    /// Pings the peer of a link, and returns the round trip. Nil if the link is not up, or if no answer has arrived in
    /// time. The ping is part of the protocol, so every node answers it.
    public func ping(_ id: MeshCore.LinkID, within time: Duration = SessionLimits.answer) async -> Duration? {
        let sentAt = now
        guard let (number, actions) = core.ping(id, now: sentAt) else { return nil }
        return await measure(.ping, number, on: id, sentAt: sentAt, within: time, after: actions)
    }

    /// Returns the round trip to a relay behind a carrier. Relay 1 is at the carrier's other end. Nil if the carrier is
    /// not up, or if the relay has not answered in time.
    ///
    /// The probe is a request for a circuit with a hop limit. The relay where the limit is reached answers it, as
    /// routers answer packets with an exhausted hop limit. No circuit is opened, and the host receives nothing.
    public func probe(
        relay: Int, towards host: Peer.ID, over carrier: MeshCore.LinkID, within time: Duration = SessionLimits.answer
    ) async -> Duration? {
        let sentAt = now
        guard let (number, actions) = core.probe(relay: relay, towards: host, over: carrier, now: sentAt) else {
            return nil
        }
        return await measure(.probe, number, on: carrier, sentAt: sentAt, within: time, after: actions)
    }

    /// Opens a link to a host in a circuit on a carrier, which is a link to a relay. `hops` is the relay's distance
    /// from the host. The events of the link report whether it comes up.
    @discardableResult
    public func openCircuit(to host: Peer.ID, over carrier: MeshCore.LinkID, hops: Int) -> MeshCore.LinkID {
        let id = nextLink()
        links[id] = EndpointLink()
        perform(
            core.opened(
                id, as: .initiator, sendMTU: Limits.innerSDUBytes, expected: host,
                in: CircuitPlace(to: host, over: carrier, hops: hops), entropy: .random(), now: now))
        watchDeadline(of: id)
        return id
    }

    /// Signal strength of a link in dBm. Nil for a link in a circuit, and if the radio does not report it.
    public func signalStrength(of id: MeshCore.LinkID) async -> Int? {
        await carriers[id]?.transport.signalStrength()
    }

    private func measure(
        _ kind: Measurements.Kind, _ number: UInt64, on id: MeshCore.LinkID, sentAt: MeshInstant,
        within time: Duration, after actions: [MeshCore.Action]
    ) async -> Duration? {
        await withCheckedContinuation { waiter in
            let token = measurements.add(
                Measurements.Waiting(link: id, kind: kind, number: number, sentAt: sentAt, waiter: waiter))
            perform(actions)
            Task {
                try? await Task.sleep(for: time)
                self.expire(token)
            }
        }
    }

    private func expire(_ token: Int) {
        guard let unanswered = measurements.expire(token), unanswered.kind == .probe else { return }
        perform(core.abandonProbe(unanswered.number, over: unanswered.link))
    }

    /// Passes an event of a link to the measurements that wait for it.
    func noteAnswer(_ event: LinkEvent, on id: MeshCore.LinkID) {
        switch event {
        case .roundTrip(_, let number): measurements.ponged(number, on: id, now: now)
        case .probed(let number, let end): measurements.probed(number, on: id, isAnswer: end == .tooFar, now: now)
        case .ended, .failed, .carrierEnded: measurements.ended(id)
        default: break
        }
    }
}
