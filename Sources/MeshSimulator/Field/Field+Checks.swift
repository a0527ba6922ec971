// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// The results of a field: the parent of each node, and whether every vote counts once.

extension Field {
    /// The node that this one has dialled and is linked to. Nil without such a node, or if one of the two cannot hear
    /// the other.
    func parent(of node: Int) -> Int? {
        for link in nodes[node].links {
            let ends = links[link].ends
            guard ends[0].node == node, !links[link].isFading, ends.allSatisfy({ $0.id != 0 && !$0.isClosed }) else {
                continue
            }
            return ends[1].node
        }
        return nil
    }

    /// Links from a node to its host. Nil without a route.
    func hops(of node: Int) -> Int? {
        var (hops, place) = (0, node)
        while !nodes[place].isHost {
            // More hops than nodes mean a loop.
            guard hops < nodes.count, let next = parent(of: place) else { return nil }
            (hops, place) = (hops + 1, next)
        }
        return hops
    }

    /// Whether a node has a route to its host and the host's current state.
    func isJoined(_ node: Int) -> Bool { isCurrent(node) && hops(of: node) != nil }

    /// The nodes of a list that have not joined. It follows each route once, not once for each node behind it, since
    /// there may be a thousand.
    func missing(of guests: [Int]) -> [Int] {
        var leads: [Bool?] = nodes.map { $0.isHost ? true : nil }
        return guests.filter { guest in
            guard isCurrent(guest) else { return true }
            var (way, place) = ([Int](), guest)
            while leads[place] == nil {
                way.append(place)
                // A loop has no route to a host.
                leads[place] = false
                guard let next = parent(of: place) else { break }
                place = next
            }
            let isUp = leads[place] == true
            for node in way { leads[node] = isUp }
            return !isUp
        }
    }

    /// Guests that are still in the field.
    var guests: [Int] { nodes.indices.filter { !nodes[$0].isHost && !nodes[$0].isGone } }

    /// Guests that can reach a host, by the ranges of the radios.
    func inReach() -> [Int] {
        var reached: Set<Int> = []
        for host in nodes.indices where nodes[host].isHost {
            reached.formUnion(reachable(from: host).filter { scenario.host(of: $0) == host })
        }
        return guests.filter { reached.contains($0) }
    }

    /// Checks that each vote counts once, and that no other votes count.
    mutating func checkVotes() {
        for host in nodes.indices where nodes[host].isHost {
            var counted: [Int: [Song.ID]] = [:]
            for item in nodes[host].disk.host?.queue ?? [] {
                for voter in item.voters {
                    guard let node = peers[voter] else { continue }
                    counted[node, default: []].append(item.songID)
                }
            }
            for node in nodes.indices where scenario.host(of: node) == host && node != host {
                // Skip a person that still waits for an answer.
                guard nodes[node].castAt == nil || nodes[node].countedAt != nil else { continue }
                let expected = nodes[node].wants ? [Self.song(of: node)] : []
                let found = counted[node] ?? []
                guard found != expected else { continue }
                broken(host, "\(nodes[node].name) has voted for \(expected), and it has \(found)")
            }
        }
    }

    /// Checks that all quantities that peers can influence are within their limits.
    mutating func checkLimits() {
        for node in nodes.indices {
            guard let footprint = nodes[node].core?({ $0.mesh.footprint }) else { continue }
            // Most guests are behind relays.
            for what in footprint.excess(channels: nodes[node].links.count, peers: nodes.count) { broken(node, what) }
        }
    }

    /// A hash of everything that was shown and sent.
    var hash: UInt64 {
        var hash = TraceHash()
        hash.add([now, tally.events, tally.sdus, tally.bytes, tally.skipped, tally.linksMade])
        for node in nodes { hash.add([Int(node.revision), node.confirmedAt ?? 0, node.losses, node.links.count]) }
        for link in links { hash.add([link.ends[0].node, link.ends[1].node, link.ends[0].bytes, link.ends[1].bytes]) }
        return hash.value
    }
}
