// SPDX-License-Identifier: Apache-2.0

import MeshNode
import MeshProtocol
import Synchronization

/// What one node is to decide next: any thread may, since nothing else is asked of the node before its answer is taken.
///
/// Without a lock: its state says which thread what it holds belongs to.
final class NodeTurn: @unchecked Sendable {
    enum Question {
        case event(NodeCore.Event)
        /// Time has passed; there is no answer where nothing is due.
        case tick
    }

    private enum State {
        /// Nobody's but the field's.
        static let idle = 0
        /// The thread that comes first decides.
        static let open = 1
        static let taken = 2
        static let decided = 3
    }

    private let state = Atomic<Int>(State.idle)
    private var core: RunningCore?
    private var question = Question.tick
    private var time = 0
    private var answer: [NodeCore.Action]?
    /// What it is about: the number of an entry of the agenda.
    private(set) var entry = 0

    /// Asks a node. The turn has to be idle.
    func open(_ core: RunningCore, _ question: Question, entry: FieldAgenda.Entry) {
        (self.core, self.question, self.entry, time) = (core, question, entry.number, entry.at)
        state.store(State.open, ordering: .releasing)
    }

    /// Decides, unless somebody does already or has. Whether it did.
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

    /// The answer. Once: the turn is idle afterwards.
    func takeAnswer() -> [NodeCore.Action]? {
        defer { state.store(State.idle, ordering: .relaxed) }
        return answer.take()
    }
}
