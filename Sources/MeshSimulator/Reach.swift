// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The ranges in a world with relays. The nodes are in rows, the host in the first. They hear the nodes of their own
/// and the neighbouring rows. Each row but the last has at least one relay, so all nodes can be reached.
public struct Reach: Hashable, Sendable {
    /// The row of each node.
    public let rows: [Int]
    /// The guests that relay.
    public let relays: Set<Int>

    /// Number of nodes in a world with limited reach. A relay accepts seven guests, so with one relay, more nodes could
    /// not all be connected.
    static let sizes = 3...8

    init(_ nodes: Int, _ random: inout SeededGenerator) {
        let count = random.pick(1...min(nodes - 2, 5))
        // Two relays in one row make two routes.
        var deepest = 0
        var rows = [0]
        for _ in 0..<count {
            if deepest == 0 || random.chance(60) { deepest += 1 }
            rows.append(deepest)
        }
        for _ in rows.count..<nodes { rows.append(random.chance(70) ? deepest + 1 : random.pick(1...deepest + 1)) }
        self.rows = rows
        relays = Set(1...count)
    }

    /// Whether two nodes hear each other.
    func hears(_ node: Int, _ other: Int) -> Bool { abs(rows[node] - rows[other]) <= 1 }

    /// Whether a node has a route to the host over relays, without the excluded ones.
    func isReached(_ node: Int, without excluded: Set<Int>) -> Bool {
        var found: Set<Int> = [0]
        var edge = [0]
        while let place = edge.popLast() {
            guard place == 0 || relays.contains(place) && !excluded.contains(place) else { continue }
            for other in rows.indices where hears(place, other) && found.insert(other).inserted { edge.append(other) }
        }
        return found.contains(node)
    }
}
