// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Looks for a better way to the host while the one through relays is up, and says when to go over: what is better has to be so
/// twice running, so that a car that passes by takes nobody along.
struct BetterWay: Sendable {
    /// What happens.
    enum Event: Hashable, Sendable {
        /// A way is up, over so many relays.
        case up(relays: Int)
        /// None is.
        case down
        /// Going over has led to nothing.
        case failed
        /// Time has passed, and this is the best way that is heard, where it is better than the one that is up; and whether others
        /// hang on this node.
        case tick(better: Dials.Way?, carriesOthers: Bool = false)
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Listen.
        case look
        /// Stop to listen.
        case stopLooking
        /// Dial this, and keep the way that is up until the other is.
        case goOver(Dials.Way)
        /// Give up what is dialled: the way that is up stays.
        case giveUp
    }

    private enum State: Hashable, Sendable {
        /// No way is up, or there is none that is better than the host itself. To `resting`.
        case idle
        /// To `looking`.
        case resting(until: MeshInstant)
        /// To `resting` or `goingOver`.
        case looking(until: MeshInstant)
        /// To `idle` (it is up) or `resting`.
        case goingOver(until: MeshInstant)

        var isLooking: Bool { if case .looking = self { true } else { false } }
    }

    private var state = State.idle
    /// What the last look has found.
    private var found: Dials.Way?
    private var rest = NodeLimits.firstLook

    /// When `tick` is due.
    var deadline: MeshInstant? {
        switch state {
        case .idle: nil
        case .resting(let until), .looking(let until), .goingOver(let until): until
        }
    }

    /// Whether an event is anything to it: a guest in the host's own reach looks for nothing.
    func heeds(_ event: Event) -> Bool {
        if case .up(let relays) = event, relays > 0 { true } else { state != .idle }
    }

    /// Takes an event. `jitter` is a random number from 0 to 1.
    mutating func handle(_ event: Event, now: MeshInstant, jitter: Double) -> [Action] {
        switch (state, event) {
        case (let before, .up(let relays)):
            found = nil
            rest = NodeLimits.firstLook
            if relays == 0 { state = .idle } else { wait(now: now, jitter: jitter) }
            return before.isLooking ? [.stopLooking] : []
        case (let before, .down):
            state = .idle
            return before.isLooking ? [.stopLooking] : []
        case (.goingOver, .failed):
            restLonger(now: now, jitter: jitter)
            return []
        case (.resting(let until), .tick(_, carriesOthers: true)) where now >= until && rest < NodeLimits.longestRest:
            // All circuits through it would begin again, and trees that are being built change often.
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
        found = nil
        wait(now: now, jitter: jitter)
        rest = min(rest * 2, NodeLimits.longestRest)
    }

    /// Those who have lost a relay together do not look together.
    private mutating func wait(now: MeshInstant, jitter: Double) {
        state = .resting(until: now + rest * (0.5 + jitter / 2))
    }
}
