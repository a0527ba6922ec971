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

    /// Whether a link carries a circuit that this side has left for a better route.
    func carriesLingering(_ carrier: LinkID, _ links: LinkSlots) -> Bool {
        inner.contains { $0.key.link == carrier && links[$0.value]?.lingersUntil != nil }
    }

    /// Whether a link carries relayed circuits.
    func isPassed(on link: LinkID) -> Bool { relayed.keys.contains { $0.link == link } }

    // MARK: Links in circuits

    /// Puts a link into a circuit. Returns whether the circuit exists.
    mutating func enter(_ place: CircuitPlace, _ id: LinkID, _ role: LinkRole, _ links: inout LinkSlots) -> Bool {
        var place = place
        guard let carrier = links[place.carrier], !carrier.isOver else { return false }
        let mtu = links.largestSDU(over: place.carrier)
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
        inner[circuit] = id
        if role == .initiator {
            // The relay at the carrier's other end may be behind, and may have combined the host's changes differently.
            links[place.carrier]?.carrier?.known = []
            let names = links[id]?.shown ?? []
            _ = links[place.carrier]?.machine.tell(names)
        }
        links[id]?.place = place
        return true
    }

    /// A link leaves its circuit. It may send its last SDUs before.
    mutating func leave(
        _ circuit: Circuit, _ id: LinkID, saysLast: Bool, _ links: inout LinkSlots, _ peers: inout PeerBook,
        _ log: SharedLog, now: MeshInstant
    ) {
        let limit = links[circuit.link]?.circuits.sendMTU(of: circuit.number) ?? Limits.leastSDUBytes
        let last = saysLast ? lastSDUs(of: id, limit: limit, &links, &peers, log, now: now) : []
        links[circuit.link]?.circuits.close(circuit.number, .ended, after: last)
        inner[circuit] = nil
    }

    /// Whether the circuit of an ended link stays open for some time. A guest that has moved to a better route closes
    /// nothing until the host has accepted the new link. Otherwise the host would see the guest leave and come back.
    func mayLinger(_ id: LinkID, _ links: LinkSlots) -> Bool {
        guard let link = links[id], link.machine.role == .initiator, let circuit = link.place?.circuit else {
            return false
        }
        return inner[circuit] == id
    }

    /// Removes and returns the SDUs that arrived for a link before it was in its circuit.
    mutating func takeEarly(_ circuit: Circuit) -> [[UInt8]] { offered.removeValue(forKey: circuit) ?? [] }

    // MARK: Probes

    /// Requests a circuit that may pass this many relays, to measure the time to the last of them. Returns its number,
    /// or nil if the carrier is not up or has no room.
    mutating func probe(
        relay: Int, towards host: Peer.ID, over carrier: LinkID, _ links: inout LinkSlots
    ) -> UInt64? {
        let mtu = links.largestSDU(over: carrier)
        guard (1...Int(Limits.circuitHops)).contains(relay), mtu >= Limits.leastSDUBytes,
            links[carrier]?.machine.connectedPeer != nil,
            let number = links[carrier]?.circuits.open(
                host, hopsLeft: UInt8(relay - 1), receiveMTU: mtu, passed: [])
        else { return nil }
        probes.insert(Circuit(link: carrier, number: number))
        return number
    }

    /// Closes the circuit of a probe that was not answered. Returns whether it was open.
    mutating func abandonProbe(_ circuit: Circuit, _ links: inout LinkSlots) -> Bool {
        guard probes.remove(circuit) != nil else { return false }
        links[circuit.link]?.circuits.close(circuit.number, .ended)
        return true
    }

    // MARK: Sending

    /// The next SDU to send on a link, of at most this many bytes, and the actions that follow. The links in circuits
    /// of the link fill its records.
    func nextSDU(
        for id: LinkID, limit: Int, _ links: inout LinkSlots, _ peers: inout PeerBook, _ log: SharedLog,
        now: MeshInstant
    ) -> (sdu: [UInt8], actions: [MeshCore.Action])? {
        // The caller asks until nothing is left.
        guard !links.isSilentCarrier(id, log) else { return nil }
        // Taken out and put back, so that its queues are not copied. No code reads the slot in between.
        guard var link = links.take(id) else { return nil }
        let (key, isCarrier) = (link.conversation, link.carrier != nil)
        var actions: [MeshCore.Action] = []
        let outgoing = link.machine.nextSDU(limit: limit) {
            key.flatMap { peers[$0]?.conversation.nextReliable() }
        } circuits: { room in
            guard !link.circuits.isEmpty else { return nil }
            let next = link.circuits.next(fitting: room) { number, limit in
                supply(Circuit(link: id, number: number), limit, &links, &peers, log, now: now, &actions)
            }
            guard let (frame, passedOn) = next else { return nil }
            if let other = passedOn.flatMap({ relayed[Circuit(link: id, number: $0)] }) {
                links[other.link]?.circuits.handled(other.number)
                actions.append(.wake(other.link))
            }
            return frame
        } latest: {
            isCarrier ? link.carrier?.next(of: log) : key.flatMap { peers[$0]?.conversation.nextLatest() }
        }
        if link.isQuiet, link.waitsSince == nil, key.map({ peers[$0]?.conversation.isUnanswered == true }) == true {
            link.waitsSince = now
        }
        links[id] = consume link
        guard let outgoing else { return nil }
        if outgoing.latestHasLeft, !isCarrier { actions.append(.tell(id, .latestHasLeft)) }
        return (outgoing.sdu, actions)
    }

    /// What the link in a circuit sends.
    private func supply(
        _ circuit: Circuit, _ limit: Int, _ links: inout LinkSlots, _ peers: inout PeerBook, _ log: SharedLog,
        now: MeshInstant, _ actions: inout [MeshCore.Action]
    ) -> CircuitMux.Supply {
        guard let inner = inner[circuit] else { return .nothing }
        // Neither a handshake packet nor an answer can be split.
        if links.leastRoom(of: inner) > limit { return .tooLong }
        guard let (sdu, more) = nextSDU(for: inner, limit: limit, &links, &peers, log, now: now) else {
            return .nothing
        }
        actions += more
        return .sdu(sdu)
    }

    /// The last SDUs of a link before this side leaves it.
    func lastSDUs(
        of id: LinkID, limit: Int, atMost count: Int = .max, _ links: inout LinkSlots, _ peers: inout PeerBook,
        _ log: SharedLog, now: MeshInstant
    ) -> [[UInt8]] {
        var sdus: [[UInt8]] = []
        while sdus.count < count, let (sdu, _) = nextSDU(for: id, limit: limit, &links, &peers, log, now: now) {
            sdus.append(sdu)
        }
        return sdus
    }

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
    private mutating func closed(_ circuit: Circuit, _ end: CircuitEnd, _ links: inout LinkSlots) -> [Action] {
        if let other = relayed.removeValue(forKey: circuit) {
            relayed[other] = nil
            links[other.link]?.circuits.close(other.number, end == .misused ? .ended : end)
            return [.wake(other.link)]
        }
        offered[circuit] = nil
        if probes.remove(circuit) != nil { return [.probed(circuit, end)] }
        return inner[circuit].map { [.ended($0, end)] } ?? []
    }

    /// A link has ended, and with it all its circuits.
    mutating func ended(_ id: LinkID, _ links: inout LinkSlots) -> [Action] {
        guard let numbers = links[id]?.circuits.numbers, !numbers.isEmpty else { return [] }
        let role = links[id]?.machine.role ?? .initiator
        links[id]?.circuits = CircuitMux(role)
        return numbers.flatMap { closed(Circuit(link: id, number: $0), .ended, &links) }
    }

    /// The route to the host is lost. Ends all circuits of a node behind this one.
    mutating func routeLost(_ child: LinkID, _ links: inout LinkSlots) {
        for number in links[child]?.circuits.numbers ?? [] { end(Circuit(link: child, number: number), &links) }
        links[child]?.carrier?.isServed = false
    }

    /// Ends a relayed circuit on both sides.
    private mutating func end(_ circuit: Circuit, _ links: inout LinkSlots) {
        links[circuit.link]?.circuits.close(circuit.number, .ended)
        guard let other = relayed.removeValue(forKey: circuit) else { return }
        relayed[other] = nil
        links[other.link]?.circuits.close(other.number, .ended)
    }
}
