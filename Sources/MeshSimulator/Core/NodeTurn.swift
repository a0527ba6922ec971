// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore
import Synchronization

/// The next decision of one node. Any thread may make it, since no other code uses the node until the answer is taken.
///
/// It has no lock: its state shows which thread owns its content.
final class NodeTurn: @unchecked Sendable {
    private enum State {
        /// Only the simulation uses it.
        static let idle = 0
        /// The first thread that claims it decides.
        static let open = 1
        static let taken = 2
        static let decided = 3
    }

    private let state = Atomic<Int>(State.idle)
    private var core: RunningNode?
    /// Nil asks whether time has passed. A node without a due event is not asked.
    private var event: NodeCore.Event?
    private var time = 0
    private var hasAnswer = false
    /// The number of the event on the agenda.
    private(set) var number: UInt64 = 0

    /// Asks a node. The turn must be idle.
    func open(_ core: RunningNode, _ event: NodeCore.Event?, number: UInt64, at time: Int) {
        (self.core, self.event, self.number, self.time) = (core, event, number, time)
        state.store(State.open, ordering: .releasing)
    }

    /// Decides, unless another thread is deciding or has decided. Returns whether this call decided.
    func decide() -> Bool {
        let claim = state.compareExchange(
            expected: State.open, desired: State.taken, ordering: .acquiringAndReleasing)
        guard claim.exchanged else { return false }
        hasAnswer = core.map { decide(&$0.loop) } ?? false
        (core, event) = (nil, nil)
        state.store(State.decided, ordering: .releasing)
        return true
    }

    private func decide(_ loop: inout NodeLoop) -> Bool {
        let now = MeshInstant.microseconds(time)
        if let event { return loop.take(event, now: now) }
        return loop.core.deadline.map { $0 <= now } == true && loop.take(.tick, now: now)
    }

    var isDecided: Bool { state.load(ordering: .acquiring) == State.decided }

    /// Whether the node has an answer: its next actions. Call it once; the turn is idle afterwards.
    func takeAnswer() -> Bool {
        defer { state.store(State.idle, ordering: .relaxed) }
        return hasAnswer
    }
}
