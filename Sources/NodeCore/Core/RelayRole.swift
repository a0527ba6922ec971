// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The part of a node in a tree of relays. A relay reports its route to others. A relay or a host reserves slots for
/// relays. `RelayDuty` and `RelaySlots` belong to it alone.
struct RelayRole: Sendable {
    enum Action: Hashable, Sendable {
        /// Advertise this node as a relay with this content; nil stops that.
        case advertise(NodeCore.RelayNotice?)
        /// Notify the nodes behind this one of the host to which circuits lead. Nil if circuits lead nowhere.
        case lead(MeshProtocol.Route?)
        /// Advertise whether this host reserves its last slots for relays.
        case reserveSlots(Bool)
        /// Ask the node at the other end of this link to make room.
        case askForRoom(MeshCore.LinkID)
    }

    private let isHost: Bool
    private let relays: Bool
    private var duty = RelayDuty()
    private var slots: RelaySlots

    init(isHost: Bool, relays: Bool) {
        (self.isHost, self.relays) = (isHost, relays)
        slots = RelaySlots(isHost: isHost)
    }

    /// A parent must have fewer hops to the host than this while this node has children.
    var ceiling: Int? { duty.ceiling }

    /// Whether nodes are behind this one.
    var carriesOthers: Bool { duty.children > 0 }

    /// When `tick` is due.
    var deadline: MeshInstant? { earliest(duty.deadline, slots.deadline) }

    /// The route of this node, or the nodes behind it, have changed.
    mutating func handle(_ event: RelayDuty.Event, now: MeshInstant) -> [Action] {
        duty.handle(event, now: now).map { action in
            switch action {
            case .advertise(let notice): .advertise(notice)
            case .lead(let route): .lead(route)
            }
        }
    }

    /// Nodes behind this one can reach the host over this many relays.
    mutating func lead(over hops: Int, _ mesh: MeshCore, now: MeshInstant) -> [Action] {
        guard let host = mesh.host else { return [] }
        return handle(.up(host, relaysOnTheWay: hops, asksForPIN: mesh.asksForProof(host.id)), now: now)
    }

    /// The nodes behind this one have changed.
    mutating func childrenChanged(_ mesh: MeshCore, now: MeshInstant) -> [Action] {
        relays ? handle(.children(mesh.children.count), now: now) : []
    }

    /// The nodes that have dialled this one have changed. Only links over its radio use slots.
    mutating func neighboursChanged(
        _ mesh: MeshCore, without besideRadio: Set<MeshCore.LinkID>, now: MeshInstant
    ) -> [Action] {
        guard isHost || relays else { return [] }
        let here = mesh.neighbours.filter { !besideRadio.contains($0.link) }
        return perform(slots.handle(.neighbours(here), now: now), now: now)
    }

    mutating func tick(now: MeshInstant) -> [Action] {
        let actions = handle(.tick, now: now)
        guard let due = slots.deadline, due <= now else { return actions }
        return actions + perform(slots.handle(.tick, now: now), now: now)
    }

    private mutating func perform(_ actions: [RelaySlots.Action], now: MeshInstant) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            // A host advertises the reservation in its flags, and a relay in its notice.
            case .advertise(let areKept) where isHost: [.reserveSlots(areKept)]
            case .advertise(let areKept): handle(.placesForRelays(areKept), now: now)
            case .ask(let link): [.askForRoom(link)]
            }
        }
    }
}
