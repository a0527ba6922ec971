// SPDX-License-Identifier: Apache-2.0

/// The circuit of a link that has no channel of its own.
public struct CircuitPlace: Hashable, Sendable {
    /// One end of a circuit.
    public struct Circuit: Hashable, Sendable {
        /// The link that carries the circuit.
        public var link: MeshCore.LinkID
        /// The number of the circuit on that link.
        public var number: UInt64
    }

    /// The link that carries the circuit: to a relay, or from one.
    public var carrier: MeshCore.LinkID
    /// The peer at the circuit's other end, if this side requests it. Nil if it was offered.
    public var host: Peer.ID?
    /// Known relays on the route.
    public var hops: Int
    /// The heads of the relays that the request has passed, as they state them, with the relay next to the guest first.
    /// Empty on the side that requests.
    public var passed: [Peer.ID]
    /// The circuit's number. Nil until it has one.
    var number: UInt64?

    var circuit: Circuit? { number.map { Circuit(link: carrier, number: $0) } }

    /// A circuit to a host, to be opened on a link to a relay.
    public init(to host: Peer.ID, over carrier: MeshCore.LinkID, hops: Int) {
        (self.host, self.carrier, self.hops) = (host, carrier, hops)
        passed = []
    }

    /// A circuit that was offered on a link.
    init(offered open: CircuitOpen, on link: MeshCore.LinkID) {
        (carrier, hops, passed, number) = (link, open.passed.count, open.passed, open.circuit)
    }
}

/// The state of a link between a relay and a node behind it.
struct Carrier: Sendable {
    /// State that arrived before the key of its signature, and its size in bytes.
    var held: [MessageUnit] = []
    var heldBytes = 0
    /// The number of the last received update.
    private var lastHeard: UInt64 = 0
    /// The relay sends the host's state to the node behind it. Used on the side that was dialled.
    var isServed = false
    /// The node behind keeps its own log.
    var takesCheckpoints = false
    /// The position of the node behind in the log.
    var place: UInt64?
    /// The last states that the node behind has, by its own account, the newest first. On the side that dialled: the
    /// state from which the relay continues.
    var known: [StateName] = []
    /// Number of handshake SDUs that the node behind must still send in its first circuit, including the first one
    /// after the host has admitted it.
    private var awaited = Self.ofUnknownHost
    /// XX has two packets, then a ping after the answer. IK, for a guest that knows the host, and a rejoin have one
    /// packet less.
    private static let (ofUnknownHost, ofKnownHost) = (3, 2)
    /// Bytes of the Noise message of an IK-1: two keys, one of them encrypted, and a tag.
    private static let leastKnownHello = 96
    private var lastSent: UInt64 = 0

    /// Whether the host has admitted the node behind. A handshake that may fail is not worth sending the full state.
    var isLetIn: Bool { awaited == 0 }

    /// The node behind has opened its only circuit.
    mutating func begins() { awaited = Self.ofUnknownHost }

    /// The node behind has sent an SDU in a circuit. Returns whether this has just shown that it is admitted.
    mutating func passes(_ sdu: [UInt8]) -> Bool {
        guard awaited > 0 else { return false }
        switch HandshakePacket(sdu[...]) {
        case .knownHello where awaited == Self.ofUnknownHost, .rejoinHello where awaited == Self.ofUnknownHost:
            awaited = Self.ofKnownHost
        // The node behind no longer uses what it had stored of the host.
        case .knownHello(_, let noise) where noise.count >= Self.leastKnownHello: awaited = Self.ofKnownHost
        default: break
        }
        awaited -= 1
        return awaited == 0
    }

    /// Whether an update is newer than all before it.
    mutating func isNew(_ unit: MessageUnit) -> Bool {
        guard unit.number > lastHeard else { return false }
        lastHeard = unit.number
        return true
    }

    /// Keeps an update until the key is known. A full state replaces all earlier updates.
    mutating func hold(_ unit: MessageUnit) {
        if unit.sharing != .change { forgetHeld() }
        guard heldBytes + unit.body.count <= Limits.heldStateBytes else { return forgetHeld() }
        var copy = unit
        copy.body = Array(unit.body)[...]
        held.append(copy)
        heldBytes += unit.body.count
    }

    /// Drops all updates that wait for the key.
    mutating func forgetHeld() { (held, heldBytes) = ([], 0) }

    /// Whether all updates were sent.
    func hasNothing(of log: SharedLog) -> Bool {
        !isServed || place == nil && !isLetIn || log.next(after: place, withCheckpoints: takesCheckpoints) == nil
    }

    /// The next update to send.
    mutating func next(of log: SharedLog) -> MessageUnit? {
        guard isServed, place != nil || isLetIn,
            let (entry, place) = log.next(after: place, withCheckpoints: takesCheckpoints)
        else {
            return nil
        }
        self.place = place
        lastSent += 1
        return MessageUnit(.latest, number: lastSent, body: entry.signed[...], sharing: entry.sharing)
    }
}
