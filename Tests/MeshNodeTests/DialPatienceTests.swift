// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Dials without an answer")
struct DialPatienceTests {
    /// A guest that has heard two full relays, and dials one.
    private func fullRelays() -> ConvoyOfCores {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana"])
        convoy.line("Car", "One")
        convoy.line("Car", "Two")
        convoy.pass(.seconds(2))
        convoy.meet("One", "Ana")
        convoy.meet("Two", "Ana")
        convoy.full = ["One", "Two"]
        convoy.pass(.milliseconds(500))
        return convoy
    }

    @Test("a dial to a relay without room is replaced by one to another relay within two seconds")
    func relayIsFull() {
        // The dialled relay has lost its last slot since its advertisement.
        var convoy = fullRelays()
        let dialled = convoy.nodes["Ana"]?.core.inside.route.relay(of: 1)
        #expect(dialled != nil)
        convoy.full = dialled == Identity.head(of: convoy.id("One")) ? ["One"] : ["Two"]
        convoy.pass(.milliseconds(1_500))
        #expect(convoy.isLinked("Ana"))
        #expect(convoy.way(of: "Ana") == (convoy.full == ["One"] ? ["Two"] : ["One"]))
        #expect(convoy.cancelled["Ana"] == 1)
    }

    @Test("a dial to a relay without room is followed by a scan, and another full relay is not dialled")
    func listensAgain() {
        var convoy = fullRelays()
        let looks = convoy.nodes["Ana"]?.looks ?? 0
        let isOne = convoy.nodes["Ana"]?.core.inside.route.relay(of: 1) == Identity.head(of: convoy.id("One"))
        // The other relay is out of range by then.
        convoy.part(isOne ? "Two" : "One", "Ana")
        convoy.pass(.milliseconds(700))
        #expect(convoy.cancelled["Ana"] == 1)
        #expect((convoy.nodes["Ana"]?.looks ?? 0) > looks)
        #expect(convoy.nodes["Ana"]?.core.inside.route.relay(of: 2) == nil)
    }

    @Test("a relay's dial delays the nodes behind it for as long as an opened channel takes, and for a second at most")
    func approachingRelay() {
        let host = Peer(id: "0123456789", name: "Car")
        func told(_ channels: [Duration]) -> MeshInstant? {
            var duty = RelayDuty()
            _ = duty.handle(.approaches, now: .zero)
            #expect(duty.deadline == nil)
            _ = duty.handle(.up(host, relaysOnTheWay: 1, asksForPIN: false), now: .zero)
            _ = duty.handle(.down, now: .zero)
            for time in channels { #expect(duty.handle(.approaches, now: time) == []) }
            guard let due = duty.deadline else { return nil }
            #expect(duty.handle(.tick, now: due - .milliseconds(1)) == [])
            #expect(duty.handle(.tick, now: due).contains(.lead(nil)))
            return due
        }
        #expect(told([]) == .milliseconds(500))
        #expect(told([.milliseconds(450)]) == .milliseconds(950))
        #expect(told([.milliseconds(450), .milliseconds(490), .milliseconds(940)]) == .seconds(1))
    }

    @Test("a relay that has lost its route accepts no dials: it has no room while it looks for another")
    func searchingRelay() {
        var duty = RelayDuty()
        let host = Peer(id: "0123456789", name: "Car")
        func rooms(_ actions: [RelayDuty.Action]) -> [Bool?] {
            actions.compactMap { if case .advertise(let notice) = $0 { .some(notice?.hasRoom) } else { nil } }
        }
        #expect(rooms(duty.handle(.up(host, relaysOnTheWay: 1, asksForPIN: false), now: .zero)) == [true])
        #expect(rooms(duty.handle(.down, now: .zero)) == [false])
        #expect(rooms(duty.handle(.up(host, relaysOnTheWay: 1, asksForPIN: false), now: .zero)) == [true])
    }

    @Test("a dial to a host without room is cancelled, and a relay that is heard then is used")
    func hostIsFull() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One")
        convoy.pass(.seconds(1))
        convoy.meet("Car", "Ana", answering: false)
        convoy.meet("One", "Ana")
        convoy.pass(.seconds(4))
        #expect(convoy.way(of: "Ana") == ["One"])
    }

    @Test("without relays, a dial to a host that is lost without a goodbye stays pending through the tunnel")
    func tunnel() {
        var convoy = ConvoyOfCores(guests: ["Ana"])
        convoy.line("Car", "Ana")
        convoy.pass(.seconds(1))
        #expect(convoy.isLinked("Ana"))
        convoy.full = ["Car"]
        convoy.lose("Car", "Ana")
        convoy.pass(.seconds(15))
        #expect(convoy.cancelled["Ana"] == nil)
    }

    @Test("a refusal by a relay leads to a dial to another relay, and is not reported as the host's refusal")
    func relayRefuses() {
        let guests = (1...Limits.relayChildren).map { "Guest \($0)" }
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: guests + ["Ana"])
        convoy.line("Car", "One")
        for guest in guests { convoy.meet("One", guest) }
        convoy.pass(.seconds(3))
        #expect(convoy.nodes["One"]?.notice?.hasRoom == false)
        convoy.line("Car", "Two")
        convoy.pass(.seconds(2))
        convoy.meet("Two", "Ana")
        convoy.overhear("One", "Ana", hasRoom: true)
        convoy.pass(.seconds(3))
        #expect(convoy.way(of: "Ana") == ["Two"])
        let codes = convoy.nodes["Ana"]?.shown.compactMap {
            if case .notice(let notice) = $0 { notice.code } else { nil }
        }
        #expect(codes == [])
    }

    @Test(
        "a relay that has failed often is dialled again within four seconds if it is the only route, and later if not"
    )
    func onlyWay() {
        let host = Peer(id: "0123456789", name: "Car")
        func pause(relays: [Peer.ID]) -> Duration? {
            var nodes = HeardNodes(local: "ana")
            var now = MeshInstant.zero
            for _ in 0..<8 {
                now += .seconds(20)
                nodes.unanswered("beef0001", now: now)
            }
            for relay in relays {
                _ = nodes.heard(relay: HeardNode(host, relay: relay, hops: 1, rssi: -60), now: now)
            }
            let ends = (1...30).map { now + .seconds($0) }
            return ends.first { !nodes.isLeftAlone("beef0001", now: $0) }.map { $0 - now }
        }
        #expect(pause(relays: ["beef0001"]) == .seconds(4))
        #expect(pause(relays: ["beef0001", "beef0002"]) == .seconds(16))
        #expect(pause(relays: []) == .seconds(16), "it has to be heard again")
        var nodes = HeardNodes(local: "ana")
        _ = nodes.heard(relay: HeardNode(host, relay: "beef0001", hops: 1, rssi: -60), now: .zero)
        nodes.leadsNowhere("beef0001", now: .seconds(10))
        #expect(nodes.isLeftAlone("beef0001", now: .seconds(10)), "it has just lost its way")
    }

    @Test("a crowd spreads over equal relays, and each guest uses the same relay again")
    func spread() {
        let relays = (0..<8).map { Peer(id: Identity.head(of: String(repeating: "\($0)a4c", count: 8)), name: "Car") }
        let host = Peer(id: "0123456789", name: "Car")
        var chosen: [Peer.ID: Int] = [:]
        for guest in 0..<400 {
            var nodes = HeardNodes(local: String(guest, radix: 16))
            for relay in relays {
                _ = nodes.heard(relay: HeardNode(host, relay: relay.id, hops: 1, rssi: -71), now: .zero)
            }
            let best = nodes.best(to: host.id, below: nil, now: .zero)?.id ?? ""
            #expect(nodes.best(to: host.id, below: nil, now: .zero)?.id == best)
            chosen[best, default: 0] += 1
        }
        #expect(chosen.count == 8 && chosen.values.allSatisfy { (25...80).contains($0) }, "\(chosen)")
    }
}

@Suite("The deadlines of a node with many links")
struct ManyLinksTests {
    @Test("a node is due when its first link is, and it holds the circuits that must not be read", arguments: 1...8)
    func randomHistory(seed: UInt64) {
        let (relays, guests) = (["One", "Two", "Three"], ["Ana", "Ben", "Cem", "Dia"])
        var convoy = ConvoyOfCores(relays: relays, guests: guests)
        var random = SeededGenerator(seed: seed)
        convoy.check = { name, core in
            let slow = core.mesh.allLinks.compactMap { core.mesh.deadline(of: $0) }.min()
            #expect(core.mesh.deadline == slow, "\(name)")
            if let slow {
                let due = core.mesh.allLinks.filter { id in core.mesh.deadline(of: id).map { $0 <= slow } == true }
                #expect(core.mesh.due(by: slow) == due)
                #expect(core.mesh.due(by: slow - .nanoseconds(1)) == [])
            }
            for (id, isHeld) in core.inside.links.circuits {
                #expect(isHeld == !core.mayRead(id, now: core.now), "\(name)")
            }
        }
        let all = ["Car"] + relays + guests
        convoy.line("Car", "One", "Two", "Ana")
        for step in 0..<400 {
            let (one, other) = (all[random.below(all.count)], all[random.below(all.count)])
            switch random.below(10) {
            case 0 where one != other: convoy.part(one, other)
            case 1, 2: if one != other { convoy.meet(one, other) }
            case 3: convoy.slow.insert("Car")
            case 4: convoy.finishWrite("Car")
            case 5, 6:
                let guest = guests[random.below(guests.count)]
                for song in 0..<random.below(60) { convoy.type(.guest(.vote("s\(1 + song % 5)")), at: guest) }
            default: convoy.pass(.milliseconds(random.below(step.isMultiple(of: 7) ? 5_000 : 300)))
            }
        }
    }
}
