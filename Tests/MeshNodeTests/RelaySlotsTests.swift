// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Slots reserved for relays")
struct RelaySlotsTests {
    /// The neighbours of a host: a number of relays, and of other nodes.
    private static func neighbours(_ relays: Int, _ others: Int) -> RelaySlots.Event {
        .neighbours((0..<relays + others).map { MeshCore.Neighbour(link: $0, relays: $0 < relays) })
    }

    @Test("a node without relays reserves no slots", arguments: 0...7)
    func nobodyRelays(guests: Int) {
        var places = RelaySlots(isHost: true)
        #expect(places.handle(Self.neighbours(0, guests), now: .zero) == [])
        #expect(places.deadline == nil)
    }

    @Test("a node asks as many guests to leave as slots are missing")
    func asks() {
        var places = RelaySlots(isHost: true)
        #expect(places.handle(Self.neighbours(1, 3), now: .zero) == [])
        #expect(places.handle(Self.neighbours(1, 4), now: .zero) == [.advertise(true)])
        #expect(
            places.handle(Self.neighbours(1, 5), now: .zero) == [.ask(5)], "the guest that came last has reported least"
        )
        #expect(places.handle(Self.neighbours(1, 6), now: .seconds(1)) == [.ask(6)])
        #expect(places.handle(Self.neighbours(7, 0), now: .seconds(2)) == [], "relays stay")
        #expect(places.handle(Self.neighbours(4, 0), now: .seconds(3)) == [.advertise(false)])
    }

    @Test("another guest is asked if one does not leave, and the same one is asked less and less often")
    func asksAgain() {
        var places = RelaySlots(isHost: true)
        #expect(places.handle(Self.neighbours(4, 2), now: .zero) == [.advertise(true), .ask(5)])
        var asked: [Int: [MeshInstant]] = [5: [.zero]]
        var now = MeshInstant.zero
        while now < .seconds(600), let deadline = places.deadline {
            now = deadline
            for case .ask(let link) in places.handle(.tick, now: now) { asked[link, default: []].append(now) }
        }
        #expect(asked[4]?.first == NodeLimits.makingRoom)
        #expect(asked.values.allSatisfy { $0[1] - $0[0] <= .seconds(10) }, "relays come up all the time: \(asked)")
        #expect(asked.values.allSatisfy { (7...9).contains($0.count) }, "\(asked)")
    }

    @Test("a relay reserves slots too, and its own route takes one")
    func ofRelay() {
        var places = RelaySlots(isHost: false)
        #expect(places.handle(Self.neighbours(0, 3), now: .zero) == [])
        #expect(places.handle(Self.neighbours(0, 4), now: .zero) == [.advertise(true)])
        #expect(places.handle(Self.neighbours(1, 5), now: .zero) == [], "it asks no guest")
        #expect(places.handle(Self.neighbours(1, 2), now: .zero) == [.advertise(false)])
    }

    private static let names = (1...5).map { "Guest \($0)" }

    /// Five guests and a relay in the host's range, all linked to it.
    private static func car(hearing relay: Bool) -> ConvoyOfCores {
        var car = ConvoyOfCores(relays: ["One"], guests: names)
        for name in names {
            car.meet("Car", name)
            car.pass(.milliseconds(500))
        }
        if relay { for name in names { car.meet("One", name) } }
        car.meet("Car", "One")
        car.pass(.seconds(3))
        return car
    }

    @Test(
        "a guest that hears a relay moves behind it without a message, its vote counts once, and it stays there"
    )
    func makesRoom() {
        var car = Self.car(hearing: true)
        let moved = Self.names.filter { car.way(of: $0) == ["One"] }
        #expect(moved.count == 1 && Self.names.allSatisfy { car.isLinked($0) })
        #expect(car.nodes["Car"]?.placesForRelays == true)
        car.type(.guest(.vote("s2")), at: moved.first ?? "")
        car.pass(.seconds(400))
        #expect(Self.names.filter { car.way(of: $0) == ["One"] } == moved, "no guest moves back and forth")
        #expect(car.votes(for: "s2", at: "Car") == 1)
        for event in car.nodes[moved.first ?? ""]?.shown ?? [] {
            if case .contact(let contact) = event { #expect(contact.phase != .lost) }
        }
    }

    @Test("a guest that hears no relay stays, so no guest is excluded")
    func stays() {
        var car = Self.car(hearing: false)
        car.pass(.seconds(60))
        #expect(Self.names.allSatisfy { car.isLinked($0) && car.way(of: $0).isEmpty })
    }

    @Test("a new guest that hears a relay leaves the reserved slots free")
    func newcomer() {
        var car = ConvoyOfCores(relays: ["One", "Two", "Six"], guests: Self.names)
        for name in ["One", "Two", "Guest 1", "Guest 2", "Guest 3"] { car.meet("Car", name) }
        car.pass(.seconds(3))
        #expect(car.nodes["Car"]?.placesForRelays == true)
        car.meet("One", "Guest 4")
        car.meet("Car", "Guest 4")
        car.meet("One", "Six")
        car.meet("Car", "Six")
        car.meet("Car", "Guest 5")
        car.pass(.seconds(1))
        #expect(car.way(of: "Guest 4") == ["One"])
        #expect(car.isLinked("Six") && car.way(of: "Six").isEmpty, "it relays")
        #expect(car.isLinked("Guest 5") && car.way(of: "Guest 5").isEmpty, "it hears nothing else")
    }

    @Test("a guest prefers a relay without reserved slots, and uses one with reserved slots if it hears no other")
    func hears() {
        var ways = HeardNodes(local: "ana")
        let host = Peer(id: "c0ffee00", name: "Car")
        func hear(_ relay: String, hops: Int, kept: Bool) {
            _ = ways.heard(
                relay: HeardNode(
                    host, relay: relay, hops: hops, rssi: -60, placesForRelays: kept), now: .zero)
        }
        hear("beef0001", hops: 1, kept: true)
        #expect(ways.best(to: host.id, below: nil, now: .zero)?.id == "beef0001")
        #expect(ways.aside(of: nil, hops: 0, to: host.id, now: .zero)?.id == "beef0001")
        #expect(ways.aside(of: nil, hops: 1, to: host.id, now: .zero) == nil, "it is no further away")
        hear("beef0002", hops: 2, kept: false)
        #expect(ways.best(to: host.id, below: nil, now: .zero)?.id == "beef0002")
        #expect(ways.aside(of: nil, hops: 0, to: host.id, now: .zero)?.id == "beef0002")
    }
}
