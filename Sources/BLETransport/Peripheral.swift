// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A host that was heard over the air: what a guest makes a `BLETransport` of.
///
/// Where it can be dialled is a secret between this value and the radio that heard it.
public struct Peripheral: Hashable, Sendable {
    /// What it advertises of itself: the head of its identifier, and its name. A hint, no proof.
    public var peer: Peer { sighting.advertisement.peer }
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int? { sighting.rssi }
    /// Hops from it to the host, 0 for the host itself.
    public var hops: Int { Int(sighting.advertisement.hops) }
    /// Whether this node can dial it: it speaks the same major version of the protocol, and asks for nothing that this
    /// version does not know.
    public var isUnderstood: Bool { sighting.advertisement.isUnderstood }

    let sighting: Sighting
    let radio: any Radio

    /// Two are equal where the same was heard from the same place.
    public static func == (one: Peripheral, other: Peripheral) -> Bool { one.sighting == other.sighting }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(sighting) }
}
