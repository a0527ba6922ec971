// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The tree of guests: the relay through which each guest has joined, as the links report it.
///
/// A relay can report any guests behind it, so nothing here assumes a tree. A guest without a parent that is present,
/// or in a ring, stands at the top.
struct GuestTree: Sendable {
    /// A guest's position in the tree.
    struct Place: Hashable, Sendable {
        /// Relays between the guest and the host; nil if this node does not know.
        var hops: Int?
        /// The relay that the guest has joined through, by its identifier or the head of it.
        var via: Peer.ID?
        /// How many guests have joined through this guest, directly or indirectly; nil if it is not known to be a
        /// relay.
        var carries: Int?
    }

    /// The guests in an order in which each comes after its parent. Otherwise they keep their order.
    private(set) var order: [Peer] = []
    private var places: [Peer.ID: Place]

    /// The position of a guest.
    func place(of id: Peer.ID) -> Place { places[id] ?? Place() }

    /// Creates the tree of a host from its links to the guests.
    init(_ guests: [Peer], hostLinks links: [Peer.ID: LinkReport]) {
        places = [:]
        for guest in guests {
            guard let link = links[guest.id] else { continue }
            places[guest.id] = Place(
                hops: link.relays, via: link.via, carries: link.circuits != nil && link.via == nil ? 0 : nil)
        }
        arrange(guests)
    }

    /// Creates the tree as far as a guest knows it: its own route, and the guests that have joined through it.
    init(_ guests: [Peer], me: Peer.ID, host: Peer.ID?, links: [Peer.ID: LinkReport]) {
        places = [:]
        order = guests
        guard let host, let own = links[host] else { return }
        let behind = links.filter { id, link in
            link.circuits != nil && id != host && !(own.via.map { Identity.mayBeSame($0, id) } ?? false)
        }
        for (id, link) in behind {
            // One of the circuits belongs to the peer itself.
            let carries = (link.circuits ?? 0) - 1
            places[id] = Place(hops: own.relays + 1, via: me, carries: carries > 0 ? carries : nil)
        }
        let carried = behind.values.reduce(0) { $0 + ($1.circuits ?? 0) }
        places[me] = Place(hops: own.relays, via: own.via, carries: behind.isEmpty ? nil : carried)
    }

    private mutating func arrange(_ guests: [Peer]) {
        guard places.values.contains(where: { $0.via != nil }) else { return order = guests }
        let byHead = Dictionary(guests.map { (Identity.head(of: $0.id), $0.id) }) { first, _ in first }
        var behind: [Peer.ID: [Peer]] = [:]
        var top: [Peer] = []
        for guest in guests {
            let relay = places[guest.id]?.via.flatMap { byHead[Identity.head(of: $0)] }
            if let relay, relay != guest.id { behind[relay, default: []].append(guest) } else { top.append(guest) }
            if let relay { places[guest.id]?.via = relay }
        }
        var seen: Set<Peer.ID> = []
        for guest in top + guests where !seen.contains(guest.id) { add(guest, behind, &seen) }
    }

    /// Adds a guest and all guests behind it.
    private mutating func add(_ guest: Peer, _ behind: [Peer.ID: [Peer]], _ seen: inout Set<Peer.ID>) {
        seen.insert(guest.id)
        order.append(guest)
        let before = order.count
        for next in behind[guest.id] ?? [] where !seen.contains(next.id) { add(next, behind, &seen) }
        if order.count > before { places[guest.id, default: Place()].carries = order.count - before }
    }
}
