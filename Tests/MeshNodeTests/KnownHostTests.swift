// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore
import Testing

@testable import MeshNode

@Suite("The hosts that a guest knows")
struct KnownHostTests {
    private static let other = Peer(id: "deadbeef", name: "Car")

    private func heard(_ peer: Peer, by pair: inout PairOfCores) {
        pair.feed(.heard(peer, rssi: nil, hops: 0, isUnderstood: true), to: .guest)
    }

    private func told(_ pair: PairOfCores) -> [ShownHost] {
        pair.shown[1].reversed().lazy.compactMap { if case .hosts(let hosts, _) = $0 { hosts } else { nil } }.first
            ?? []
    }

    @Test("a host is remembered with its name by a guest that has joined it, and nobody is by the host")
    func remembered() throws {
        var pair = try PairOfCores()
        pair.meet()
        let car = pair.cores[0].configuration.description.peer
        #expect(pair.stored[1].knownHosts == [car] && pair.stored[0].knownHosts.isEmpty)
        #expect(told(pair).map(\.peer) == [car] && told(pair).map(\.known) == [true])
        try pair.restart(.guest)
        pair.feed(.started, to: .guest)
        #expect(told(pair).map(\.peer) == [car])
    }

    @Test(
        "another key under a known name is not joined by itself, also where the name was asked for, and its person is told once"
    )
    func copied() throws {
        for wanted in [nil, "Car"] {
            let known = Peer(id: String(repeating: "c1", count: 16), name: "Car")
            var pair = try PairOfCores(wanted: wanted, knownHosts: [known])
            pair.meet()
            pair.meet()
            #expect(pair.dials(of: .guest) == 0 && pair.present.isEmpty)
            #expect(pair.notices(at: .guest) == ["otherHost"])
            pair.feed(.input(.hosts), to: .guest)
            #expect(told(pair).map(\.other) == [false, true])
        }
    }

    @Test("it is joined where its person says so, by its digits, and is known then")
    func chosen() throws {
        let known = Peer(id: String(repeating: "c1", count: 16), name: "Car")
        var pair = try PairOfCores(knownHosts: [known])
        let car = pair.cores[0].configuration.description.peer
        pair.meet()
        pair.feed(.input(.join(Identity.head(of: car.id))), to: .guest)
        pair.meet()
        #expect(pair.present == ["Ana"])
        #expect(pair.stored[1].knownHosts == [known, car])
    }

    @Test("one that advertises another name, and has a known one behind the handshake, is left as well")
    func disguised() throws {
        let known = Peer(id: String(repeating: "c1", count: 16), name: "Car")
        var pair = try PairOfCores(joinsAny: true, knownHosts: [known])
        pair.meet(as: "Bus")
        #expect(pair.dials(of: .guest) == 0, "its own goes first")
        pair.pass(.seconds(3))
        #expect(pair.dials(of: .guest) == 1)
        #expect(pair.stored[1].knownHosts == [known] && pair.notices(at: .guest).contains("otherHost"))
        #expect(!pair.shown[1].contains { if case .peerConnected = $0 { true } else { false } })
    }

    @Test("a host that is forgotten is a new one again")
    func forgotten() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.forgetHost("Car")), to: .guest)
        #expect(pair.stored[1].knownHosts.isEmpty && !told(pair).contains { $0.known })
        #expect(pair.cores[1].mesh.joined(withHead: "").isEmpty)
        pair.feed(.input(.retry), to: .guest)
        pair.meet()
        #expect(pair.stored[1].knownHosts.map(\.name) == ["Car"])
    }

    @Test("who is linked and wants another host leaves, and joins no other than that")
    func changed() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.join("Bus")), to: .guest)
        #expect(pair.present.isEmpty)
        let dials = pair.dials(of: .guest)
        pair.meet()
        #expect(pair.dials(of: .guest) == dials)
        heard(Peer(id: "0badcafe", name: "Bus"), by: &pair)
        #expect(pair.dials(of: .guest) == dials + 1)
    }

    @Test(
        "a host is meant by its digits first, then by its name, then by its name in any case; of several its person is asked"
    )
    func meant() throws {
        let bus = Peer(id: String(repeating: "b1", count: 16), name: "Bus")
        let decoy = Peer(id: String(repeating: "d2", count: 16), name: Identity.head(of: bus.id))
        var pair = try PairOfCores(knownHosts: [bus, decoy, Peer(id: String(repeating: "e3", count: 16), name: "bus")])
        #expect(pair.cores[1].decisions.policy.known.hosts.meant(by: "b1b1b1b1") == [bus])
        #expect(pair.cores[1].decisions.policy.known.hosts.meant(by: "B1B1B1B1b1") == [bus])
        #expect(pair.cores[1].decisions.policy.known.hosts.meant(by: "Bus") == [bus])
        #expect(pair.cores[1].decisions.policy.known.hosts.meant(by: "BUS").count == 2)
        pair.feed(.input(.join("BUS")), to: .guest)
        #expect(pair.notices(at: .guest) == ["severalHosts"])
        pair.feed(.input(.join("b1b1b1b1")), to: .guest)
        heard(Peer(id: "d2d2d2d2", name: "b1b1b1b1"), by: &pair)
        #expect(pair.dials(of: .guest) == 0)
        heard(Peer(id: "b1b1b1b1", name: "Other"), by: &pair)
        #expect(pair.dials(of: .guest) == 1)
    }

    @Test("a host that is only heard is meant in any case of its name, and two of one name are not chosen from")
    func heardByName() throws {
        var pair = try PairOfCores(wanted: "Nobody")
        pair.meet()
        pair.feed(.input(.join("cAR")), to: .guest)
        pair.meet()
        #expect(pair.present == ["Ana"])
        heard(Peer(id: "0badcafe", name: "Bus"), by: &pair)
        heard(Peer(id: "1badcafe", name: "Bus"), by: &pair)
        pair.feed(.input(.join("Bus")), to: .guest)
        #expect(pair.notices(at: .guest).last == "severalHosts" && pair.present == ["Ana"])
    }

    @Test("only so many are remembered, and the one that was joined the longest ago goes first")
    func limit() {
        var known = KnownHosts()
        for number in 0...KnownHosts.limit {
            let id = String(repeating: "0", count: 28) + String(number + 4_096, radix: 16)
            let isNew = known.joined(Peer(id: String(id.reversed()), name: "Bus \(number)"))
            #expect(isNew)
        }
        #expect(known.hosts.count == KnownHosts.limit && known.hosts.first?.name == "Bus 1")
        let again = known.joined(known.hosts[KnownHosts.limit - 1])
        #expect(!again)
    }
}
