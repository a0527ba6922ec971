// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore
import Synchronization

/// The next decision of one node. Any thread may make it, since no other code uses the node until the answer is taken.
///
/// It has no lock: its state shows which thread owns its content.
final class NodeTurn: @unchecked Sendable {
    enum Question {
        case event(NodeCore.Event)
        /// Time has passed. Without anything due, there is no answer.
        case tick
    }

    private enum State {
        /// Only the field uses it.
        static let idle = 0
        /// The first thread that claims it decides.
        static let open = 1
        static let taken = 2
        static let decided = 3
    }

    private let state = Atomic<Int>(State.idle)
    private var core: RunningCore?
    private var question = Question.tick
    private var time = 0
    private var answer: [NodeCore.Action]?
    /// The number of its entry on the agenda.
    private(set) var entry = 0

    /// Asks a node. The turn must be idle.
    func open(_ core: RunningCore, _ question: Question, entry: FieldAgenda.Entry) {
        (self.core, self.question, self.entry, time) = (core, question, entry.number, entry.at)
        state.store(State.open, ordering: .releasing)
    }

    /// Decides, unless another thread does or has. Returns whether this call decided.
    func decide() -> Bool {
        let claim = state.compareExchange(
            expected: State.open, desired: State.taken, ordering: .acquiringAndReleasing)
        guard claim.exchanged else { return false }
        answer = core?({ decide(&$0) })
        (core, question) = (nil, .tick)
        state.store(State.decided, ordering: .releasing)
        return true
    }

    private func decide(_ core: inout NodeCore) -> [NodeCore.Action]? {
        let now = MeshInstant.microseconds(time)
        switch question {
        case .event(let event): return core.handle(event, now: now)
        case .tick: return core.deadline.map { $0 <= now } == true ? core.handle(.tick, now: now) : nil
        }
    }

    var isDecided: Bool { state.load(ordering: .acquiring) == State.decided }

    /// Returns the answer. Call it once; the turn is idle afterwards.
    func takeAnswer() -> [NodeCore.Action]? {
        defer { state.store(State.idle, ordering: .relaxed) }
        return answer.take()
    }
}
