// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Looks for a better route to the host while one through relays is up, and decides when to change. A better route must
/// be heard in two scans in a row, so that a passing car takes no node along.
struct BetterRoute: Sendable {
    /// An event of the node.
    enum Event: Hashable, Sendable {
        /// A route over this many relays is up.
        case up(relays: Int)
        /// No route is up.
        case down
        /// The change has failed.
        case failed
        /// The parent, over this many relays, needs its slot for a node that relays.
        case asked(relays: Int)
        /// This relay is heard and accepts this node.
        case heardAside(Route.Path)
        /// Time has passed. `better` is the best route that is heard if it is better than the present one.
        case tick(better: Route.Path?, carriesOthers: Bool = false)
    }

    /// A decision.
    enum Action: Hashable, Sendable {
        /// Dial this, and keep the present route until the new one is up.
        case change(Route.Path)
        /// Cancel the dial. The present route stays.
        case giveUp
    }

    private enum State: Hashable, Sendable {
        /// No route is up, or the present route is a direct link to the host. Next: `resting`.
        case idle
        /// The pause before the next scan. Next: `looking`.
        case resting(until: MeshInstant)
        /// The scan for a better route. Next: `resting` or `changing`.
        case looking(until: MeshInstant)
        /// The dial of the better route. Next: `idle` (the new route is up) or `resting`.
        case changing(until: MeshInstant)
    }

    private var state = State.idle
    /// The better route of the last scan.
    private var found: Route.Path?
    private var rest = NodeLimits.firstLook
    /// The present route leads to the host itself.
    private var isDirect = false
    /// Until this time the node looks for a slot behind a relay, not for a better route.
    private var askedUntil: MeshInstant?

    /// Whether the node scans.
    var isLooking: Bool { if case .looking = state { true } else { false } }

    /// Whether the node scans for a slot behind a relay.
    var looksAside: Bool { askedUntil != nil && isLooking }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        switch state {
        case .idle: nil
        case .resting(let until), .looking(let until), .changing(let until): until
        }
    }

    /// Whether an event matters. A guest that is linked with the host itself looks for a route only after `asked`.
    func heeds(_ event: Event) -> Bool {
        switch event {
        case .asked: true
        case .up(let relays) where relays > 0: true
        default: state != .idle
        }
    }

    /// Decides. `jitter` is a random number from 0 to 1.
    mutating func handle(_ event: Event, now: MeshInstant, jitter: Double) -> Action? {
        switch (state, event) {
        case (_, .up(let relays)):
            (found, askedUntil, isDirect) = (nil, nil, relays == 0)
            rest = NodeLimits.firstLook
            if relays == 0 { state = .idle } else { wait(now: now, jitter: jitter) }
        case (_, .down): (state, askedUntil) = (.idle, nil)
        case (.idle, .asked(let relays)), (.resting, .asked(let relays)):
            isDirect = relays == 0
            lookAside(until: now + NodeLimits.makingRoom, now: now)
        case (.looking, .heardAside(let path)) where askedUntil != nil:
            state = .changing(until: now + NodeLimits.goingOver)
            return .change(path)
        case (.changing, .failed):
            // In a crowd, a relay that was heard is full a moment later.
            if let askedUntil, now < askedUntil {
                lookAside(until: askedUntil, now: now)
            } else {
                restLonger(now: now, jitter: jitter)
            }
        case (.resting(let until), .tick(_, carriesOthers: true)) where now >= until && rest < NodeLimits.longestRest:
            // All circuits through this node would begin again, and trees that are being built change often.
            restLonger(now: now, jitter: jitter)
        case (.resting(let until), .tick) where now >= until: state = .looking(until: now + NodeLimits.look)
        case (.looking(let until), .tick(let better, _)) where now >= until:
            return looked(better, now: now, jitter: jitter)
        case (.changing(let until), .tick) where now >= until:
            restLonger(now: now, jitter: jitter)
            return .giveUp
        default: break
        }
        return nil
    }

    /// Looks for a slot behind a relay. The parent needs its slot, so the node uses the first near relay that it hears.
    private mutating func lookAside(until end: MeshInstant, now: MeshInstant) {
        askedUntil = end
        state = .looking(until: min(now + NodeLimits.lookAside, end))
    }

    private mutating func looked(_ better: Route.Path?, now: MeshInstant, jitter: Double) -> Action? {
        guard let better else {
            restLonger(now: now, jitter: jitter)
            return nil
        }
        guard better == found else {
            found = better
            state = .resting(until: now + NodeLimits.secondLook)
            return nil
        }
        state = .changing(until: now + NodeLimits.goingOver)
        return .change(better)
    }

    private mutating func restLonger(now: MeshInstant, jitter: Double) {
        (found, askedUntil) = (nil, nil)
        guard !isDirect else { return state = .idle }
        wait(now: now, jitter: jitter)
        rest = min(rest * 2, NodeLimits.longestRest)
    }

    /// Nodes that have lost a relay together do not scan together.
    private mutating func wait(now: MeshInstant, jitter: Double) {
        state = .resting(until: now + rest * (0.5 + jitter / 2))
    }
}
