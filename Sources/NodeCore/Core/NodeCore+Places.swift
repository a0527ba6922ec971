// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Slots for relays, at this node and at its parent.

extension NodeCore {
    /// The set of linked nodes that have dialled this node has changed.
    mutating func neighboursChanged() {
        guard isHost || configuration.part.relays else { return }
        // Links over a network use none of the radio's slots.
        let here = context.mesh.neighbours.filter { !links.isBesideRadio($0.link) }
        perform(places.handle(.neighbours(here), now: context.now))
    }

    mutating func tickPlaces() {
        guard let deadline = places.deadline, deadline <= context.now else { return }
        perform(places.handle(.tick, now: context.now))
    }

    private mutating func perform(_ actions: [Places.Action]) {
        for action in actions {
            switch action {
            case .advertise(let areKept) where isHost: emit(.placesForRelays(areKept))
            case .advertise(let areKept): perform(duty.handle(.placesForRelays(areKept), now: context.now))
            case .ask(let link): apply(context.mesh.askForRoom(on: link))
            }
        }
    }

    /// The parent needs this node's slot for a relay. This node moves if it can reach the host through another relay.
    mutating func askedForRoom(on id: MeshCore.LinkID) {
        guard !configuration.part.relays, let host = context.mesh.host, let way = context.mesh.link(to: host.id),
            id == context.mesh.parent?.link ?? way, !links.isBesideRadio(id),
            // The state comes over the present link. After a move the transfer would start again.
            decisions.app.isCurrent
        else { return }
        follow { [place = circuits.place(of: way)] in $0.askedForRoom(in: place, $1) }
    }
}
