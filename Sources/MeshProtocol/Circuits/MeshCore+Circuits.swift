// SPDX-License-Identifier: Apache-2.0

/// Circuits: links inside other links that end here, and circuits that this node relays (`docs/protocol.md`,
/// "Circuits").
extension MeshCore {
    // MARK: A link in a circuit

    /// Puts a link into a circuit. Returns whether the circuit exists.
    mutating func enter(_ place: CircuitPlace, _ id: LinkID, _ role: LinkRole) -> Bool {
        guard let place = circuitEnds.enter(place, id, role, &links) else { return false }
        if role == .initiator { tellShownState(of: id, over: place.carrier) }
        links[id]?.place = place
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
        circuitEnds.leave(circuit)
        links[id] = nil
        return [.circuitEnded(id), .wake(circuit.link)]
    }

    /// Whether the circuit of an ended link stays open for some time. A guest that has moved to a better route closes
    /// nothing until the host has accepted the new link. Otherwise the host would see the guest leave and come back.
    func mayLinger(_ id: LinkID) -> Bool {
        guard let link = links[id], link.machine.role == .initiator, let circuit = link.place?.circuit else {
            return false
        }
        return circuitEnds.link(in: circuit) == id
    }

    /// Whether a link carries a circuit that this side has left for a better route.
    public func carriesLingering(_ carrier: LinkID) -> Bool {
        circuitEnds.links(over: carrier).contains { links[$0]?.lingersUntil != nil }
    }

    /// Holds back the credits of a link's circuit while this side does not read it.
    public mutating func holdCircuit(of id: LinkID, _ isHeld: Bool) -> [Action] {
        guard let circuit = links[id]?.place?.circuit else { return [] }
        links[circuit.link]?.circuits.hold(circuit.number, isHeld)
        return [.wake(circuit.link)]
    }

    /// The circuit of a link. Nil for a link with a channel of its own.
    public func place(of id: LinkID) -> CircuitPlace? { links[id]?.place }

    // MARK: Receiving

    /// A frame about a circuit has arrived on a link.
    mutating func circuit(_ frame: Frame, on id: LinkID) -> [Action] {
        let events = links[id]?.circuits.received(frame) ?? []
        let actions = events.flatMap { event -> [Action] in
            let around = if case .offered = event { circuitSurroundings } else { nil as CircuitEnds.Surroundings? }
            return perform(circuitEnds.decide(event, on: id, around, &links))
        }
        // A refusal may have to be sent.
        return actions + (links[id]?.circuits.waitingFrames == 0 ? [] : [.wake(id)])
    }

    private var circuitSurroundings: CircuitEnds.Surroundings {
        let host = route == nil ? nil : hostLink.flatMap { links[$0]?.machine.connectedPeer?.id }
        return CircuitEnds.Surroundings(
            local: local.id, relays: relays, takesCircuits: takesCircuits, host: host, uplink: uplink)
    }

    private mutating func perform(_ actions: [CircuitEnds.Action]) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            case .wake(let id): return [.wake(id)]
            case .offered(let place): return [.circuitOffered(place)]
            case .received(let sdu, let inner, let circuit):
                let actions = received(sdu, on: inner, now: now)
                links[circuit.link]?.circuits.handled(circuit.number)
                return actions + [.wake(circuit.link)]
            case .serve(let id):
                serve(id)
                return []
            case .probed(let circuit, let end): return [.tell(circuit.link, .probed(circuit.number, end))]
            case .ended(let inner, let end):
                if links[inner]?.lingersUntil != nil { return leaveCircuit(inner, afterFinalFrame: false) }
                return update(inner) { $0.end(.circuit(end)) }
            case .malformed(let id): return update(id) { $0.end(.misbehaved(.malformedFrame)) }
            }
        }
    }

    /// The link to the next node on the route to the host.
    var uplink: LinkID? { hostLink.map { links.carrier(of: $0) ?? $0 } }

    /// Handles the SDUs that arrived for a link before it was in its circuit.
    mutating func receiveEarly(on id: LinkID) -> [Action] {
        guard let circuit = links[id]?.place?.circuit else { return [] }
        return circuitEnds.takeEarly(circuit).flatMap { perform(circuitEnds.received($0, in: circuit, &links)) }
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
        return numbers.flatMap { number in
            perform(circuitEnds.closed(CircuitPlace.Circuit(link: id, number: number), .ended, &links))
        }
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
        if let passedOn, let other = circuitEnds.opposite(of: CircuitPlace.Circuit(link: id, number: passedOn)) {
            links[other.link]?.circuits.handled(other.number)
            actions.append(.wake(other.link))
        }
        return frame
    }

    private mutating func supply(
        _ circuit: CircuitPlace.Circuit, _ limit: Int, _ actions: inout [Action]
    ) -> CircuitMux.Supply {
        guard let inner = circuitEnds.link(in: circuit) else { return .nothing }
        // Neither a handshake packet nor an answer can be split.
        if links.leastRoom(of: inner) > limit { return .tooLong }
        guard let (sdu, more) = nextSDU(for: inner, limit: limit) else { return .nothing }
        actions += more
        return .sdu(sdu)
    }
}
