// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

// What people see, and their votes.

extension Field {
    mutating func shows(_ event: NodeEvent, _ node: Int) {
        switch event {
        case .connection(let state):
            trace(node, "connection: \(state)")
            let was = nodes[node].isConnected
            nodes[node].isConnected = state == .connected
            if state == .connected { reaches(.connected, node) }
            if was, !nodes[node].isConnected { nodes[node].losses += 1 }
        case .snapshot(let snapshot, let isStale): if !isStale { shows(snapshot, node) }
        case .wish(_, _, .confirmed): nodes[node].confirmedAt = nodes[node].confirmedAt ?? now
        case .wish(let song, _, .rejected(let reason)): broken(node, "its vote for \(song) is rejected: \(reason)")
        case .intent(_, let peer, let rejected):
            guard rejected == nil, let voter = peers[peer.id] else { break }
            nodes[voter].countedAt = nodes[voter].countedAt ?? now
            nodes[voter].countedWith = nodes[voter].countedWith ?? nodes[node].revision
        case .notice(let notice): trace(node, "notice \(notice.code)")
        default: break
        }
    }

    private mutating func shows(_ snapshot: HostSnapshot, _ node: Int) {
        let before = nodes[node].epoch == snapshot.epoch ? nodes[node].revision : 0
        guard snapshot.revision >= before else {
            nodes[node].revision = snapshot.revision
            return broken(node, "state \(snapshot.revision) after \(before)")
        }
        nodes[node].epoch = snapshot.epoch
        nodes[node].revision = snapshot.revision
        let host = scenario.host(of: node)
        reaches(.shown, node)
        if snapshot.revision == nodes[host].revision { reaches(.current, node) }
        if node == host {
            while nodes[host].states.count <= Int(snapshot.revision) {
                nodes[host].states.append(FieldNode.Shown(at: now))
            }
        } else if snapshot.revision < nodes[host].states.count {
            let guests = audience(of: host)
            for revision in Int(before)..<Int(snapshot.revision) {
                nodes[host].states[revision + 1].seenBy += 1
                if nodes[host].states[revision + 1].seenBy == guests { nodes[host].states[revision + 1].seenAt = now }
            }
        } else {
            broken(node, "state \(snapshot.revision), which its host has not shown")
        }
    }

    /// Number of a host's guests, in range or not.
    private func audience(of host: Int) -> Int { tally.audience[host] ?? 0 }

    /// The song for which the person at a node votes: one of the queued songs, always the same.
    static func song(of node: Int) -> Song.ID { "s\(1 + node % (FieldScenario.songs - 1))" }

    /// The person at a node votes, or removes the vote.
    mutating func votes(_ node: Int) {
        guard nodes[node].core != nil else { return }
        nodes[node].wants.toggle()
        nodes[node].castAt = now
        (nodes[node].countedAt, nodes[node].countedWith, nodes[node].confirmedAt) = (nil, nil, nil)
        let song = Self.song(of: node)
        feed(.input(.guest(nodes[node].wants ? .vote(song) : .takeBackVote(song))), node)
        pull()
    }

    /// Whether a node is linked, by any route, and shows its host's state.
    func isCurrent(_ node: Int) -> Bool {
        let host = scenario.host(of: node)
        return nodes[node].isConnected && nodes[node].epoch == nodes[host].epoch
            && nodes[node].revision == nodes[host].revision
    }
}
