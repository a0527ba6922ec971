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
        /// Who this node hangs on, over so many relays, needs its place for a node that relays.
        case asked(relays: Int)
        /// This relay is heard and takes it.
        case heardAside(Dials.Way)
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
    /// The way that is up leads to the host itself.
    private var isDirect = false
    /// Until then it is looked for a place behind a relay, and not for a better way.
    private var askedUntil: MeshInstant?

    /// Whether a place behind a relay is listened for.
    var looksAside: Bool { askedUntil != nil && state.isLooking }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        switch state {
        case .idle: nil
        case .resting(let until), .looking(let until), .goingOver(let until): until
        }
    }

    /// Whether an event is anything to it: a guest in the host's own reach looks for nothing, unless it is asked to.
    func heeds(_ event: Event) -> Bool {
        switch event {
        case .asked: true
        case .up(let relays) where relays > 0: true
        default: state != .idle
        }
    }

    /// Takes an event. `jitter` is a random number from 0 to 1.
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
            // In a crowd what was heard is full a moment later.
            if let askedUntil, now < askedUntil { return lookAside(until: askedUntil, now: now) }
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

    /// The place is wanted: whatever is near is gone to as soon as it is heard.
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

    /// Those who have lost a relay together do not look together.
    private mutating func wait(now: MeshInstant, jitter: Double) {
        state = .resting(until: now + rest * (0.5 + jitter / 2))
    }
}
