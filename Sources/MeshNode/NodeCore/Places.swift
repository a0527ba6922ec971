// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Keeps the last places of a node's radio for nodes that relay, and at a host has others make room for them
/// (`docs/protocol.md`, "Places for relays").
///
/// A host whose radio holds seven links that relay nothing has seven guests; with seven relays it has as many as there are. A host
/// none of whose guests relays keeps nothing.
struct Places: Sendable {
    /// What happens.
    enum Event: Hashable, Sendable {
        /// These have dialled this node and are linked, over its radio.
        case neighbours([MeshCore.Neighbour])
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Say that the last places are for nodes that relay, or no longer.
        case advertise(Bool)
        /// Ask the node at the other end of this link to make room.
        case ask(MeshCore.LinkID)
    }

    /// What a neighbour was asked.
    private struct Asked: Sendable {
        var count = 0
        /// Until then it may be on its way.
        var goesUntil = MeshInstant.zero
        /// Then it may be asked again.
        var again = MeshInstant.zero
    }

    private let isHost: Bool
    private var neighbours: [MeshCore.Neighbour] = []
    private var asked: [MeshCore.LinkID: Asked] = [:]
    private var areKept = false

    init(isHost: Bool) { self.isHost = isHost }

    /// When `tick` is due.
    private(set) var deadline: MeshInstant?

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        if case .neighbours(let present) = event {
            neighbours = present
            let links = Set(present.map(\.link))
            asked = asked.filter { links.contains($0.key) }
        }
        return advertise() + ask(now: now)
    }

    /// Places that nobody has. A relay's own way to the host takes one.
    private var free: Int { Limits.radioLinks - (isHost ? 0 : 1) - neighbours.count }

    private var hasRelay: Bool { neighbours.contains { $0.relays } }

    private mutating func advertise() -> [Action] {
        let keeps = free <= Limits.placesForRelays && (hasRelay || !isHost)
        guard keeps != areKept else { return [] }
        areKept = keeps
        return [.advertise(keeps)]
    }

    /// One is asked for each place that is missing. What it does not do, because it hears no relay, another one may.
    private mutating func ask(now: MeshInstant) -> [Action] {
        deadline = nil
        // At a relay as many come and go as at all others: who is moved there is moved again and again.
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
