// SPDX-License-Identifier: Apache-2.0

/// Circuits: links inside other links that end here, and circuits that this node relays (`docs/protocol.md`,
/// "Circuits").
extension MeshCore {
    // MARK: A link in a circuit

    /// Puts a link into a circuit. Returns whether the circuit exists.
    mutating func enter(_ place: CircuitPlace, _ id: LinkID, _ role: LinkRole) -> Bool {
        var place = place
        guard let carrier = links[place.carrier], !carrier.isOver else { return false }
        let mtu = largestSDU(over: place.carrier)
        guard mtu >= Limits.leastSDUBytes else { return false }
        if role == .initiator {
            guard let host = place.host, carrier.machine.connectedPeer != nil else { return false }
            place.number = links[place.carrier]?.circuits.open(
                host, hopsLeft: Limits.circuitHops, receiveMTU: mtu, passed: [])
        } else if let number = place.number, links[place.carrier]?.circuits.accept(number, receiveMTU: mtu) != true {
            // The circuit was closed while the owner was asked.
            return false
        }
        guard let circuit = place.circuit else { return false }
        if role == .initiator { tellShownState(of: id, over: circuit.link) }
        links[id]?.place = place
        circuitEnds.inner[circuit] = id
        return true
    }

    /// Removes a link in a circuit that has ended, and the circuit.
    mutating func leaveCircuit(_ id: LinkID, afterFinalFrame: Bool) -> [Action] {
        guard let circuit = links[id]?.place?.circuit else {
            // The circuit was never opened.
            links[id] = nil
            return [.circuitEnded(id)]
        }
        var last: [[UInt8]] = []
        let limit = links[circuit.link]?.circuits.sendMTU(of: circuit.number) ?? Limits.leastSDUBytes
        while afterFinalFrame, let (sdu, _) = nextSDU(for: id, limit: limit) { last.append(sdu) }
        links[circuit.link]?.circuits.close(circuit.number, .ended, after: last)
        circuitEnds.inner[circuit] = nil
        links[id] = nil
        return [.circuitEnded(id), .wake(circuit.link)]
    }

    /// Whether the circuit of an ended link stays open for some time. A guest that has moved to a better route closes
    /// nothing until the host has accepted the new link. Otherwise the host would see the guest leave and come back.
    func mayLinger(_ id: LinkID) -> Bool {
        guard let link = links[id], link.machine.role == .initiator, let circuit = link.place?.circuit else {
            return false
        }
        return circuitEnds.inner[circuit] == id
    }

    /// Whether a link carries a circuit that this side has left for a better route.
    public func carriesLingering(_ carrier: LinkID) -> Bool {
        circuitEnds.inner.contains { $0.key.link == carrier && links[$0.value]?.lingersUntil != nil }
    }

    /// Holds back the credits of a link's circuit while this side does not read it.
    public mutating func holdCircuit(of id: LinkID, _ isHeld: Bool) -> [Action] {
        guard let circuit = links[id]?.place?.circuit else { return [] }
        links[circuit.link]?.circuits.hold(circuit.number, isHeld)
        return [.wake(circuit.link)]
    }

    /// The circuit of a link. Nil for a link with a channel of its own.
    public func place(of id: LinkID) -> CircuitPlace? { links[id]?.place }

    /// The largest SDU of a circuit that fits a record of a link.
    func largestSDU(over id: LinkID) -> Int {
        min(Limits.innerSDUBytes, (links[id]?.sendMTU ?? 0) - Limits.sduBytes + Limits.innerSDUBytes)
    }

    // MARK: Receiving

    /// A frame about a circuit has arrived on a link.
    mutating func circuit(_ frame: Frame, on id: LinkID) -> [Action] {
        let events = links[id]?.circuits.received(frame) ?? []
        // A refusal may have to be sent.
        return events.flatMap { decide($0, on: id) } + (links[id]?.circuits.waitingFrames == 0 ? [] : [.wake(id)])
    }

    private mutating func decide(_ event: CircuitMux.Event, on id: LinkID) -> [Action] {
        switch event {
        case .offered(let open): return offered(open, on: id)
        case .malformed: return update(id) { $0.end(.misbehaved(.malformedFrame)) }
        case .ready(let number): return ready(CircuitPlace.Circuit(link: id, number: number))
        case .received(let number, let sdu): return received(sdu, in: CircuitPlace.Circuit(link: id, number: number))
        case .closed(let number, let end): return closed(CircuitPlace.Circuit(link: id, number: number), end)
        }
    }

    private mutating func offered(_ open: CircuitOpen, on id: LinkID) -> [Action] {
        if takesCircuits, open.host == local.id, refusal(ofOwn: open, on: id) == nil {
            circuitEnds.offered[CircuitPlace.Circuit(link: id, number: open.circuit)] = []
            return [.circuitOffered(CircuitPlace(offered: open, on: id))]
        }
        guard let end = refusal(of: open, on: id) else { return passOn(open, from: id) }
        links[id]?.circuits.refuse(open.circuit, end)
        return [.wake(id)]
    }

    /// Why a circuit to this node itself is refused; nil if it is accepted.
    private func refusal(ofOwn open: CircuitOpen, on id: LinkID) -> CircuitEnd? {
        if open.passed.count > Limits.circuitHops { return .tooFar }
        return largestSDU(over: id) >= Limits.leastSDUBytes ? nil : .noRoom
    }

    private func refusal(of open: CircuitOpen, on id: LinkID) -> CircuitEnd? {
        if takesCircuits, open.host == local.id { return refusal(ofOwn: open, on: id) }
        let head = Identity.head(of: local.id)
        guard relays, links[id]?.carrier != nil else { return .noRelay }
        guard let hostLink, let uplink, uplink != id, route != nil,
            links[hostLink]?.machine.connectedPeer?.id == open.host
        else { return .noHost }
        if open.passed.contains(head) { return .loop }
        if open.hopsLeft == 0 || open.passed.count >= Limits.circuitHops { return .tooFar }
        // A circuit needs two links that accept its SDUs.
        guard min(largestSDU(over: id), largestSDU(over: uplink)) >= Limits.leastSDUBytes else { return .noRoom }
        return relayedCircuits < Limits.relayedCircuits ? nil : .noRoom
    }

    /// The link to the next node on the route to the host.
    var uplink: LinkID? { hostLink.map { links.carrier(of: $0) ?? $0 } }

    private mutating func passOn(_ open: CircuitOpen, from id: LinkID) -> [Action] {
        guard let uplink else { return [] }
        let mtu = min(open.innerMTU, largestSDU(over: id))
        let number = links[uplink]?.circuits.open(
            open.host, hopsLeft: open.hopsLeft - 1, receiveMTU: mtu,
            passed: open.passed + [Identity.head(of: settings.local.id)])
        guard let number else {
            links[id]?.circuits.refuse(open.circuit, .noRoom)
            return [.wake(id)]
        }
        let (down, up) = (
            CircuitPlace.Circuit(link: id, number: open.circuit), CircuitPlace.Circuit(link: uplink, number: number)
        )
        (circuitEnds.relayed[down], circuitEnds.relayed[up]) = (up, down)
        if links[id]?.circuits.count == 1 { links[id]?.carrier?.begins() }
        return [.wake(uplink), .wake(id)]
    }

    /// A circuit may send. If this node has requested it for another circuit, that one is now open too.
    private mutating func ready(_ circuit: CircuitPlace.Circuit) -> [Action] {
        if circuitEnds.probes.contains(circuit) { return reachedHost(circuit) }
        guard let other = circuitEnds.relayed[circuit] else { return [.wake(circuit.link)] }
        let sendMTU = links[circuit.link]?.circuits.sendMTU(of: circuit.number) ?? Limits.leastSDUBytes
        let mtu = min(sendMTU, largestSDU(over: circuit.link))
        if links[other.link]?.circuits.accept(other.number, receiveMTU: mtu) == true { serve(other.link) }
        return [.wake(circuit.link), .wake(other.link)]
    }

    private mutating func received(_ sdu: [UInt8], in circuit: CircuitPlace.Circuit) -> [Action] {
        if let other = circuitEnds.relayed[circuit] {
            links[other.link]?.circuits.enqueue(sdu, on: other.number)
            let isLetIn = links[circuit.link]?.carrier?.passes(sdu) == true
            return [.wake(other.link)] + (isLetIn ? [.wake(circuit.link)] : [])
        }
        guard let inner = circuitEnds.inner[circuit] else {
            // The SDU arrived right after the offer, which the owner has not answered yet.
            circuitEnds.offered[circuit]?.append(sdu)
            return []
        }
        let actions = received(sdu, on: inner, now: now)
        links[circuit.link]?.circuits.handled(circuit.number)
        return actions + [.wake(circuit.link)]
    }

    /// Handles the SDUs that arrived for a link before it was in its circuit.
    mutating func receiveEarly(on id: LinkID) -> [Action] {
        guard let circuit = links[id]?.place?.circuit, let early = circuitEnds.offered.removeValue(forKey: circuit)
        else {
            return []
        }
        return early.flatMap { received($0, in: circuit) }
    }

    /// The circuit has ended at its other end or on the route.
    private mutating func closed(_ circuit: CircuitPlace.Circuit, _ end: CircuitEnd) -> [Action] {
        if let other = circuitEnds.relayed.removeValue(forKey: circuit) {
            circuitEnds.relayed[other] = nil
            links[other.link]?.circuits.close(other.number, end == .misused ? .ended : end)
            return [.wake(other.link)]
        }
        circuitEnds.offered[circuit] = nil
        if circuitEnds.probes.remove(circuit) != nil { return [.tell(circuit.link, .probed(circuit.number, end))] }
        guard let inner = circuitEnds.inner[circuit] else { return [] }
        if links[inner]?.lingersUntil != nil { return leaveCircuit(inner, afterFinalFrame: false) }
        return update(inner) { $0.end(.circuit(end)) }
    }

    /// Sends the queued SDUs in the circuits of a link before this side leaves the link. They include the goodbyes.
    mutating func sealWhatPasses(_ id: LinkID) {
        guard let link = links[id], !link.isOver, !link.circuits.isEmpty else { return }
        var sdus: [[UInt8]] = []
        while sdus.count < Limits.lastRecords, let (sdu, _) = nextSDU(for: id, limit: link.sendMTU) { sdus.append(sdu) }
        links[id]?.machine.packets += sdus
    }

    /// A link has ended, and with it all its circuits.
    mutating func endCircuits(on id: LinkID) -> [Action] {
        guard let numbers = links[id]?.circuits.numbers, !numbers.isEmpty else { return [] }
        let role = links[id]?.machine.role ?? .initiator
        links[id]?.circuits = CircuitMux(role)
        return numbers.flatMap { closed(CircuitPlace.Circuit(link: id, number: $0), .ended) }
    }

    // MARK: Sending

    /// The next frame of a link's circuits for the record that is being filled.
    mutating func nextFrame(
        _ circuits: inout CircuitMux, of id: LinkID, _ room: Int, _ actions: inout [Action]
    ) -> Frame? {
        let next = circuits.next(fitting: room) { number, limit in
            supply(CircuitPlace.Circuit(link: id, number: number), limit, &actions)
        }
        guard let (frame, passedOn) = next else { return nil }
        if let passedOn, let other = circuitEnds.relayed[CircuitPlace.Circuit(link: id, number: passedOn)] {
            links[other.link]?.circuits.handled(other.number)
            actions.append(.wake(other.link))
        }
        return frame
    }

    private mutating func supply(
        _ circuit: CircuitPlace.Circuit, _ limit: Int, _ actions: inout [Action]
    ) -> CircuitMux.Supply {
        guard let inner = circuitEnds.inner[circuit] else { return .nothing }
        // Neither a handshake packet nor an answer can be split.
        if links.leastRoom(of: inner) > limit { return .tooLong }
        guard let (sdu, more) = nextSDU(for: inner, limit: limit) else { return .nothing }
        actions += more
        return .sdu(sdu)
    }
}
