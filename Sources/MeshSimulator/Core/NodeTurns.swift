// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import NodeCore
import Synchronization

/// The turns of the nodes that have an event in a window, and the helper threads.
///
/// The result does not depend on which thread decides: a run is the same with any number of threads.
final class NodeTurns: Sendable {
    /// Maximum number of turns of a window.
    static let most = 256
    private let board: Board

    /// Threads in addition to the simulation's own.
    init(helpers: Int) {
        board = Board(helpers)
        for helper in board.helpers {
            DispatchQueue(label: "roadmesh.simulation").async { [board] in board.help(helper) }
        }
    }

    deinit { board.end() }

    /// A turn of the next window, by its index.
    subscript(place: Int) -> NodeTurn { board.turns[place] }

    /// This many turns are open. All of them are answered before the next window.
    func begin(_ count: Int) { board.begin(count) }

    /// Whether a node has decided something. While another thread does it, this thread works on other turns.
    func answer(of turn: NodeTurn) -> Bool {
        if !turn.decide() {
            while !turn.isDecided { if !board.decideLast() { sched_yield() } }
        }
        return turn.takeAnswer()
    }
}

/// The state that helpers share with the simulation's thread.
private final class Board: Sendable {
    /// A helper thread, and whether it waits for its alarm.
    final class Helper: Sendable {
        let isAsleep = Atomic<Bool>(false)
        let alarm = DispatchSemaphore(value: 0)
    }

    /// How often a helper looks for work before it sleeps: some hundred microseconds.
    private static let patience = 1_000

    let helpers: [Helper]
    let turns = (0..<NodeTurns.most).map { _ in NodeTurn() }
    /// Number of turns, from the first, that no helper has claimed. The simulation begins at the first turn, helpers at the
    /// last.
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

    /// Decides the last unclaimed turn. The first turn is left to the simulation.
    func decideLast() -> Bool {
        while true {
            let count = left.load(ordering: .acquiring)
            guard count > 1 else { return false }
            let claim = left.compareExchange(expected: count, desired: count - 1, ordering: .acquiringAndReleasing)
            // The simulation may have claimed it first.
            if claim.exchanged, turns[count - 1].decide() { return true }
        }
    }

    /// The loop of a helper.
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
        // If another thread has found the helper asleep since, that thread signals the alarm, and the helper must wait
        // for it.
        if isNeeded, helper.isAsleep.exchange(false, ordering: .sequentiallyConsistent) { return }
        helper.alarm.wait()
    }
}
