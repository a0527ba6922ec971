// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Finds nearby nodes: the ground in squares as wide as a radio's range.
struct FieldGrid {
    private let side: Double
    private var cells: [Int: [Int]] = [:]

    init(cell side: Double) { self.side = side }

    private static let columns = 1 << 20

    private func cell(_ place: FieldPoint) -> Int {
        Int((place.x / side).rounded(.down)) &* Self.columns &+ Int((place.y / side).rounded(.down))
    }

    mutating func add(_ node: Int, at place: FieldPoint) -> Int {
        let cell = cell(place)
        cells[cell, default: []].append(node)
        return cell
    }

    /// A node has moved. Returns its new square.
    mutating func move(_ node: Int, from old: Int, to place: FieldPoint) -> Int {
        let new = cell(place)
        guard new != old else { return old }
        cells[old]?.removeAll { $0 == node }
        cells[new, default: []].append(node)
        return new
    }

    /// All nodes that may be in range of a node in this square, in order.
    func near(_ cell: Int) -> [Int] {
        var all: [Int] = []
        for column in -1...1 {
            for row in -1...1 { all += cells[cell &+ column &* Self.columns &+ row] ?? [] }
        }
        return all.sorted()
    }
}

/// A person who moves, or a car with its passengers.
struct FieldMover {
    /// The nodes that move, and their home positions.
    let nodes: [Int]
    let home: [FieldPoint]
    /// The nodes' present distance from home, and the distance that they move to.
    private var offset = FieldPoint(x: 0, y: 0)
    private var aim = FieldPoint(x: 0, y: 0)
    private var waitsUntil: Int
    private let metresPerStep: Double
    private let reach: FieldPoint

    /// Microseconds between two steps.
    static let step = 500_000

    private init(_ nodes: [Int], _ places: [FieldPoint], _ layout: FieldLayout, waitsUntil: Int) {
        self.nodes = nodes
        self.waitsUntil = waitsUntil
        home = nodes.map { places[$0] }
        // Cars fall back and catch up by three places. People walk along the bus, or around.
        (reach, metresPerStep) =
            switch layout {
            case .line: (FieldPoint(x: 45, y: 0), 1.5)
            case .bus: (FieldPoint(x: 14, y: 0), 0.5)
            case .crowd: (FieldPoint(x: 40, y: 40), 0.6)
            }
    }

    static func all(_ scenario: FieldScenario, _ places: [FieldPoint], _ random: inout SeededGenerator) -> [FieldMover]
    {
        let size = scenario.layout == .line ? scenario.layout.seats : 1
        return stride(from: 0, to: scenario.nodes, by: size).compactMap { first in
            // The host's car leads and does not move.
            guard first > 0, random.chance(scenario.movers) else { return nil }
            let nodes = Array(first..<min(first + size, scenario.nodes))
            return FieldMover(nodes, places, scenario.layout, waitsUntil: random.below(60_000_000))
        }
    }

    /// Takes a step. Returns whether the position has changed.
    mutating func step(now: Int, _ random: inout SeededGenerator) -> Bool {
        let left = offset.distance(to: aim)
        guard left > 0 else {
            guard now >= waitsUntil else { return false }
            aim = FieldPoint(
                x: (2 * random.fraction() - 1) * reach.x, y: (2 * random.fraction() - 1) * reach.y)
            return false
        }
        let share = min(1, metresPerStep / left)
        offset.x += (aim.x - offset.x) * share
        offset.y += (aim.y - offset.y) * share
        if share == 1 {
            offset = aim
            waitsUntil = now + 5_000_000 + random.below(55_000_000)
        }
        return true
    }

    /// The position of one of the nodes.
    func place(of index: Int) -> FieldPoint { FieldPoint(x: home[index].x + offset.x, y: home[index].y + offset.y) }
}

extension Field {
    mutating func moves() {
        schedule(.moves, at: now + FieldMover.step)
        for mover in movers.indices where movers[mover].step(now: now, &random) {
            ranges = [:]
            for (index, node) in movers[mover].nodes.enumerated() where !nodes[node].isGone {
                nodes[node].place = movers[mover].place(of: index)
                nodes[node].cell = grid.move(node, from: nodes[node].cell, to: nodes[node].place)
                for link in nodes[node].links { checkRange(link) }
            }
        }
    }

    /// The signal strength between two nodes, in dBm. Nil if they are out of range.
    func signal(_ node: Int, _ other: Int) -> Int? {
        scenario.layout.signal(over: nodes[node].place.distance(to: nodes[other].place))
    }

    /// Running nodes in range of a node, in order.
    func neighbours(of node: Int) -> [Int] {
        grid.near(nodes[node].cell).filter {
            $0 != node && nodes[$0].core != nil
                && nodes[node].place.distance(to: nodes[$0].place) <= scenario.layout.range
        }
    }

    /// All nodes in range of a node, running or not, the faintest first.
    mutating func inRange(of node: Int) -> [(node: Int, signal: Int)] {
        if let known = ranges[node] { return known }
        let found = grid.near(nodes[node].cell).filter { $0 != node }.compactMap { other in
            signal(node, other).map { (node: other, signal: $0) }
        }.sorted { ($0.signal, $0.node) < ($1.signal, $1.node) }
        ranges[node] = found
        return found
    }

    /// The nodes that a host can reach through relays, by range alone. All others are cut off.
    func reachable(from host: Int) -> Set<Int> {
        var found: Set<Int> = [host]
        var edge = [host]
        while let node = edge.popLast() {
            guard nodes[node].isHost || nodes[node].isRelay && scenario.party == nil else { continue }
            for other in neighbours(of: node) where found.insert(other).inserted { edge.append(other) }
        }
        return found
    }
}
