// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The tree of a field's links: the route of each node to its host, and which nodes have joined.
extension Field {
    /// Links from a node to its host. Nil without a route.
    func hops(of node: Int) -> Int? {
        var (hops, place) = (0, node)
        while !nodes[place].isHost {
            // More hops than nodes mean a loop.
            guard hops < nodes.count, let next = air.connections.parent(of: place) else { return nil }
            (hops, place) = (hops + 1, next)
        }
        return hops
    }

    /// Whether a node has a route to its host and the host's current state.
    func isJoined(_ node: Int) -> Bool { people.isCurrent(node) && hops(of: node) != nil }

    /// The nodes of a list that have not joined. It follows each route once, not once for each node behind it, since
    /// there may be a thousand.
    func missing(of guests: [Int]) -> [Int] {
        var leads: [Bool?] = nodes.map { $0.isHost ? true : nil }
        return guests.filter { guest in
            guard people.isCurrent(guest) else { return true }
            var (route, place) = ([Int](), guest)
            while leads[place] == nil {
                route.append(place)
                // A loop has no route to a host.
                leads[place] = false
                guard let next = air.connections.parent(of: place) else { break }
                place = next
            }
            let isUp = leads[place] == true
            for node in route { leads[node] = isUp }
            return !isUp
        }
    }

    /// Guests that are still in the field.
    var guests: [Int] { nodes.indices.filter { !nodes[$0].isHost && !people.isGone($0) } }

    /// Guests that can reach a host, by the ranges of the radios.
    func inReach() -> [Int] {
        var reached: Set<Int> = []
        for host in nodes.indices where nodes[host].isHost {
            reached.formUnion(reachable(from: host).filter { scenario.host(of: $0) == host })
        }
        return guests.filter { reached.contains($0) }
    }

    /// The nodes that a host can reach through relays, by range alone. All others are cut off.
    private func reachable(from host: Int) -> Set<Int> {
        var found: Set<Int> = [host]
        var edge = [host]
        while let node = edge.popLast() {
            guard nodes[node].isHost || nodes[node].isRelay && scenario.party == nil else { continue }
            for other in air.neighbours(of: node) where found.insert(other).inserted { edge.append(other) }
        }
        return found
    }

    /// Checks that each vote counts once, and that no other votes count.
    mutating func checkVotes() {
        for host in nodes.indices where nodes[host].isHost {
            for (node, finding) in people.wrongVotes(of: host, nodes[host].disk.content.host) {
                report(finding, nodes[node].name)
            }
        }
    }

    /// Checks that all quantities that peers can influence are within their limits. Most guests are behind relays.
    mutating func checkLimits() {
        for node in nodes.indices {
            checkLimits(of: node, channels: air.connections.links(of: node).count, peers: nodes.count)
        }
    }

    /// Bytes of all SDUs that some nodes have sent.
    func bytes(of isSender: (Int) -> Bool = { _ in true }) -> Int {
        air.connections.links.reduce(0) { sum, link in
            link.ends.reduce(sum) { isSender($1.node) ? $0 + $1.bytes : $0 }
        }
    }

    /// SDUs on all links.
    var sdus: Int { air.connections.links.reduce(0) { $0 + $1.ends[0].sdus + $1.ends[1].sdus } }

    /// A hash of everything that was shown and sent.
    var fingerprint: UInt64 {
        var hash = TraceHash()
        let links = air.connections.links
        hash.add([now, steps, sdus, bytes(), air.connections.skipped, links.count])
        for node in nodes.indices {
            people.fold(node, into: &hash)
            hash.add(air.connections.links(of: node).count)
        }
        for link in links { hash.add([link.central, link.peripheral, link.ends[0].bytes, link.ends[1].bytes]) }
        return hash.value
    }
}
