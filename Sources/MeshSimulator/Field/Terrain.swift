// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The positions of the nodes, and which of them can hear each other.
struct Terrain {
    private let layout: FieldLayout
    private var places: [FieldPoint]
    private var cells: [Int] = []
    private var grid: FieldGrid
    private var movers: [FieldMover]
    /// Cached ranges. Valid until a node moves.
    private var ranges: [Int: [(node: Int, signal: Int)]] = [:]

    init(_ scenario: FieldScenario, _ places: [FieldPoint], _ random: inout SeededGenerator) {
        layout = scenario.layout
        self.places = places
        grid = FieldGrid(cell: layout.range)
        for node in places.indices { cells.append(grid.add(node, at: places[node])) }
        movers = FieldMover.all(scenario, places, &random)
    }

    var hasMovers: Bool { !movers.isEmpty }

    func place(of node: Int) -> FieldPoint { places[node] }

    /// The signal strength between two nodes, in dBm. Nil if they are out of range.
    func signal(_ node: Int, _ other: Int) -> Int? { layout.signal(over: places[node].distance(to: places[other])) }

    /// All nodes within the range of a node, in order.
    func neighbours(of node: Int) -> [Int] {
        grid.near(cells[node]).filter { $0 != node && places[node].distance(to: places[$0]) <= layout.range }
    }

    /// All nodes in range of a node and their signals, the faintest first.
    mutating func inRange(of node: Int) -> [(node: Int, signal: Int)] {
        if let known = ranges[node] { return known }
        let found = grid.near(cells[node]).filter { $0 != node }.compactMap { other in
            signal(node, other).map { (node: other, signal: $0) }
        }.sorted { ($0.signal, $0.node) < ($1.signal, $1.node) }
        ranges[node] = found
        return found
    }

    /// All moving nodes take a step. Returns those that have other positions now.
    mutating func step(now: Int, _ random: inout SeededGenerator) -> [Int] {
        movers.indices.flatMap { mover -> [Int] in
            guard movers[mover].step(now: now, &random) else { return [] }
            for (index, node) in movers[mover].nodes.enumerated() { move(node, to: movers[mover].place(of: index)) }
            return movers[mover].nodes
        }
    }

    mutating func move(_ node: Int, to place: FieldPoint) {
        ranges = [:]
        places[node] = place
        cells[node] = grid.move(node, from: cells[node], to: place)
    }

    mutating func stopMoving() { movers = [] }
}

/// Finds nearby nodes: the ground in squares as wide as a radio's range.
private struct FieldGrid {
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
