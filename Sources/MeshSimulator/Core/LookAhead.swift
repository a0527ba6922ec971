// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// Decisions that nodes make before the events come that they decide about, on any thread.
///
/// All events of a window are known when it begins, if the window is shorter than the time in which any node can reach
/// another. So each node can decide its first event of the window at once. Its decision is performed when the event's
/// time comes.
struct LookAhead {
    private struct Node {
        var turn: NodeTurn?
        /// The last event that was decided this way.
        var settled: UInt64 = 0
        /// The last window with an event of this node.
        var window = 0
    }

    /// Nil if nothing is decided in advance.
    private let turns: NodeTurns?
    private var nodes: [Node] = []
    private var window = 0
    private var opened = 0

    /// The simulation's own thread is one of them. Zero decides nothing in advance.
    init(threads: Int) { turns = threads > 0 ? NodeTurns(helpers: threads - 1) : nil }

    /// A window begins.
    mutating func begin(nodes count: Int) {
        if nodes.count < count { nodes = [Node](repeating: Node(), count: count) }
        window += 1
        opened = 0
    }

    /// All nodes of the window are asked.
    func open() { turns?.begin(opened) }

    /// An event concerns a node. Returns whether it is the node's first event in the window.
    mutating func concerns(_ node: Int) -> Bool {
        guard nodes[node].window != window else { return false }
        nodes[node].window = window
        return true
    }

    /// Asks a node about an event.
    mutating func ask(_ node: Int, _ core: RunningNode, _ event: NodeCore.Event?, _ number: UInt64, at time: Int) {
        guard let turn = turns?[opened] else { return }
        opened += 1
        turn.open(core, event, number: number, at: time)
        nodes[node].turn = turn
    }

    /// Whether a node has already been asked about an event.
    func hasAsked(_ node: Int, _ number: UInt64) -> Bool {
        nodes.indices.contains(node) && (nodes[node].turn?.number == number || nodes[node].settled == number)
    }

    /// Whether a node's decision about an event was taken.
    func hasSettled(_ node: Int, _ number: UInt64) -> Bool {
        nodes.indices.contains(node) && nodes[node].settled == number
    }

    /// Whether a node that has been asked has decided something. Nil if it has not been asked.
    mutating func takeTurn(of node: Int) -> Bool? {
        guard let turns, nodes.indices.contains(node), let turn = nodes[node].turn.take() else { return nil }
        nodes[node].settled = turn.number
        return turns.answer(of: turn)
    }
}
