// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Who hangs on whom: which relay each guest is joined through, as the links tell it.
///
/// A relay says what it likes of those behind it, so nothing here trusts that it is a tree: who hangs on nobody that is there,
/// or in a ring, stands at the top.
struct GuestTree: Sendable {
    /// Where a guest hangs.
    struct Place: Hashable, Sendable {
        /// Relays between it and the host; nil where this node does not know.
        var hops: Int?
        /// The relay that it is joined through, by its identifier or the head of it.
        var via: Peer.ID?
        /// How many guests are joined through it, however far behind it; nil where it is no relay, as far as this node knows.
        var carries: Int?
    }

    /// Each guest behind the one that it hangs on; the others stay in their order.
    private(set) var order: [Peer] = []
    private var places: [Peer.ID: Place]

    /// Where a guest hangs.
    func place(of id: Peer.ID) -> Place { places[id] ?? Place() }

    /// The guests of a host, by its links to them.
    init(_ guests: [Peer], hostLinks links: [Peer.ID: LinkReport]) {
        places = [:]
        for guest in guests {
            guard let link = links[guest.id] else { continue }
            places[guest.id] = Place(
                hops: link.relays, via: link.via, carries: link.circuits != nil && link.via == nil ? 0 : nil)
        }
        arrange(guests)
    }

    /// What a guest knows of the guests: how it is joined itself, and who is joined through it.
    init(_ guests: [Peer], me: Peer.ID, host: Peer.ID?, links: [Peer.ID: LinkReport]) {
        places = [:]
        order = guests
        guard let host, let own = links[host] else { return }
        let behind = links.filter { id, link in
            link.circuits != nil && id != host && !(own.via.map { Identity.mayBeSame($0, id) } ?? false)
        }
        for (id, link) in behind {
            // One of the circuits is its own.
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

    /// Adds a guest and all that hang on it.
    private mutating func add(_ guest: Peer, _ behind: [Peer.ID: [Peer]], _ seen: inout Set<Peer.ID>) {
        seen.insert(guest.id)
        order.append(guest)
        let before = order.count
        for next in behind[guest.id] ?? [] where !seen.contains(next.id) { add(next, behind, &seen) }
        if order.count > before { places[guest.id, default: Place()].carries = order.count - before }
    }
}
