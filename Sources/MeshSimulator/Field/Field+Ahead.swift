// SPDX-License-Identifier: Apache-2.0

import MeshNode
import MeshProtocol

// What happens in so short a time that no node reaches another one within it is known when it begins. So a node may decide at
// once on what happens to it first, on whichever thread, and what it has decided is performed when its time has come.

extension Field {
    /// Nothing that is said arrives within less: the shortest exchange of packets.
    private static let window = FieldAir.exchange(0, 0, isTuned: true)

    /// Where a window of that time begins, asks all nodes that something happens to in it. `end` is when the run ends.
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
            // Whom else they concern is not known.
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

    /// Something happens to a node. It is asked where that is the first in this window, and nothing but a question.
    private mutating func ask(_ node: Int, _ question: NodeTurn.Question?, _ entry: FieldAgenda.Entry) {
        defer { nodes[node].concerned = windows }
        guard nodes[node].concerned != windows, let question, let core = nodes[node].core else { return }
        turns[opened].open(core, question, entry: entry)
        nodes[node].turn = turns[opened]
        opened += 1
    }

    /// Whether a node was asked beforehand about what happens now.
    func wasAsked(_ node: Int) -> Bool { nodes[node].turn?.entry == entry || nodes[node].settled == entry }

    /// Performs what a node has decided on what happens now; false where it was not asked about that.
    mutating func takesTurn(_ node: Int) -> Bool {
        settle(node)
        return nodes[node].settled == entry
    }

    /// Performs what a node has decided, where it was asked: it may be used again. Before its time, where something comes first
    /// that was not known when the window began.
    mutating func settle(_ node: Int) {
        guard let turn = nodes[node].turn.take() else { return }
        nodes[node].settled = turn.entry
        touch(node)
        guard let actions = turns.answer(of: turn) else { return }
        perform(actions, node)
        readAgain(node)
    }
}
