// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A host, or a relay, that was heard over the air: what a guest makes a `BLETransport` of.
///
/// Where it can be dialled is a secret between this value and the radio that heard it.
public struct Peripheral: Hashable, Sendable {
    /// Who is dialled, by the head of its identifier, and the name that it advertises: a relay's is its host's. A hint, no
    /// proof.
    public var peer: Peer { scanResult.advertisement.peer }
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int? { scanResult.rssi }
    /// What it was heard on.
    public var bearer: Bearer { scanResult.endpoint.bearer }
    /// Whether this node can dial it: it speaks the same major version of the protocol, and asks for nothing that this
    /// version does not know.
    public var isUnderstood: Bool { scanResult.advertisement.isUnderstood }
    /// Whether it is no host, but takes circuits to one.
    public var isRelay: Bool { scanResult.advertisement.flags.critical.contains(.circuitsOnly) }

    /// Where a relay's circuits lead, as far as it says so.
    public struct Relayed: Hashable, Sendable {
        /// The host, by the first ten digits of its identifier, and its name, cut to what a relay has room for.
        public var host: Peer
        /// Hops from the relay to the host, at least 1.
        public var hops: Int
        /// Whether the relay takes further guests.
        public var hasRoom: Bool

        /// The way through a relay.
        public init(host: Peer, hops: Int, hasRoom: Bool) {
            (self.host, self.hops, self.hasRoom) = (host, hops, hasRoom)
        }
    }

    /// Where its circuits lead; nil of a host, and of a relay until its scan response was heard.
    public var relayed: Relayed? {
        let advertisement = scanResult.advertisement
        guard isRelay, let relayed = advertisement.relayed else { return nil }
        return Relayed(
            host: Peer(id: Hex.text(relayed.idPrefix), name: peer.name), hops: Int(relayed.hops),
            hasRoom: !advertisement.flags.ignorable.contains(.noRoom))
    }

    /// Hops from it to the host: 0 for the host itself, and for a relay of which that is not known yet.
    public var hops: Int { relayed?.hops ?? 0 }

    /// It says that something has to be proved there, such as a PIN; a relay says so of its host.
    public var asksForPIN: Bool { scanResult.advertisement.flags.critical.contains(.proof) }

    /// It says that the last places of its radio are for nodes that relay. A link beside the radio takes none of them.
    public var placesForRelays: Bool {
        !bearer.isBesideRadio && scanResult.advertisement.flags.ignorable.contains(.placesForRelays)
    }

    let scanResult: ScanResult
    let radio: any Radio

    /// Two are equal where the same was heard from the same place.
    public static func == (one: Peripheral, other: Peripheral) -> Bool { one.scanResult == other.scanResult }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(scanResult) }
}
