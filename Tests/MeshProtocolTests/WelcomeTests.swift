// SPDX-License-Identifier: Apache-2.0

import NodeCore
import Testing

@testable import MeshProtocol

/// The state that is sent with the answer (`MeshCore.welcome`): a guest sees the queue one round trip earlier.
@Suite("The answer carries the state")
struct WelcomeTests {
    /// A host that sends a state to each admitted guest, and the SDUs of its answer.
    private struct Hosting {
        var road: Road
        var id: MeshCore.LinkID
        /// The host's SDUs before the guest's next packet.
        var answer: [[UInt8]] = []

        /// Runs up to the host's answer, which includes `state`.
        init(knows: Bool, state: [UInt8]) {
            road = Road()
            if knows { road.cut(road.joined()) }
            for name in ["Ana", "Car"] { road.nodes[name]?.events = [] }
            id = road.dial()
            while !isAdmitted { road.step(id) }
            road.act("Car", on: id) { [id] in $0.welcome(state, on: id) }
            road.pull("Car", id)
            answer = road.wires[id]?.toGuest ?? []
        }

        private var isAdmitted: Bool {
            road.nodes["Car"]?.events.contains { if case .admitted = $0 { true } else { false } } == true
        }
    }

    @Test("A guest gets the state with the answer, right after it is connected", arguments: [true, false])
    func withTheAnswer(knows: Bool) {
        var hosting = Hosting(knows: knows, state: Array("state".utf8))
        // A known guest gets the packet and a record in one burst. A stranger gets both in the first record.
        #expect(hosting.answer.count == (knows ? 2 : 1))
        hosting.road.wires[hosting.id]?.toGuest = []
        for sdu in hosting.answer { hosting.road.give(sdu, to: "Ana", on: hosting.id) }
        let events = hosting.road.nodes["Ana"]?.events ?? []
        #expect(events.first == .connected(Peer(id: hosting.road.id("Car"), name: "Car")))
        #expect(hosting.road.texts(at: "Ana") == ["state"])
        #expect(hosting.road.messages(at: "Ana").first?.number == 1)
        hosting.road.settle()
        hosting.road.send("next", from: "Car", to: "Ana", as: .latest)
        hosting.road.settle()
        #expect(hosting.road.texts(at: "Ana") == ["state", "next"])
        #expect(hosting.road.messages(at: "Ana").map(\.number) == [1, 2])
    }

    @Test("Its departure is reported once, when the guest is proved", arguments: [true, false])
    func leavingIsTold(knows: Bool) throws {
        var hosting = Hosting(knows: knows, state: [1])
        hosting.road.settle()
        let events = try #require(hosting.road.nodes["Car"]?.events)
        #expect(events.filter { $0 == .latestHasLeft }.count == 1)
        let connected = try #require(events.firstIndex { if case .connected = $0 { true } else { false } })
        let left = try #require(events.firstIndex(of: .latestHasLeft))
        #expect(connected < left)
    }

    @Test("A long state starts with the answer, and continues when the guest is proved")
    func longState() {
        let state = [UInt8](repeating: 7, count: 60_000)
        var hosting = Hosting(knows: true, state: state)
        #expect(hosting.answer.count == 1 + Limits.earlyRecords)
        hosting.road.settle()
        #expect(hosting.road.messages(at: "Ana").map(\.body) == [state])
        #expect(hosting.road.nodes["Car"]?.events.filter { $0 == .latestHasLeft }.count == 1)
    }

    @Test("Without a state nothing changes, and it cannot be added later")
    func notGiven() {
        var road = Road()
        let id = road.joined()
        road.send("first", from: "Car", to: "Ana", as: .latest)
        road.settle()
        road.act("Car", on: id) { $0.welcome([1], on: id) }
        road.settle()
        #expect(road.messages(at: "Ana").map(\.number) == [1])
        #expect(road.texts(at: "Ana") == ["first"])
    }

    @Test("A link gets one state; a refused link gets none, and a state that is too long is refused")
    func given() {
        var hosting = Hosting(knows: true, state: [1])
        hosting.road.act("Car", on: hosting.id) { [id = hosting.id] in $0.welcome([2], on: id) }
        hosting.road.settle()
        #expect(hosting.road.messages(at: "Ana").map(\.body) == [[1]])
        let long = Hosting(knows: true, state: [UInt8](repeating: 1, count: Limits.messageBytes + 1))
        #expect(long.answer.count == 1)
        var road = Road()
        let refused = road.dial(refusal: .bond)
        road.settle()
        road.act("Car", on: refused) { $0.welcome([1], on: refused) }
        #expect(road.nodes["Car"]?.core.nextSDU(for: refused, limit: Limits.sduBytes) == nil)
    }

    @Test("A replayed hello gets one answer with the state, sealed to the guest's key, and no more of it")
    func replayed() {
        var road = Road()
        road.cut(road.joined())
        let real = road.dial()
        road.pull("Ana", real)
        let hello = road.wires[real]?.toHost.first ?? []
        road.settle()
        let before = road.nodes["Car"]?.core.remembered
        var answers = 0
        for _ in 0..<100 {
            let replay = road.strangerLink()
            road.give(hello, to: "Car", on: replay)
            guard road.nodes["Car"]?.ends[replay] != .busy else { continue }
            road.act("Car", on: replay) { $0.welcome([UInt8](repeating: 1, count: 60_000), on: replay) }
            road.give(hello, to: "Car", on: replay)
            road.pull("Car", replay)
            answers += 1
            #expect(road.wires[replay]?.toGuest.count ?? 0 <= 1 + Limits.earlyRecords)
            road.cut(replay)
        }
        // Two were real. The others use the slots of known guests.
        #expect(answers == Limits.handshakeBurst - 2 + Limits.guests)
        #expect(road.nodes["Car"]?.core.remembered == before)
        #expect(road.nodes["Car"]?.core.link(to: road.id("Ana")) == real)
    }

    @Test("A guest with an older link that still gets updates numbers each link's updates separately")
    func olderLink() {
        var road = Road()
        let first = road.joined()
        for text in ["a", "b", "c"] {
            road.send(text, from: "Car", to: "Ana", as: .latest)
            road.settle()
        }
        // Only the guest has noticed the link's end.
        road.act("Ana", on: first) { $0.channelClosed(first) }
        road.wires[first] = nil
        let second = road.dial()
        road.step(second)
        road.act("Car", on: second) { $0.welcome(Array("d".utf8), on: second) }
        road.send("lost with the older link", from: "Car", to: "Ana", as: .latest)
        road.settle()
        road.send("e", from: "Car", to: "Ana", as: .latest)
        road.settle()
        #expect(road.texts(at: "Ana") == ["a", "b", "c", "d", "e"])
    }
}
