// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The circuits of a node's links.
struct CircuitTable: Sendable {
    private var places: [MeshCore.LinkID: CircuitPlace] = [:]
    /// Links in circuits that are not read at present.
    var held: Set<MeshCore.LinkID> = []

    /// Whether there are links in circuits.
    var hasInner: Bool { !places.isEmpty }

    var inner: [MeshCore.LinkID] { places.keys.sorted() }

    func place(of id: MeshCore.LinkID) -> CircuitPlace? { places[id] }

    mutating func opened(_ id: MeshCore.LinkID, _ place: CircuitPlace) { places[id] = place }

    mutating func closed(_ id: MeshCore.LinkID) {
        places[id] = nil
        held.remove(id)
    }
}
