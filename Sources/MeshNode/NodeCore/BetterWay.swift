// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Searches for a better route while the present one leads through relays, and decides when to switch. A route must be
/// better in two searches in a row, so that a passing car does not cause a switch.
struct BetterWay: Sendable {
    enum Event: Hashable, Sendable {
        /// A route over this many relays is up.
        case up(relays: Int)
        /// No route is up.
        case down
        /// The switch has failed.
        case failed
        /// The parent, at the end of this many relays, needs this node's slot for a relay.
        case asked(relays: Int)
        /// A relay that can accept this node was heard.
        case heardAside(Dials.Way)
        /// Time has passed. `better` is the best route that was heard, if it is better than the present one.
        /// `carriesOthers` is true if this node has children.
        case tick(better: Dials.Way?, carriesOthers: Bool = false)
    }

    enum Action: Hashable, Sendable {
        /// Scan.
        case look
        /// Stop scanning.
        case stopLooking
        /// Dial this route. Keep the present one until the new one is up.
        case goOver(Dials.Way)
        /// Cancel the dial. The present route stays up.
        case giveUp
    }

    private enum State: Hashable, Sendable {
        /// No route is up, or the present one needs no improvement because it leads directly to the host. Next:
        /// `resting`.
        case idle
        /// Next: `looking`.
        case resting(until: MeshInstant)
        /// Next: `resting` or `goingOver`.
        case looking(until: MeshInstant)
        /// Next: `idle`, if the new route is up, or `resting`.
        case goingOver(until: MeshInstant)

        var isLooking: Bool { if case .looking = self { true } else { false } }
    }

    private var state = State.idle
    /// The result of the last search.
    private var found: Dials.Way?
    private var rest = NodeLimits.firstLook
    /// Whether the present route leads directly to the host.
    private var isDirect = false
    /// Until this time the node searches for a slot behind a relay and not for a better route.
    private var askedUntil: MeshInstant?

    /// Whether the node is scanning for a slot behind a relay.
    var looksAside: Bool { askedUntil != nil && state.isLooking }

    var deadline: MeshInstant? {
        switch state {
        case .idle: nil
        case .resting(let until), .looking(let until), .goingOver(let until): until
        }
    }

    /// Whether an event matters. A guest that reaches its host directly does not search, unless it is asked to move.
    func heeds(_ event: Event) -> Bool {
        switch event {
        case .asked: true
        case .up(let relays) where relays > 0: true
        default: state != .idle
        }
    }

    /// Handles an event. `jitter` is a random number from 0 to 1.
    mutating func handle(_ event: Event, now: MeshInstant, jitter: Double) -> [Action] {
        switch (state, event) {
        case (let before, .up(let relays)):
            (found, askedUntil, isDirect) = (nil, nil, relays == 0)
            rest = NodeLimits.firstLook
            if relays == 0 { state = .idle } else { wait(now: now, jitter: jitter) }
            return before.isLooking ? [.stopLooking] : []
        case (let before, .down):
            (state, askedUntil) = (.idle, nil)
            return before.isLooking ? [.stopLooking] : []
        case (.idle, .asked(let relays)), (.resting, .asked(let relays)):
            isDirect = relays == 0
            return lookAside(until: now + NodeLimits.makingRoom, now: now)
        case (.looking, .heardAside(let way)) where askedUntil != nil:
            state = .goingOver(until: now + NodeLimits.goingOver)
            return [.stopLooking, .goOver(way)]
        case (.goingOver, .failed):
            // In a crowd, the relay that was heard may have become full.
            if let askedUntil, now < askedUntil { return lookAside(until: askedUntil, now: now) }
            restLonger(now: now, jitter: jitter)
            return []
        case (.resting(let until), .tick(_, carriesOthers: true)) where now >= until && rest < NodeLimits.longestRest:
            // A switch would restart all circuits through this node, and routes change often while the relays of a
            // crowd connect.
            restLonger(now: now, jitter: jitter)
            return []
        case (.resting(let until), .tick) where now >= until:
            state = .looking(until: now + NodeLimits.look)
            return [.look]
        case (.looking(let until), .tick(let better, _)) where now >= until:
            return [.stopLooking] + looked(better, now: now, jitter: jitter)
        case (.goingOver(let until), .tick) where now >= until:
            restLonger(now: now, jitter: jitter)
            return [.giveUp]
        default: return []
        }
    }

    /// Another node needs the slot, so this node takes the first relay that it hears and that is near.
    private mutating func lookAside(until end: MeshInstant, now: MeshInstant) -> [Action] {
        askedUntil = end
        state = .looking(until: min(now + NodeLimits.lookAside, end))
        return [.look]
    }

    private mutating func looked(_ better: Dials.Way?, now: MeshInstant, jitter: Double) -> [Action] {
        guard let better else {
            restLonger(now: now, jitter: jitter)
            return []
        }
        guard better == found else {
            found = better
            state = .resting(until: now + NodeLimits.secondLook)
            return []
        }
        state = .goingOver(until: now + NodeLimits.goingOver)
        return [.goOver(better)]
    }

    private mutating func restLonger(now: MeshInstant, jitter: Double) {
        (found, askedUntil) = (nil, nil)
        guard !isDirect else { return state = .idle }
        wait(now: now, jitter: jitter)
        rest = min(rest * 2, NodeLimits.longestRest)
    }

    /// Spreads the pauses, so that nodes that have lost the same relay do not scan at the same time.
    private mutating func wait(now: MeshInstant, jitter: Double) {
        state = .resting(until: now + rest * (0.5 + jitter / 2))
    }
}
