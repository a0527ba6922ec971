// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import NodeCore

/// Relays that carry a guest to another host than they have advertised.
@Suite("A guest and a relay of another host")
struct MisleadingRelayTests {
    private func another(_ id: Peer.ID, sharing digits: Int) -> Peer.ID {
        String(id.prefix(digits)) + (id.dropFirst(digits).first == "0" ? "1" : "0") + id.dropFirst(digits + 1)
    }

    @Test(
        "leaves it before it opens a circuit, also if the advertisement is not heard any more",
        arguments: [8, 9], [true, false])
    func hello(digits: Int, isHeard: Bool) {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One")
        convoy.pass(.seconds(3))
        // The advertised head matches the host's identifier, but the byte after it differs.
        convoy.lie("One", leadingTo: another(convoy.id("Car"), sharing: digits))
        convoy.delays[["One", "Ana"]] = .milliseconds(200)
        convoy.meet("One", "Ana")
        func hasDialled() -> Bool { convoy.channels.keys.contains { $0.node == "Ana" } }
        for _ in 0..<60 where !hasDialled() { convoy.pass(.milliseconds(50)) }
        #expect(hasDialled())
        if !isHeard {
            convoy.feed(.unheard(Peer(id: Identity.head(of: convoy.id("One")), name: "Car")), to: "Ana")
        }
        convoy.pass(.seconds(2))
        #expect(!convoy.isLinked("Ana"))
        #expect(convoy.nodes["One"]?.core.mesh.relayedCircuits == 0)
    }

    @Test("leaves it when its route changes to that host", arguments: [8, 31, 0])
    func route(digits: Int) {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.isLinked("Ana"))
        let route = MeshProtocol.Route(host: another(convoy.id("Car"), sharing: digits), hops: 1)
        convoy.change("One") { core in core.change { $0.lead(route) } }
        convoy.feed(.tick, to: "One")
        #expect(!convoy.channels.keys.contains { $0.node == "Ana" }, "Ana has said goodbye")
        #expect(convoy.nodes["Ana"]?.core.mesh.host == nil)
        #expect(!convoy.notices(at: "Ana").contains("hostStopped"))
    }

    @Test("stays if the route changes in its hops alone")
    func hops() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One", "Ana")
        convoy.pass(.seconds(3))
        let route = MeshProtocol.Route(host: convoy.id("Car"), hops: 3)
        convoy.change("One") { core in core.change { $0.lead(route) } }
        convoy.feed(.tick, to: "One")
        convoy.pass(.seconds(3))
        #expect(convoy.isLinked("Ana") && convoy.way(of: "Ana") == ["One"])
    }
}
