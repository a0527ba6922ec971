// SPDX-License-Identifier: Apache-2.0

/// Measures the time to the other end of a link, and to the relays behind it, with frames that every node answers.
extension MeshCore {
    /// Pings the peer of a link at once. Returns the ping's number, which `LinkEvent.roundTrip` names. The answer to a
    /// later ping also answers this one. Nil if the link is not up.
    public mutating func ping(_ id: LinkID, now: MeshInstant) -> (number: UInt64, actions: [Action])? {
        self.now = max(now, self.now)
        guard let number = links[id]?.machine.measure(now: now) else { return nil }
        return (number, wake(id))
    }

    /// Probes a relay: requests a circuit to the host that may pass this many relays, at least one. The last of them
    /// answers that the host is too far, and `LinkEvent.probed` reports it. Returns the probe's number. Nil if the
    /// carrier is not up, or if too many circuits are open on it.
    public mutating func probe(
        relay: Int, towards host: Peer.ID, over carrier: LinkID, now: MeshInstant
    ) -> (number: UInt64, actions: [Action])? {
        self.now = max(now, self.now)
        let mtu = links.largestSDU(over: carrier)
        guard (1...Int(Limits.circuitHops)).contains(relay), mtu >= Limits.leastSDUBytes,
            links[carrier]?.machine.connectedPeer != nil,
            let number = links[carrier]?.circuits.open(
                host, hopsLeft: UInt8(relay - 1), receiveMTU: mtu, passed: [])
        else { return nil }
        circuitEnds.probe(CircuitPlace.Circuit(link: carrier, number: number))
        return (number, [.wake(carrier)])
    }

    /// Closes the circuit of a probe that was not answered.
    public mutating func abandonProbe(_ number: UInt64, over carrier: LinkID) -> [Action] {
        guard circuitEnds.abandonProbe(CircuitPlace.Circuit(link: carrier, number: number)) else { return [] }
        links[carrier]?.circuits.close(number, .ended)
        return [.wake(carrier)]
    }
}
