// SPDX-License-Identifier: Apache-2.0

/// Asks a relay for a circuit: a link through it to a host (`docs/protocol.md`, "Circuits"). This version has no
/// relays: it reads these frames, and refuses the circuit.
public struct CircuitOpen: Hashable, Sendable {
    /// The circuit's number on this link. Who opens it chooses: even ones are the initiator's, odd ones the
    /// responder's.
    public var circuit: UInt64
    /// Where it is to lead.
    public var host: Peer.ID
    /// How many relays may still pass it on.
    public var hopsLeft: UInt8
    /// Largest SDU that the opener takes through it, in bytes.
    public var innerMTU: Int
    /// The heads of the relays that it has passed, so that none passes it twice.
    public var passed: [Peer.ID]
}

/// Why a circuit is over. None of these is the host's word: what the host says is sealed, inside.
public enum CircuitEnd: UInt8, Hashable, Sendable, CaseIterable {
    /// A reason that this version does not know.
    case unspecified = 0
    /// This node relays nothing.
    case noRelay = 1
    /// The host is not in range of the relay.
    case noHost = 2
    /// It has passed as many relays as it may.
    case tooFar = 3
    /// It has passed this relay before.
    case loop = 4
    /// The relay has as many circuits as it takes.
    case noRoom = 5
    /// The link behind the relay is over, or its other end has closed the circuit.
    case ended = 6
    /// More was sent than there were credits, or to no circuit.
    case misused = 7
}

extension WireWriter {
    mutating func circuitOpen(_ open: CircuitOpen) {
        varint(open.circuit)
        append(Hex.bytes(open.host) ?? [])
        byte(open.hopsLeft)
        varint(UInt64(open.innerMTU))
        byte(UInt8(clamping: open.passed.count))
        for head in open.passed { append(Hex.bytes(head) ?? []) }
    }
}

extension WireReader {
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
