// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("A faint link, which loses some packets")
struct FaintLinkTests {
    private static let host = Peer(id: "c0ffee00", name: "Car")

    private static func hears(_ relays: [(id: Peer.ID, hops: Int, rssi: Int)]) -> HeardNodes {
        var ways = HeardNodes(local: "ana")
        for relay in relays {
            _ = ways.heard(
                relay: HeardNode(host, relay: relay.id, hops: relay.hops, rssi: relay.rssi),
                now: .zero)
        }
        return ways
    }

    private static func best(_ relays: [(id: Peer.ID, hops: Int, rssi: Int)]) -> Peer.ID? {
        hears(relays).best(to: host.id, below: nil, now: .zero)?.id
    }

    @Test("a faint link counts as another hop: a near relay is preferred to a faint one with one hop fewer")
    func countsAsOne() {
        #expect(Self.best([("beef0001", 1, -85), ("beef0002", 2, -70)]) == "beef0002")
        #expect(Self.best([("beef0001", 1, -85), ("beef0002", 3, -70)]) == "beef0001")
        #expect(Self.best([("beef0001", 1, -80), ("beef0002", 2, -60)]) == "beef0001", "80 dBm are near")
        #expect(Self.best([("beef0001", 1, -85)]) == "beef0001", "what there is, is taken")
    }

    @Test("a near relay is preferred to a faint link to the host, which is used if there is no relay")
    func host() {
        for (signal, way) in [(-85, ["One"]), (-70, [])] {
            var car = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
            car.signals[["Car", "Ana"]] = signal
            car.line("Car", "One")
            car.pass(.seconds(1))
            car.meet("One", "Ana")
            car.meet("Car", "Ana")
            car.pass(.seconds(1))
            #expect(car.isLinked("Ana") && car.way(of: "Ana") == way, "\(signal) dBm")
        }
        var alone = ConvoyOfCores(relays: [], guests: ["Ana"])
        alone.signals[["Car", "Ana"]] = -89
        alone.meet("Car", "Ana")
        alone.pass(.seconds(1))
        #expect(alone.isLinked("Ana") && alone.way(of: "Ana").isEmpty)
    }

    @Test("a node leaves a faint link, but a relay with nodes behind it does not leave to save one link")
    func carriesOthers() {
        let ways = Self.hears([("beef0002", 2, -60)])
        func better(_ signal: Int, hops: UInt8, carriesOthers: Bool) -> Bool {
            let parent = RelayLinks.Relay(
                peer: Peer(id: "beef0001", name: ""), route: MeshProtocol.Route(host: Self.host.id, hops: hops),
                rssi: signal)
            let path = ways.better(than: parent, to: Self.host.id, carriesOthers: carriesOthers, now: .zero)
            return path == .relay("beef0002")
        }
        #expect(better(-60, hops: 3, carriesOthers: false))
        #expect(!better(-60, hops: 3, carriesOthers: true))
        #expect(better(-60, hops: 4, carriesOthers: true))
        for carriesOthers in [false, true] {
            #expect(better(-85, hops: 2, carriesOthers: carriesOthers))
            #expect(better(-85, hops: 3, carriesOthers: carriesOthers))
            #expect(!better(-85, hops: 1, carriesOthers: carriesOthers))
        }
    }
}
