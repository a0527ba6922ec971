// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what a relay reports to its children and advertises to others: its route, as long as it has one
/// (`docs/protocol.md`, "Route").
struct RelayDuty: Sendable {
    enum Event: Hashable, Sendable {
        /// The route to the host is up, over this many relays.
        case up(Peer, relaysOnTheWay: Int, asksForPIN: Bool)
        /// The route is lost.
        case down
        /// A channel or a circuit has opened that may become a new route. The result is known soon.
        case approaches
        /// This many nodes are behind this one.
        case children(Int)
        /// Whether this node reserves its last slots for relays.
        case placesForRelays(Bool)
        /// Time has passed: see `deadline`.
        case tick
    }

    enum Action: Hashable, Sendable {
        /// Advertise this content. Nil stops advertising.
        case advertise(NodeCore.RelayNotice?)
        /// Notify the nodes behind this one of the host to which circuits lead. Nil if circuits lead nowhere.
        case lead(MeshProtocol.Route?)
    }

    private enum State: Hashable, Sendable {
        /// Next: `leading`.
        case idle
        /// Next: `searching`.
        case leading(Goal)
        /// The route is lost. The node looks for another one before it reports the loss, at the latest at `latest`.
        /// Next: `leading` or `idle`.
        case searching(Goal, until: MeshInstant, latest: MeshInstant)
    }

    /// The route that this node offers.
    private struct Goal: Hashable, Sendable {
        var host: Peer
        var hops: Int
        var asksForPIN: Bool
    }

    private var state = State.idle
    private(set) var children = 0
    private var placesForRelays = false
    private var advertised: NodeCore.RelayNotice?

    var deadline: MeshInstant? { if case .searching(_, let until, _) = state { until } else { nil } }

    /// A parent must have fewer hops to the host than this while this node has children.
    var ceiling: Int? {
        if case .searching(let goal, _, _) = state, children > 0 { goal.hops } else { nil }
    }

    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch (state, event) {
        case (_, .up(let host, let relays, let asksForPIN)):
            state = .leading(Goal(host: host, hops: relays + 1, asksForPIN: asksForPIN))
            return [.lead(MeshProtocol.Route(host: host.id, hops: UInt8(clamping: relays + 1)))] + advertise()
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
            // A node that dials this one now would fail.
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
