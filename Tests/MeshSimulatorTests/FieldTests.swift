// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import MeshSimulator

@Suite("Fields of nodes with radios of limited range")
struct FieldTests {
    private static func scenario(
        _ nodes: Int, _ layout: FieldLayout, party: Int? = nil, seed: UInt64 = 1
    ) -> FieldScenario {
        var scenario = FieldScenario(nodes: nodes, layout: layout)
        (scenario.party, scenario.seed, scenario.relays) = (party, seed, 0)
        return scenario
    }

    @Test("a car of five joins within two seconds, and each vote is counted once, confirmed and seen by all")
    func car() throws {
        let metrics = FieldRun(Self.scenario(5, .line)).run()
        #expect(metrics.violations == [])
        #expect(metrics.joined == 4 && metrics.cutOff == 0)
        #expect(try #require(metrics.joinTime) < .seconds(2))
        #expect(metrics.hopsMost == 1)
        #expect(metrics.votes == 4 && metrics.counted == 4)
        let distance = try #require(metrics.distances.first)
        #expect(try #require(distance.counted) < .milliseconds(150))
        #expect(try #require(distance.counted) <= #require(distance.confirmed))
        #expect(try #require(metrics.seenByAll) < .milliseconds(300))
    }

    @Test("in ten cars with a host each, all guests join their own, and are current again after a loss")
    func cars() {
        let metrics = FieldRun(Self.scenario(50, .line, party: 5)).run()
        #expect(metrics.violations == [])
        #expect(metrics.joined == 40 && metrics.counted == 40)
        #expect(metrics.gone == 4 && metrics.repairTime != nil)
    }

    @Test("in half an hour of a walking crowd, links are lost, and each counted vote was cast once")
    func walking() throws {
        var scenario = Self.scenario(12, .crowd, party: 4, seed: 3)
        scenario.movers = 100
        let metrics = FieldRun(scenario).hour(30, votes: 60)
        #expect(metrics.violations == [])
        // A guest that is out of range at the end still has the vote that it cast there.
        #expect(metrics.votes > 100 && metrics.counted > 50 && metrics.counted <= metrics.votes)
        #expect(try #require(metrics.losses) > 0)
    }

    @Test("one seed gives one run, and another seed another run")
    func seeds() {
        let runs = [1, 1, 2].map { FieldRun(Self.scenario(15, .crowd, party: 5, seed: $0)).run() }
        #expect(runs[0] == runs[1])
        #expect(runs[0].hash != runs[2].hash)
    }

    @Test("a run is the same with any number of threads")
    func threads() {
        var scenario = Self.scenario(24, .crowd, seed: 5)
        (scenario.relays, scenario.movers) = (50, 20)
        let runs = [1, 3].map { FieldRun(scenario, threads: $0).run() }
        #expect(runs[0].joined > 15 && runs[0].gone > 0)
        #expect(runs[0] == runs[1])
    }

    @Test("an event that a node is asked about in advance is decided once, and performed at its time")
    func ahead() throws {
        var field = Field(Self.scenario(3, .line))
        field.run(until: 5_000_000)
        let core = try #require(field.nodes[1].core)
        let due = try #require(core { $0.deadline }).microseconds
        let turns = NodeTurns(helpers: 0)
        for (time, isDue) in [(due - 1, false), (due, true)] {
            turns[0].open(core, nil, number: 1, at: time)
            #expect(turns[0].decide())
            #expect(!turns[0].decide() && turns[0].isDecided)
            #expect(turns.answer(of: turns[0]) == isDue)
        }
        // At the end no node has an open turn.
        field.run(until: 6_000_000)
        let asked = field.nodes.indices.filter { field.ahead.takeTurn(of: $0) != nil }
        #expect(asked.isEmpty)
    }

    @Test("an adapter holds seven links, even if more nodes want one")
    func links() {
        var field = Field(Self.scenario(12, .line))
        field.run(until: 20_000_000)
        #expect(field.air.connections.links(of: 0).count == FieldScenario.links)
        #expect(field.guests.count { field.isJoined($0) } == FieldScenario.links)
    }

    @Test("a node that leaves the range is lost after the supervision timeout, and is back when it returns")
    func range() throws {
        var field = Field(Self.scenario(3, .line))
        field.run(until: 5_000_000)
        #expect(field.isJoined(1))
        let home = field.air.terrain.place(of: 1)
        let link = try #require(field.air.connections.links(of: 1).first)
        field.move(1, to: FieldPoint(x: home.x + 101, y: home.y))
        field.run(until: 5_400_000)
        #expect(!field.air.connections.links[link].isOver)
        field.run(until: 5_800_000)
        #expect(field.air.connections.links[link].isOver && !field.people.isConnected(1))
        #expect(field.isConnectedToAll(but: 1))
        field.move(1, to: home)
        field.run(until: 7_000_000)
        #expect(field.isJoined(1))
    }

    @Test("a killed node is noticed after the supervision timeout, and its slot is free")
    func gone() {
        var field = Field(Self.scenario(3, .line))
        field.run(until: 5_000_000)
        field.kill(1)
        field.run(until: 5_800_000)
        #expect(field.air.connections.links(of: 0).count == 1 && field.guests == [2] && field.isJoined(2))
    }

    @Test("the agenda orders events by time, and by insertion if the times are equal")
    func agenda() {
        var timeline = Timeline<Int>(seed: 3, drawsOrder: false)
        for event in 0..<500 { timeline.schedule(event, at: timeline.random.below(50)) }
        var entries: [Agenda<Int>.Entry] = []
        while let entry = timeline.next() { entries.append(entry) }
        #expect(entries.count == 500)
        #expect(zip(entries, entries.dropFirst()).allSatisfy { ($0.at, $0.event) < ($1.at, $1.event) })
    }
}

@Suite("The ground and the air of a field")
struct FieldAirTests {
    @Test("a signal falls with the distance, and does not exist beyond the range", arguments: FieldLayout.allCases)
    func signal(layout: FieldLayout) {
        #expect(layout.signal(over: 0) == -40 && layout.signal(over: layout.range) == -90)
        #expect(layout.signal(over: layout.range + 0.1) == nil)
        let signals = (1...10).compactMap { layout.signal(over: layout.range * Double($0) / 10) }
        #expect(signals == signals.sorted(by: >) && signals.count == 10)
    }

    @Test("the squares of the ground find all nodes in range", arguments: FieldLayout.allCases)
    func neighbours(layout: FieldLayout) {
        var field = Field(FieldScenario(nodes: 150, layout: layout))
        field.run(until: 1_000_000)
        for node in field.nodes.indices {
            let near = field.nodes.indices.filter {
                $0 != node && field.air.terrain.signal(node, $0) != nil
            }
            #expect(field.air.neighbours(of: node) == near)
        }
    }

    @Test("packets need the same airtime as in the lab")
    func airtime() {
        // An empty exchange, and a ping's 19 bytes with six of headers.
        #expect(FieldAir.exchange(0, 0, isTuned: false) == 460)
        #expect(FieldAir.exchange(25, 0, isTuned: false) == 660)
        #expect(FieldAir.exchange(251, 0, isTuned: true) == 1_392)
        #expect(FieldAir.packets(245) == 1 && FieldAir.packets(246) == 2 && FieldAir.packets(Limits.sduBytes) == 9)
    }

    @Test("connection events are multiples of an interval after their anchor")
    func events() {
        var link = RadioLink(1, 0, dial: 1, signal: -60, now: 0)
        #expect(link.event(from: 0) == FieldAir.firstEvent)
        (link.anchor, link.interval) = (1_000, 50_000)
        #expect(link.event(from: 1_000) == 1_000 && link.event(from: 1_001) == 51_000)
        #expect(link.event(before: 51_000) == 1_000 && link.event(before: 51_001) == 51_000)
    }
}

extension Field {
    fileprivate mutating func move(_ node: Int, to place: FieldPoint) { air.move(node, to: place, &timeline) }

    /// Whether all guests except one are linked.
    fileprivate func isConnectedToAll(but one: Int) -> Bool { guests.allSatisfy { $0 == one || isJoined($0) } }
}
