// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Places for relays: at this node, and at the one that it hangs on.

extension NodeCore {
    /// Who has dialled this node and is linked is not the same any more.
    mutating func neighboursChanged() {
        guard isHost || configuration.part.relays else { return }
        // What comes over a network takes nothing of the radio.
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

    /// Who this node hangs on needs its place for a node that relays. That is done for it where there is somewhere else to go.
    mutating func askedForRoom(on id: MeshCore.LinkID) {
        guard !configuration.part.relays, let host = context.mesh.host, let way = context.mesh.link(to: host.id),
            id == context.mesh.parent?.link ?? way, !links.isBesideRadio(id),
            // The state comes over the link that there is. What has come of it would come again.
            decisions.app.isCurrent
        else { return }
        look(.asked(relays: circuits.way(of: way).relays))
    }
}
