// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Reserves the last slots of a node's radio for relays. At a host it also asks other nodes to make room
/// (`docs/protocol.md`, "Places for relays").
///
/// A host with seven links to nodes that are not relays has seven guests. With seven relays it can have any number. A
/// host without relays among its guests reserves nothing.
struct RelaySlots: Sendable {
    enum Event: Hashable, Sendable {
        /// The nodes that have dialled this one and are linked over its radio.
        case neighbours([MeshCore.Neighbour])
        /// Time has passed: see `deadline`.
        case tick
    }

    enum Action: Hashable, Sendable {
        /// Advertise whether the last slots are reserved for relays.
        case advertise(Bool)
        /// Ask the node at the other end of this link to make room.
        case ask(MeshCore.LinkID)
    }

    /// The requests to a neighbour.
    private struct Asked: Sendable {
        var count = 0
        /// Until this time the neighbour may still be moving.
        var goesUntil = MeshInstant.zero
        /// When the neighbour may be asked again.
        var again = MeshInstant.zero
    }

    private let isHost: Bool
    private var neighbours: [MeshCore.Neighbour] = []
    private var asked: [MeshCore.LinkID: Asked] = [:]
    private var areKept = false

    init(isHost: Bool) { self.isHost = isHost }

    /// When `tick` is due.
    private(set) var deadline: MeshInstant?

    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        if case .neighbours(let present) = event {
            neighbours = present
            let links = Set(present.map(\.link))
            asked = asked.filter { links.contains($0.key) }
        }
        return advertise() + ask(now: now)
    }

    /// The number of free slots. A relay's own route to the host takes one.
    private var free: Int { Limits.radioLinks - (isHost ? 0 : 1) - neighbours.count }

    private var hasRelay: Bool { neighbours.contains { $0.relays } }

    private mutating func advertise() -> [Action] {
        let keeps = free <= Limits.placesForRelays && (hasRelay || !isHost)
        guard keeps != areKept else { return [] }
        areKept = keeps
        return [.advertise(keeps)]
    }

    /// Asks one node per missing slot. A node that hears no relay cannot move, but another may.
    private mutating func ask(now: MeshInstant) -> [Action] {
        deadline = nil
        // A relay does not ask. As many nodes come and go at a relay as at all others, so a node that moved would be
        // moved again and again.
        let missing = isHost && hasRelay ? Limits.placesForRelays - free : 0
        guard missing > 0 else { return [] }
        let others = neighbours.filter { !$0.relays }.map(\.link)
        let underWay = asked.values.count { $0.goesUntil > now }
        let due = others.filter { asked[$0].map { now >= $0.again } != false }.sorted {
            (asked[$0]?.count ?? 0, -$0) < (asked[$1]?.count ?? 0, -$1)
        }.prefix(max(0, missing - underWay))
        for link in due {
            var what = asked[link] ?? Asked()
            what.goesUntil = now + NodeLimits.makingRoom
            what.again = now + NodeLimits.makeRoomAgain * (1 << min(what.count, NodeLimits.makeRoomDoublings))
            what.count += 1
            asked[link] = what
        }
        deadline = asked.values.flatMap { [$0.goesUntil, $0.again] }.filter { $0 > now }.min()
        return due.map { .ask($0) }
    }
}
