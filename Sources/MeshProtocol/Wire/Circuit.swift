// SPDX-License-Identifier: Apache-2.0

/// Requests a circuit: a link through relays to a host (`docs/protocol.md`, "Circuits").
public struct CircuitOpen: Hashable, Sendable {
    /// The circuit's number on this link. The side that opens it chooses: even numbers are the initiator's, odd ones
    /// the responder's.
    public var circuit: UInt64
    /// The host at the end of the circuit.
    public var host: Peer.ID
    /// Number of further relays that may forward the request.
    public var hopsLeft: UInt8
    /// Largest SDU that the opener accepts in the circuit, in bytes.
    public var innerMTU: Int
    /// The heads of the relays that the request has passed, so that it passes no relay twice.
    public var passed: [Peer.ID]
}

/// Why a circuit has ended. The host sends none of these reasons: its messages are sealed inside the circuit.
public enum CircuitEnd: UInt8, Hashable, Sendable, CaseIterable {
    /// A reason that this version does not know.
    case unspecified = 0
    /// This node is not a relay.
    case noRelay = 1
    /// The relay has no route to this host at present.
    case noHost = 2
    /// The request for a circuit has passed the maximum number of relays.
    case tooFar = 3
    /// The request for a circuit has passed this relay before.
    case loop = 4
    /// The relay has its maximum of circuits.
    case noRoom = 5
    /// The link behind the relay has ended, or its other end has closed the circuit.
    case ended = 6
    /// More SDUs were sent than there were credits, or an SDU was too large.
    case misused = 7
}

/// The route of circuits through a relay (`docs/protocol.md`, "Route").
public struct Route: Hashable, Sendable {
    /// The host that the circuits lead to.
    public var host: Peer.ID
    /// Number of links from the relay to the host, 1 or more.
    public var hops: UInt8

    /// A route.
    public init(host: Peer.ID, hops: UInt8) {
        self.host = host
        self.hops = hops
    }
}

extension WireWriter {
    /// Without a route, the frame has 0 hops and no host.
    mutating func route(_ route: Route?) {
        byte(route?.hops ?? 0)
        if let route { append(Hex.bytes(route.host) ?? []) }
    }

    mutating func circuitOpen(_ open: CircuitOpen) {
        varint(open.circuit)
        append(Hex.bytes(open.host) ?? [])
        byte(open.hopsLeft)
        varint(UInt64(open.innerMTU))
        let passed = open.passed.prefix(Int(UInt8.max))
        byte(UInt8(passed.count))
        for head in passed { append(Hex.bytes(head) ?? []) }
    }
}

extension WireReader {
    /// Nil if it is cut off. An inner nil if there is no route, or if it is longer than a circuit may be: a node that
    /// claims such a route would get additional time for each hop.
    mutating func route() -> Route?? {
        guard let hops = byte() else { return nil }
        guard hops > 0 else { return .some(nil) }
        return bytes(Identity.idBytes).map { hops > Limits.circuitHops ? nil : Route(host: Hex.text($0), hops: hops) }
    }

    mutating func circuitOpen() -> CircuitOpen? {
        guard let circuit = varint(), let host = bytes(Identity.idBytes), let hopsLeft = byte(),
            let innerMTU = count(), let passedCount = byte()
        else { return nil }
        var passed: [Peer.ID] = []
        for _ in 0..<passedCount {
            guard let head = bytes(Identity.headBytes) else { return nil }
            passed.append(Hex.text(head))
        }
        return CircuitOpen(
            circuit: circuit, host: Hex.text(host), hopsLeft: hopsLeft, innerMTU: innerMTU, passed: passed)
    }
}
