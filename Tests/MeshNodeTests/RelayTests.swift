// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import MeshProtocol
@testable import NodeCore

@Suite("Guests beyond the host's reach")
struct RelayTests {
    @Test("join through one or several relays, are shown to all, and vote")
    func joins() {
        var convoy = ConvoyOfCores(relays: ["One", "Two", "Three"], guests: ["Ana"])
        convoy.line("Car", "One", "Two", "Three", "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.present() == ["Ana", "One", "Three", "Two"])
        #expect(convoy.way(of: "Ana") == ["Three", "Two", "One"])
        #expect(convoy.state(at: "Ana") != nil)
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.milliseconds(200))
        for name in ["Car", "One", "Two", "Three", "Ana"] { #expect(convoy.votes(for: "s2", at: name) == 1) }
        #expect(convoy.wishes(at: "Ana").last == .confirmed)
    }

    @Test("a vote's change crosses each link once, however many guests are behind it")
    func once() {
        let guests = ["Ana", "Ben", "Cem", "Dia", "Eva"]
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: guests)
        convoy.line("Car", "One", "Two")
        for guest in guests { convoy.meet("Two", guest) }
        convoy.pass(.seconds(3))
        #expect(convoy.present().count == 7)
        let before = convoy.sent
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.milliseconds(300))
        for guest in guests { #expect(convoy.votes(for: "s2", at: guest) == 1) }
        // The change, the acknowledgement and a credit, and not one SDU per guest.
        for (from, to) in [("Car", "One"), ("One", "Two")] {
            #expect((convoy.sent[from]?[to] ?? 0) - (before[from]?[to] ?? 0) <= 4)
        }
    }

    @Test("return with their relay, and get nothing again that they have")
    func comesBack() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana", "Ben"], songs: 100)
        convoy.line("Car", "One", "Ana")
        convoy.meet("Car", "Ben")
        convoy.pass(.seconds(3))
        func bytes() -> [Int] {
            [("Car", "One"), ("One", "Ana"), ("Car", "Ben")].map { convoy.sentBytes[$0.0]?[$0.1] ?? 0 }
        }
        let (first, whole) = (bytes(), convoy.state(at: "Car").map { MeshMessage.stateUpdate($0).encoded.count } ?? 0)
        for guest in ["One", "Ben"] { convoy.part("Car", guest) }
        convoy.type(.host(.pause), at: "Car")
        for guest in ["One", "Ben"] { convoy.meet("Car", guest) }
        convoy.pass(.seconds(5))
        #expect(convoy.present() == ["Ana", "Ben", "One"] && convoy.way(of: "Ana") == ["One"])
        for name in ["One", "Ana", "Ben"] {
            #expect(convoy.state(at: name)?.revision == convoy.state(at: "Car")?.revision)
        }
        for (again, before) in zip(bytes(), first) { #expect(before > whole && (again - before) * 2 < whole) }
    }

    @Test("use another relay when theirs is gone, and no vote is lost or counted twice")
    func takesAnother() {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.line("Car", "Two", "Ana")
        convoy.pass(.seconds(3))
        let relay = convoy.way(of: "Ana").first
        convoy.kill(relay ?? "")
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.seconds(2))
        #expect(convoy.way(of: "Ana") == [relay == "One" ? "Two" : "One"])
        #expect(convoy.votes(for: "s2", at: "Car") == 1)
        #expect(convoy.wishes(at: "Ana").last == .confirmed)
    }

    @Test("request nothing from the host that they have, however long a disk takes")
    func asksForNothing() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(1))
        #expect(convoy.state(at: "Ana") != nil)
        convoy.slow.insert("Ana")
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(NodeLimits.relayedState * 2)
        #expect(convoy.nodes["Ana"]?.core.inside.network.stateRequests == 0)
        convoy.finishWrite("Ana")
        convoy.pass(NodeLimits.relayedState)
        #expect(convoy.nodes["Ana"]?.core.inside.network.stateRequests == nil)
        #expect(convoy.votes(for: "s2", at: "Ana") == 1)
    }

    @Test("never see an older state when their next relay is behind, and soon get the newest one")
    func relayIsBehind() {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.line("Car", "Two")
        convoy.pass(.seconds(3))
        let old = convoy.nodes["Two"]?.core.mesh.log
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.milliseconds(300))
        convoy.part("One", "Ana")
        convoy.pass(.milliseconds(500))
        let seen = convoy.state(at: "Ana")
        convoy.change("Two") { core in
            core.change { mesh in
                if let old { mesh.change { _, _, log in log = old } }
                return []
            }
        }
        convoy.meet("Two", "Ana")
        convoy.pass(.milliseconds(900))
        #expect(convoy.isLinked("Ana") && convoy.way(of: "Ana") == ["Two"])
        #expect(convoy.votes(for: "s2", at: "Ana") == 1)
        #expect((convoy.state(at: "Ana")?.revision ?? 0) >= seen?.revision ?? .max)
        convoy.pass(NodeLimits.relayedState)
        #expect(convoy.state(at: "Ana")?.revision == convoy.state(at: "Car")?.revision)
        let revisions = (convoy.nodes["Ana"]?.shown ?? []).compactMap { event in
            if case .snapshot(let state, isStale: false) = event { state.revision } else { nil }
        }
        #expect(revisions == revisions.sorted())
    }

    @Test("show no refusal if a relay rejects them, since only a host can refuse, and use another relay")
    func relayRefuses() {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana"])
        let ana = convoy.id("Ana")
        convoy.change("One") { core in
            core.change {
                $0.banned = [ana]
                return []
            }
        }
        convoy.line("Car", "One", "Ana")
        convoy.line("Car", "Two")
        convoy.pass(.seconds(3))
        #expect(!convoy.isLinked("Ana"))
        convoy.meet("Two", "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.way(of: "Ana") == ["Two"])
        let notices = (convoy.nodes["Ana"]?.shown ?? []).filter { if case .notice = $0 { true } else { false } }
        #expect(notices.isEmpty)
    }

    @Test("leave a relay that was dialled for a circuit that is no longer needed")
    func carrierOfNothing() {
        let relay = Peer(id: "00112233445566778899aabbccddeeff", name: "One")
        var links = RelayLinks()
        links.linked(relay, MeshProtocol.Route(host: "ffeeddccbbaa99887766554433221100", hops: 1), on: 1, now: .zero)
        #expect(links.deadline == NodeLimits.idleCarrier)
        #expect(links.idle(now: NodeLimits.idleCarrier) == [1])
        links.circuitOpened(over: 1)
        #expect(links.idle(now: .seconds(60)).isEmpty)
    }

    @Test("stay with a relay that finds another route, and are connected again without dialling")
    func relayFindsAnother() {
        var convoy = ConvoyOfCores(relays: ["One", "Two", "Far"], guests: ["Ana"])
        convoy.line("Car", "One", "Far", "Ana")
        convoy.line("Car", "Two", "Far")
        convoy.pass(.seconds(3))
        let parent = convoy.way(of: "Far").first ?? ""
        convoy.kill(parent)
        convoy.pass(.seconds(1))
        #expect(convoy.way(of: "Ana") == ["Far", parent == "One" ? "Two" : "One"])
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.milliseconds(300))
        #expect(convoy.votes(for: "s2", at: "Ana") == 1)
    }

    @Test("reconnect as fast the tenth time that their relay loses its route as the first time")
    func wayIsLostOften() {
        var convoy = ConvoyOfCores(relays: ["One", "Two", "Far"], guests: ["Ana"])
        convoy.line("Car", "One", "Far", "Ana")
        convoy.line("Car", "Two", "Far")
        convoy.pass(.seconds(3))
        for round in 1...10 {
            let parent = convoy.way(of: "Far").first ?? ""
            convoy.part("Far", parent)
            convoy.pass(.seconds(2))
            #expect(convoy.way(of: "Ana").first == "Far", "round \(round)")
            convoy.meet("Far", parent)
            convoy.pass(.seconds(3))
        }
    }

    @Test("learn that their relay has lost its route: it stops advertising, and they look for another one")
    func relayIsLost() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.nodes["One"]?.notice?.hops == 1)
        convoy.part("Car", "One")
        convoy.pass(.seconds(3))
        #expect(convoy.nodes["One"]?.notice == nil)
        #expect(!convoy.isLinked("Ana"))
        #expect(convoy.channels.isEmpty)
        convoy.meet("Car", "One")
        convoy.pass(.seconds(8))
        #expect(convoy.isLinked("Ana"))
    }

    @Test("join the host directly if it is in range too")
    func prefersTheHost() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One")
        convoy.pass(.seconds(1))
        convoy.meet("One", "Ana")
        convoy.meet("Car", "Ana")
        convoy.pass(.seconds(1))
        #expect(convoy.isLinked("Ana"))
        #expect(convoy.way(of: "Ana").isEmpty)
    }

    @Test("are not served by a guest without --relay")
    func plainGuestIsNoRelay() {
        var convoy = ConvoyOfCores(guests: ["Ana", "Ben"])
        convoy.line("Car", "Ana", "Ben")
        convoy.pass(.seconds(5))
        #expect(convoy.nodes["Ana"]?.notice == nil)
        #expect(!convoy.isLinked("Ben"))
    }

    @Test("never form a loop: relays without a route do not use each other")
    func noLoops() {
        var convoy = ConvoyOfCores(relays: ["One", "Two", "Three"], guests: ["Ana"])
        convoy.line("Car", "One", "Two", "Three", "One")
        convoy.line("Three", "Ana")
        convoy.pass(.seconds(3))
        convoy.part("Car", "One")
        convoy.pass(.seconds(20))
        for name in ["One", "Two", "Three"] { #expect(convoy.nodes[name]?.notice == nil) }
        #expect(convoy.nodes.values.allSatisfy { $0.core.mesh.relayedCircuits == 0 })
        convoy.meet("Car", "Two")
        convoy.pass(.seconds(40))
        #expect(convoy.present() == ["Ana", "One", "Three", "Two"])
    }

    @Test("are shown at the host with the relays on their route, and the relay shows the guests behind it")
    func inSight() {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana"])
        convoy.line("Car", "One", "Two", "Ana")
        convoy.pass(.seconds(25))
        #expect(convoy.link("Car", to: "Ana")?.relays == 2)
        #expect(convoy.link("Car", to: "Ana")?.via == Identity.head(of: convoy.id("Two")))
        #expect(convoy.link("Ana", to: "Car")?.via == convoy.id("Two"))
        #expect(convoy.link("Ana", to: "Car")?.relays == 2)
        #expect(convoy.link("Two", to: "Ana")?.circuits == 1)
        #expect(convoy.link("One", to: "Car")?.circuits == 2)
        #expect(convoy.link("One", to: "Car")?.relays == 0)
    }

    @Test("see through which relays a host is in range, and when it is no longer in range through one")
    func heardThrough() {
        var convoy = ConvoyOfCores(guests: ["Ana"])
        let car = Peer(id: String(convoy.id("Car").prefix(10)), name: "Car")
        func hear(_ relay: String, hops: Int, hasRoom: Bool = true) {
            convoy.feed(.heard(HeardNode(car, relay: relay, hops: hops, rssi: -60, hasRoom: hasRoom)), to: "Ana")
        }
        func ways() -> [String] {
            (convoy.nodes["Ana"]?.shown ?? []).compactMap { event in
                switch event {
                case .peerDiscovered(let node):
                    "\(node.host.name) \(node.hops) \(node.relay ?? "itself")\(node.hasRoom ? "" : " full")"
                case .peerLost(let host, let relay): "\(host.name) lost \(relay ?? "itself")"
                default: nil
                }
            }
        }
        hear("beef0001", hops: 2)
        convoy.pass(.seconds(1))
        hear("beef0002", hops: 1, hasRoom: false)
        convoy.pass(.seconds(1))
        // Repeated advertisements cause no event.
        for _ in 0..<3 {
            hear("beef0001", hops: 2)
            convoy.pass(.seconds(1))
        }
        hear("beef0001", hops: 2, hasRoom: false)
        convoy.pass(.seconds(1))
        #expect(ways() == ["Car 2 beef0001", "Car 1 beef0002 full", "Car 2 beef0001 full"])
        let other = Peer(id: "0123456789", name: "Bus")
        convoy.feed(.heard(HeardNode(other, relay: "beef0002", hops: 1)), to: "Ana")
        convoy.pass(.seconds(1))
        convoy.feed(.unheard(Peer(id: "beef0001", name: "")), to: "Ana")
        #expect(ways().suffix(3) == ["Car lost beef0002", "Bus 1 beef0002", "Car lost beef0001"])
    }

    @Test("are shown at their relay only while they are connected through it")
    func linkEnded() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(25))
        #expect(convoy.link("One", to: "Ana")?.circuits == 1)
        convoy.kill("Ana")
        convoy.pass(.seconds(1))
        let ended = convoy.nodes["One"]?.shown.compactMap { event -> Peer.ID? in
            if case .linkEnded(let peer) = event { peer.id } else { nil }
        }
        #expect(ended == [convoy.id("Ana")])
    }

    @Test("learn that the driver has removed them, and are refused on every route")
    func kicked() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(3))
        convoy.type(.host(.kick(convoy.id("Ana"))), at: "Car")
        convoy.pass(.seconds(5))
        #expect(convoy.present() == ["One"])
        convoy.meet("Car", "Ana")
        convoy.pass(.seconds(5))
        #expect(convoy.present() == ["One"])
    }

    @Test("get the goodbye of a host that stops, and rejoin when it is back")
    func hostStops() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(3))
        convoy.feed(.end, to: "Car")
        convoy.pass(.seconds(1))
        let codes = convoy.nodes["Ana"]?.shown.compactMap {
            if case .notice(let notice) = $0 { notice.code } else { nil }
        }
        #expect(codes?.last == "hostStopped")
    }
}
