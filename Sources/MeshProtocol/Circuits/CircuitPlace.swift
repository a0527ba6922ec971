// SPDX-License-Identifier: Apache-2.0

/// Where a link is that has no channel of its own: in a circuit over another link.
public struct CircuitPlace: Hashable, Sendable {
    /// One end of a circuit.
    public struct Circuit: Hashable, Sendable {
        /// The link that it is on.
        public var link: MeshCore.LinkID
        /// Its number there.
        public var number: UInt64
    }

    /// The link that the circuit is on: to a relay, or from one.
    public var carrier: MeshCore.LinkID
    /// Who is at the circuit's other end, where this side asks for it; nil where it was offered.
    public var host: Peer.ID?
    /// Relays on the way, as far as it is known.
    public var hops: Int
    /// The heads of those that it has passed, as they say, the one next to the guest first. Empty on the side that asks.
    public var passed: [Peer.ID]
    /// Its number, once there is one.
    var number: UInt64?

    var circuit: Circuit? { number.map { Circuit(link: carrier, number: $0) } }

    /// A circuit to a host, which is to be opened on a link to a relay.
    public init(to host: Peer.ID, over carrier: MeshCore.LinkID, hops: Int) {
        (self.host, self.carrier, self.hops) = (host, carrier, hops)
        passed = []
    }

    /// A circuit that was offered on a link.
    init(offered open: CircuitOpen, on link: MeshCore.LinkID) {
        (carrier, hops, passed, number) = (link, open.passed.count, open.passed, open.circuit)
    }
}

/// What is kept of a link between a relay and a node behind it.
struct Carrier: Sendable {
    /// State that has come before the key that it is signed with, and its bytes.
    var held: [MessageUnit] = []
    var heldBytes = 0
    /// The number of the last update that has come.
    private var lastHeard: UInt64 = 0
    /// The node behind is sent the host's state. On the side that was dialled.
    var isServed = false
    /// It keeps a log of its own.
    var takesCheckpoints = false
    /// How far that has got in the log.
    var place: UInt64?
    /// The last states that the node behind has, as it says, the newest first; on the side that has dialled: the relay goes on behind
    /// this one.
    var known: [StateName] = []
    /// SDUs of its handshake that the node behind has still to send on the circuit that it has opened last while it had no other, and the
    /// first one after the host has let it in.
    private var awaited = Self.ofUnknownHost
    /// XX: two packets, and a ping behind the answer. In IK, of who knows the host, and of who comes back, it is one packet less.
    private static let (ofUnknownHost, ofKnownHost) = (3, 2)
    /// Bytes of the Noise message of an IK-1: two keys, one of them sealed, and a tag.
    private static let leastKnownHello = 96
    private var lastSent: UInt64 = 0

    /// Whether the host has let the node behind in. A handshake that comes to nothing is not worth the whole state.
    var isLetIn: Bool { awaited == 0 }

    /// The node behind has opened its only circuit.
    mutating func begins() { awaited = Self.ofUnknownHost }

    /// The node behind has sent something in a circuit. Whether it is let in now, and was not before.
    mutating func passes(_ sdu: [UInt8]) -> Bool {
        guard awaited > 0 else { return false }
        switch HandshakePacket(sdu[...]) {
        case .knownHello where awaited == Self.ofUnknownHost, .rejoinHello where awaited == Self.ofUnknownHost:
            awaited = Self.ofKnownHost
        // What was kept of the host is nothing to it any more.
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

    /// Keeps an update until the key is known. What is whole stands for all before it.
    mutating func hold(_ unit: MessageUnit) {
        if unit.sharing != .change { forgetHeld() }
        guard heldBytes + unit.body.count <= Limits.heldStateBytes else { return forgetHeld() }
        var copy = unit
        copy.body = Array(unit.body)[...]
        held.append(copy)
        heldBytes += unit.body.count
    }

    /// Nothing waits for its key any more.
    mutating func forgetHeld() { (held, heldBytes) = ([], 0) }

    /// Whether none leaves.
    func hasNothing(of log: SharedLog) -> Bool {
        !isServed || place == nil && !isLetIn || log.next(after: place, withCheckpoints: takesCheckpoints) == nil
    }

    /// The update that leaves next.
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
