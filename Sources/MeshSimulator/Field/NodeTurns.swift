// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import MeshNode
import Synchronization

/// The turns of the nodes that something happens to in a window, and the threads that help with them.
///
/// Who decides changes nothing of what is decided: a field is the same with any number of threads.
final class NodeTurns: Sendable {
    /// Turns of a window.
    static let most = 256
    private let board: Board

    /// Threads that run beside the field's own.
    init(helpers: Int) {
        board = Board(helpers)
        for helper in board.helpers {
            DispatchQueue(label: "roadmesh.field").async { [board] in board.help(helper) }
        }
    }

    deinit { board.end() }

    /// A turn of the window that is about to begin, by its place there.
    subscript(place: Int) -> NodeTurn { board.turns[place] }

    /// So many turns are open. All of them are answered before there are others.
    func begin(_ count: Int) { board.begin(count) }

    /// What a node has decided. While another thread is at it, this one goes ahead with others.
    func answer(of turn: NodeTurn) -> [NodeCore.Action]? {
        if !turn.decide() {
            while !turn.isDecided { if !board.decideLast() { sched_yield() } }
        }
        return turn.takeAnswer()
    }
}

/// What threads that help share with the field's own.
private final class Board: Sendable {
    /// A thread, and whether it waits for its alarm.
    final class Helper: Sendable {
        let isAsleep = Atomic<Bool>(false)
        let alarm = DispatchSemaphore(value: 0)
    }

    /// How often a thread looks for something to do before it sleeps: some hundred microseconds.
    private static let patience = 1_000

    let helpers: [Helper]
    let turns = (0..<NodeTurns.most).map { _ in NodeTurn() }
    /// How many turns, from the first, nobody but the field has looked at. It begins at the first: who helps begins at the last.
    private let left = Atomic<Int>(0)
    private let hasEnded = Atomic<Bool>(false)

    init(_ helpers: Int) { self.helpers = (0..<helpers).map { _ in Helper() } }

    func begin(_ count: Int) {
        left.store(count, ordering: .sequentiallyConsistent)
        if count > 1 { wake() }
    }

    func end() {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        wake()
    }

    private func wake() {
        for helper in helpers where helper.isAsleep.load(ordering: .sequentiallyConsistent) {
            if helper.isAsleep.exchange(false, ordering: .sequentiallyConsistent) { helper.alarm.signal() }
        }
    }

    /// Decides the last turn that nobody has looked at. The first of all is left to the field.
    func decideLast() -> Bool {
        while true {
            let count = left.load(ordering: .acquiring)
            guard count > 1 else { return false }
            let claim = left.compareExchange(expected: count, desired: count - 1, ordering: .acquiringAndReleasing)
            // The field may have come to it meanwhile.
            if claim.exchanged, turns[count - 1].decide() { return true }
        }
    }

    /// What a helper does.
    func help(_ helper: Helper) {
        var misses = 0
        while !hasEnded.load(ordering: .acquiring) {
            if decideLast() {
                misses = 0
            } else if misses < Self.patience {
                misses += 1
                sched_yield()
            } else {
                misses = 0
                sleep(helper)
            }
        }
    }

    private func sleep(_ helper: Helper) {
        helper.isAsleep.store(true, ordering: .sequentiallyConsistent)
        let isNeeded =
            hasEnded.load(ordering: .sequentiallyConsistent) || left.load(ordering: .sequentiallyConsistent) > 1
        // Who has found it asleep meanwhile gives its alarm, which is waited for.
        if isNeeded, helper.isAsleep.exchange(false, ordering: .sequentiallyConsistent) { return }
        helper.alarm.wait()
    }
}
