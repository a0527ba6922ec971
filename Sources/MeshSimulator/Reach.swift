// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Who hears whom in a world with relays: the nodes stand in rows, the host in the first, and hear those of their own row and of
/// the rows beside it. In each row but the last one at least one node relays, so everybody can be reached.
public struct Reach: Hashable, Sendable {
    /// The row of each node.
    public let rows: [Int]
    /// The guests that relay.
    public let relays: Set<Int>

    /// Nodes of such a world: a relay takes seven, so that with one relay more than these could not all be in.
    static let sizes = 3...8

    init(_ nodes: Int, _ random: inout SeededGenerator) {
        let count = random.pick(1...min(nodes - 2, 5))
        // Two relays in one row are two ways.
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

    /// Whether a way leads from a node to the host, over relays but for these.
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
