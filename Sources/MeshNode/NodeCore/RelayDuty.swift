// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a relay tells those behind it and those who may come: where it leads, as long as it leads somewhere
/// (`docs/protocol.md`, "Route").
struct RelayDuty: Sendable {
    /// What happens.
    enum Event: Hashable, Sendable {
        /// The way to a host is up: its identifier, the relays on it, and whether the host asks for a PIN.
        case up(Peer, relaysOnTheWay: Int, asksForPIN: Bool)
        /// It is lost.
        case down
        /// A channel or a circuit is open that may be another one: what comes of it is known in a moment.
        case approaches
        /// So many nodes stand behind this one.
        case children(Int)
        /// The last places of this node are for nodes that relay, or no longer.
        case placesForRelays(Bool)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Advertise this; nil: nothing.
        case advertise(NodeCore.RelayNotice?)
        /// Tell those behind this node that circuits lead here; nil: nowhere.
        case lead(Route?)
    }

    private enum State: Hashable, Sendable {
        /// To `leading`.
        case idle
        /// To `searching`.
        case leading(Goal)
        /// The way is lost, and another is looked for before anybody is told, at the latest then. To `leading` or `idle`.
        case searching(Goal, until: MeshInstant, latest: MeshInstant)
    }

    /// Where this node leads.
    private struct Goal: Hashable, Sendable {
        var host: Peer
        var hops: Int
        var asksForPIN: Bool
    }

    private var state = State.idle
    private(set) var children = 0
    private var placesForRelays = false
    private var advertised: NodeCore.RelayNotice?

    /// When `tick` is due.
    var deadline: MeshInstant? { if case .searching(_, let until, _) = state { until } else { nil } }

    /// A parent has to have fewer hops to the host than this, as long as others stand behind this node.
    var ceiling: Int? {
        if case .searching(let goal, _, _) = state, children > 0 { goal.hops } else { nil }
    }

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch (state, event) {
        case (_, .up(let host, let relays, let asksForPIN)):
            state = .leading(Goal(host: host, hops: relays + 1, asksForPIN: asksForPIN))
            return [.lead(Route(host: host.id, hops: UInt8(clamping: relays + 1)))] + advertise()
        case (.leading(let goal), .down):
            state = .searching(
                goal, until: now + NodeLimits.relaySearch, latest: now + NodeLimits.longestRelaySearch)
            return advertise()
        case (.searching(let goal, let until, let latest), .approaches):
            state = .searching(goal, until: max(until, min(now + NodeLimits.relaySearch, latest)), latest: latest)
            return []
        case (.searching(_, let until, _), .tick) where now >= until:
            state = .idle
            return [.lead(nil)] + advertise()
        case (_, .children(let count)):
            children = count
            return advertise()
        case (_, .placesForRelays(let areKept)):
            placesForRelays = areKept
            return advertise()
        default: return []
        }
    }

    private mutating func advertise() -> [Action] {
        let notice: NodeCore.RelayNotice? =
            switch state {
            case .idle: nil
            case .leading(let goal): notice(of: goal, hasRoom: children < Limits.relayChildren)
            // Who dials it now dials in vain.
            case .searching(let goal, _, _): notice(of: goal, hasRoom: false)
            }
        guard notice != advertised else { return [] }
        advertised = notice
        return [.advertise(notice)]
    }

    private func notice(of goal: Goal, hasRoom: Bool) -> NodeCore.RelayNotice {
        NodeCore.RelayNotice(
            host: goal.host, hops: goal.hops, hasRoom: hasRoom, placesForRelays: placesForRelays,
            asksForPIN: goal.asksForPIN)
    }
}
