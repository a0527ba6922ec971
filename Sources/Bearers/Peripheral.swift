// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A host or relay that was heard. A guest makes a `BearerTransport` from it.
///
/// Only this value and the radio that heard it know its address.
public struct Peripheral: Hashable, Sendable {
    /// The node to dial, by the head of its identifier, and its advertised name. A relay advertises its host's name. A
    /// hint, not a proof.
    public var peer: Peer { scanResult.advertisement.peer }
    /// Signal strength in dBm. Nil if the radio does not report it.
    public var rssi: Int? { scanResult.rssi }
    /// The bearer that heard the node.
    public var bearer: BearerKind { scanResult.endpoint.bearer }
    /// Whether this node can dial the found node. Both must have the same major version of the protocol, and the found
    /// node must not require anything that this version does not know.
    public var isUnderstood: Bool { scanResult.advertisement.isUnderstood }
    /// Whether the node is a relay that accepts circuits to a host, not a host.
    public var isRelay: Bool { scanResult.advertisement.flags.critical.contains(.circuitsOnly) }

    /// The host of a relay's circuits, as far as the relay advertises it.
    public struct Relayed: Hashable, Sendable {
        /// The host, by the first ten digits of its identifier, and its name, cut to the space that a relay has.
        public var host: Peer
        /// Hops from the relay to the host, at least 1.
        public var hops: Int
        /// Whether the relay accepts further guests.
        public var hasRoom: Bool

        /// A route through a relay.
        public init(host: Peer, hops: Int, hasRoom: Bool) {
            (self.host, self.hops, self.hasRoom) = (host, hops, hasRoom)
        }
    }

    /// The host of the relay's circuits. Nil for a host, and for a relay until its scan response is received.
    public var relayed: Relayed? {
        let advertisement = scanResult.advertisement
        guard isRelay, let relayed = advertisement.relayed else { return nil }
        return Relayed(
            host: Peer(id: Hex.text(relayed.idPrefix), name: peer.name), hops: Int(relayed.hops),
            hasRoom: !advertisement.flags.ignorable.contains(.noRoom))
    }

    /// Hops from the node to the host. 0 for the host itself, and for a relay whose value is still unknown.
    public var hops: Int { relayed?.hops ?? 0 }

    /// Whether the node requires a proof, such as a PIN. A relay passes on its host's value.
    public var asksForPIN: Bool { scanResult.advertisement.flags.critical.contains(.proof) }

    /// Whether the node reserves its last slots for relays. Only a link over Bluetooth needs a slot.
    public var placesForRelays: Bool {
        !bearer.isBesideRadio && scanResult.advertisement.flags.ignorable.contains(.placesForRelays)
    }

    package let scanResult: ScanResult
    package let radio: any Bearer

    /// Two peripherals are equal if their scan results are equal.
    public static func == (one: Peripheral, other: Peripheral) -> Bool { one.scanResult == other.scanResult }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(scanResult) }
}
