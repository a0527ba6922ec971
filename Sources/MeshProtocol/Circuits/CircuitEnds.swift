// SPDX-License-Identifier: Apache-2.0

/// The circuits of a node: those that end at its links, those that it relays, those that it was offered, and probes
/// (`docs/protocol.md`, "Circuits").
struct CircuitEnds: Sendable {
    typealias Circuit = CircuitPlace.Circuit
    typealias LinkID = MeshCore.LinkID

    enum Action: Sendable {
        /// A link has data to send.
        case wake(LinkID)
        /// A peer requests a circuit that ends here.
        case offered(CircuitPlace)
        /// An SDU has arrived for a link in a circuit.
        case received([UInt8], on: LinkID, in: Circuit)
        /// The node behind a link has a circuit, so it gets the host's state.
        case serve(LinkID)
        /// A probe was answered with this end; nil if it has reached the host.
        case probed(Circuit, CircuitEnd?)
        /// The circuit of a link has ended.
        case ended(LinkID, CircuitEnd)
        /// The peer of a link has sent a malformed frame.
        case malformed(LinkID)
    }

    /// The data of the node on which a request is decided.
    struct Surroundings: Sendable {
        var local: Peer.ID
        var relays: Bool
        /// Whether circuits may end here.
        var takesCircuits: Bool
        /// The host to which circuits lead; nil without a route.
        var host: Peer.ID?
        /// The link to the next node on the route to the host.
        var uplink: LinkID?
    }

    /// The links in circuits that end here.
    private var inner: [Circuit: LinkID] = [:]
    /// Circuits that were offered to the owner, and the SDUs that have arrived in them since.
    private var offered: [Circuit: [[UInt8]]] = [:]
    /// Circuits that measure the time to a relay.
    private var probes: Set<Circuit> = []
    /// The relayed circuits: each of the two ends is a key, and its value is the opposite end.
    private var relayed: [Circuit: Circuit] = [:]

    // MARK: Questions

    /// Number of links in circuits.
    var count: Int { inner.count }

    /// Number of relayed circuits.
    var relayedCount: Int { relayed.count / 2 }

    /// The link in a circuit that ends here.
    func link(in circuit: Circuit) -> LinkID? { inner[circuit] }

    /// The links in circuits on a link.
    func links(over carrier: LinkID) -> some Sequence<LinkID> {
        inner.lazy.filter { $0.key.link == carrier }.map(\.value)
    }

    /// The opposite end of a relayed circuit.
    func opposite(of circuit: Circuit) -> Circuit? { relayed[circuit] }

    /// Whether a link carries relayed circuits.
    func isPassed(on link: LinkID) -> Bool { relayed.keys.contains { $0.link == link } }

    // MARK: Links in circuits

    /// Puts a link into a circuit. Returns its place, or nil if the circuit does not exist.
    mutating func enter(_ place: CircuitPlace, _ id: LinkID, _ role: LinkRole, _ links: inout LinkSlots)
        -> CircuitPlace?
    {
        var place = place
        guard let carrier = links[place.carrier], !carrier.isOver else { return nil }
        let mtu = links.largestSDU(over: place.carrier)
        guard mtu >= Limits.leastSDUBytes else { return nil }
        if role == .initiator {
            guard let host = place.host, carrier.machine.connectedPeer != nil else { return nil }
            place.number = links[place.carrier]?.circuits.open(
                host, hopsLeft: Limits.circuitHops, receiveMTU: mtu, passed: [])
        } else if let number = place.number, links[place.carrier]?.circuits.accept(number, receiveMTU: mtu) != true {
            // The circuit was closed while the owner was asked.
            return nil
        }
        guard let circuit = place.circuit else { return nil }
        inner[circuit] = id
        return place
    }

    /// A link has left its circuit.
    mutating func leave(_ circuit: Circuit) { inner[circuit] = nil }

    /// Removes and returns the SDUs that arrived for a link before it was in its circuit.
    mutating func takeEarly(_ circuit: Circuit) -> [[UInt8]] { offered.removeValue(forKey: circuit) ?? [] }

    // MARK: Probes

    /// A circuit was requested to measure the time to a relay.
    mutating func probe(_ circuit: Circuit) { probes.insert(circuit) }

    /// A probe is not awaited any more. Returns whether it was.
    mutating func abandonProbe(_ circuit: Circuit) -> Bool { probes.remove(circuit) != nil }

    // MARK: Events

    /// Decides on an event of a link's circuits. Only a request needs the surroundings.
    mutating func decide(
        _ event: CircuitMux.Event, on id: LinkID, _ around: Surroundings?, _ links: inout LinkSlots
    ) -> [Action] {
        switch event {
        case .offered(let open): return around.map { offered(open, on: id, $0, &links) } ?? []
        case .malformed: return [.malformed(id)]
        case .ready(let number): return ready(Circuit(link: id, number: number), &links)
        case .received(let number, let sdu): return received(sdu, in: Circuit(link: id, number: number), &links)
        case .closed(let number, let end): return closed(Circuit(link: id, number: number), end, &links)
        }
    }

    private mutating func offered(
        _ open: CircuitOpen, on id: LinkID, _ around: Surroundings, _ links: inout LinkSlots
    ) -> [Action] {
        let end = refusal(of: open, on: id, around, links)
        if around.takesCircuits, open.host == around.local, end == nil {
            offered[Circuit(link: id, number: open.circuit)] = []
            return [.offered(CircuitPlace(offered: open, on: id))]
        }
        guard let end else { return passOn(open, from: id, around, &links) }
        links[id]?.circuits.refuse(open.circuit, end)
        return [.wake(id)]
    }

    /// Why a circuit is refused; nil if it is accepted.
    private func refusal(
        of open: CircuitOpen, on id: LinkID, _ around: Surroundings, _ links: LinkSlots
    ) -> CircuitEnd? {
        if around.takesCircuits, open.host == around.local {
            if open.passed.count > Limits.circuitHops { return .tooFar }
            return links.largestSDU(over: id) >= Limits.leastSDUBytes ? nil : .noRoom
        }
        guard around.relays, links.isCarrier(id) else { return .noRelay }
        guard let uplink = around.uplink, uplink != id, around.host == open.host else { return .noHost }
        if open.passed.contains(Identity.head(of: around.local)) { return .loop }
        if open.hopsLeft == 0 || open.passed.count >= Limits.circuitHops { return .tooFar }
        // A circuit needs two links that accept its SDUs.
        guard min(links.largestSDU(over: id), links.largestSDU(over: uplink)) >= Limits.leastSDUBytes else {
            return .noRoom
        }
        return relayedCount < Limits.relayedCircuits ? nil : .noRoom
    }

    private mutating func passOn(
        _ open: CircuitOpen, from id: LinkID, _ around: Surroundings, _ links: inout LinkSlots
    ) -> [Action] {
        guard let uplink = around.uplink else { return [] }
        let mtu = min(open.innerMTU, links.largestSDU(over: id))
        let number = links[uplink]?.circuits.open(
            open.host, hopsLeft: open.hopsLeft - 1, receiveMTU: mtu,
            passed: open.passed + [Identity.head(of: around.local)])
        guard let number else {
            links[id]?.circuits.refuse(open.circuit, .noRoom)
            return [.wake(id)]
        }
        let (down, up) = (Circuit(link: id, number: open.circuit), Circuit(link: uplink, number: number))
        (relayed[down], relayed[up]) = (up, down)
        if links[id]?.circuits.count == 1 { links[id]?.carrier?.begins() }
        return [.wake(uplink), .wake(id)]
    }

    /// A circuit may send. If this node has requested it for another circuit, that one is now open too.
    private mutating func ready(_ circuit: Circuit, _ links: inout LinkSlots) -> [Action] {
        if probes.remove(circuit) != nil {
            // A probe has reached the host, because the route is shorter than it was.
            links[circuit.link]?.circuits.close(circuit.number, .ended)
            return [.probed(circuit, nil), .wake(circuit.link)]
        }
        guard let other = relayed[circuit] else { return [.wake(circuit.link)] }
        let sendMTU = links[circuit.link]?.circuits.sendMTU(of: circuit.number) ?? Limits.leastSDUBytes
        let mtu = min(sendMTU, links.largestSDU(over: circuit.link))
        let isOpen = links[other.link]?.circuits.accept(other.number, receiveMTU: mtu) == true
        return (isOpen ? [.serve(other.link)] : []) + [.wake(circuit.link), .wake(other.link)]
    }

    /// An SDU has arrived in a circuit.
    mutating func received(_ sdu: [UInt8], in circuit: Circuit, _ links: inout LinkSlots) -> [Action] {
        if let other = relayed[circuit] {
            links[other.link]?.circuits.enqueue(sdu, on: other.number)
            let isLetIn = links[circuit.link]?.carrier?.passes(sdu) == true
            return [.wake(other.link)] + (isLetIn ? [.wake(circuit.link)] : [])
        }
        guard let inner = inner[circuit] else {
            // The SDU arrived right after the offer, which the owner has not answered yet.
            offered[circuit]?.append(sdu)
            return []
        }
        return [.received(sdu, on: inner, in: circuit)]
    }

    /// A circuit has ended at its other end or on the route.
    mutating func closed(_ circuit: Circuit, _ end: CircuitEnd, _ links: inout LinkSlots) -> [Action] {
        if let other = relayed.removeValue(forKey: circuit) {
            relayed[other] = nil
            links[other.link]?.circuits.close(other.number, end == .misused ? .ended : end)
            return [.wake(other.link)]
        }
        offered[circuit] = nil
        if probes.remove(circuit) != nil { return [.probed(circuit, end)] }
        return inner[circuit].map { [.ended($0, end)] } ?? []
    }

    /// Ends a relayed circuit on both sides.
    mutating func end(_ circuit: Circuit, _ links: inout LinkSlots) {
        links[circuit.link]?.circuits.close(circuit.number, .ended)
        guard let other = relayed.removeValue(forKey: circuit) else { return }
        relayed[other] = nil
        links[other.link]?.circuits.close(other.number, .ended)
    }
}
