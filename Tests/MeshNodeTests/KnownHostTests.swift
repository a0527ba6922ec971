// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("The hosts that a guest knows")
struct KnownHostTests {
    private static let other = Peer(id: "deadbeef", name: "Car")

    private func heard(_ peer: Peer, by pair: inout PairOfCores) {
        pair.feed(.heard(HeardNode(peer)), to: .guest)
    }

    private func told(_ pair: PairOfCores) -> [ShownHost] {
        pair.shown[1].reversed().lazy.compactMap { if case .hosts(let hosts, _) = $0 { hosts } else { nil } }.first
            ?? []
    }

    @Test("a guest remembers a host that it has joined by its name, and a host remembers no guests")
    func remembered() throws {
        var pair = try PairOfCores()
        pair.meet()
        let car = pair.cores[0].mesh.local
        #expect(pair.stored[1].knownHosts == [car] && pair.stored[0].knownHosts.isEmpty)
        #expect(told(pair).map(\.peer) == [car] && told(pair).map(\.known) == [true])
        try pair.restart(.guest)
        pair.feed(.started, to: .guest)
        #expect(told(pair).map(\.peer) == [car])
    }

    @Test(
        "another key under a known name is not joined automatically, even for a requested name, and is reported once"
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

    @Test("such a host is joined when the person names its digits, and is known from then on")
    func chosen() throws {
        let known = Peer(id: String(repeating: "c1", count: 16), name: "Car")
        var pair = try PairOfCores(knownHosts: [known])
        let car = pair.cores[0].mesh.local
        pair.meet()
        pair.feed(.input(.join(Identity.head(of: car.id))), to: .guest)
        pair.meet()
        #expect(pair.present == ["Ana"])
        #expect(pair.stored[1].knownHosts == [known, car])
    }

    @Test("a host that advertises another name, and proves to have a known one in the handshake, is also left")
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

    @Test("a forgotten host counts as new again")
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

    @Test("a linked guest that wants another host leaves, and joins only that one")
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
        "a host is found by digits, by name, then in any letter case; if several match, the person is asked"
    )
    func meant() throws {
        let bus = Peer(id: String(repeating: "b1", count: 16), name: "Bus")
        let decoy = Peer(id: String(repeating: "d2", count: 16), name: Identity.head(of: bus.id))
        var pair = try PairOfCores(knownHosts: [bus, decoy, Peer(id: String(repeating: "e3", count: 16), name: "bus")])
        #expect(pair.cores[1].inside.decisions.knownHosts.hosts.meant(by: "b1b1b1b1") == [bus])
        #expect(pair.cores[1].inside.decisions.knownHosts.hosts.meant(by: "B1B1B1B1b1") == [bus])
        #expect(pair.cores[1].inside.decisions.knownHosts.hosts.meant(by: "Bus") == [bus])
        #expect(pair.cores[1].inside.decisions.knownHosts.hosts.meant(by: "BUS").count == 2)
        pair.feed(.input(.join("BUS")), to: .guest)
        #expect(pair.notices(at: .guest) == ["severalHosts"])
        pair.feed(.input(.join("b1b1b1b1")), to: .guest)
        heard(Peer(id: "d2d2d2d2", name: "b1b1b1b1"), by: &pair)
        #expect(pair.dials(of: .guest) == 0)
        heard(Peer(id: "b1b1b1b1", name: "Other"), by: &pair)
        #expect(pair.dials(of: .guest) == 1)
    }

    @Test("a heard host is found by its name in any letter case, and of two with one name neither is chosen")
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

    @Test("the number of remembered hosts is limited, and the one that was joined the longest ago is removed first")
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
