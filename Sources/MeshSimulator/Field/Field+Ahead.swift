// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// All events of a window are known when it begins, if the window is shorter than the time in which any node can reach
// another. So each node can decide its first event of the window at once, on any thread. Its decision is performed when
// the event's time comes.

extension Field {
    /// The shortest exchange of packets. Nothing arrives faster.
    private static let window = FieldAir.exchange(0, 0, isTuned: true)

    /// At the start of a window, asks all nodes that have an event in it. `end` is when the run ends.
    mutating func lookAhead(until end: Int) {
        guard agenda.isWindowOver, let first = agenda.first else { return }
        let entries = agenda.openWindow(until: min(end, first + Self.window - 1))
        guard entries.count > 1 else { return }
        windows += 1
        opened = 0
        defer { turns.begin(opened) }
        for entry in entries.prefix(NodeTurns.most) {
            switch entry.event {
            case .meets, .retunes, .reaches: continue
            case .arrives(let link, let from):
                askAbout(link, from, entry)
                nodes[links[link].ends[from].node].concerned = windows
            case .ticks(let node): ask(node, nodes[node].timer == entry.at ? .tick : nil, entry)
            case .written(let node): ask(node, nodes[node].writing == nil ? nil : .event(.written), entry)
            case .hears(let node, let other, let scan):
                ask(node, heard(other, by: node, scan).map { .event($0) }, entry)
            case .listens(let node, _), .dialEnds(let node, _), .votes(let node): ask(node, nil, entry)
            // The other nodes of these events are unknown.
            case .starts, .opens, .fades, .shuts, .moves: return
            }
        }
    }

    private mutating func askAbout(_ link: Int, _ from: Int, _ entry: FieldAgenda.Entry) {
        let (end, node) = (1 - from, links[link].ends[1 - from].node)
        let id = links[link].ends[end].id
        guard id != 0, !links[link].isOver, !links[link].ends[end].isClosed, links[link].ends[end].unread.isEmpty,
            nodes[node].concerned != windows, let sdu = links[link].ends[from].underway.first,
            nodes[node].core?({ $0.mayRead(id, now: .microseconds(entry.at)) }) == true
        else { return ask(node, nil, entry) }
        ask(node, .event(.received(sdu, on: id)), entry)
    }

    /// An event concerns a node. If it is the node's first event in the window, and the node must decide about it, the
    /// node is asked to decide ahead.
    private mutating func ask(_ node: Int, _ question: NodeTurn.Question?, _ entry: FieldAgenda.Entry) {
        defer { nodes[node].concerned = windows }
        guard nodes[node].concerned != windows, let question, let core = nodes[node].core else { return }
        turns[opened].open(core, question, entry: entry)
        nodes[node].turn = turns[opened]
        opened += 1
    }

    /// Whether a node has already been asked about the current event.
    func wasAsked(_ node: Int) -> Bool { nodes[node].turn?.entry == entry || nodes[node].settled == entry }

    /// Performs a node's decision about the current event. False if the node was not asked about it.
    mutating func takesTurn(_ node: Int) -> Bool {
        settle(node)
        return nodes[node].settled == entry
    }

    /// Performs a node's pending decision, so that the node can be used again. This happens early if another event
    /// comes first that was unknown at the start of the window.
    mutating func settle(_ node: Int) {
        guard let turn = nodes[node].turn.take() else { return }
        nodes[node].settled = turn.entry
        touch(node)
        guard turns.answer(of: turn) else { return }
        perform(node)
        readAgain(node)
    }
}
