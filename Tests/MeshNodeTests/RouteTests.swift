// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("A guest's route to its host")
struct RouteTests {
    /// The scans that the guest has started (true) and stopped (false).
    private static func scans(of pair: PairOfCores) -> [Bool] {
        pair.performed[1].compactMap { action in
            switch action {
            case .startRadio: true
            case .stopScanning: false
            default: nil
            }
        }
    }

    private static func activity(of pair: PairOfCores) -> RadioActivity? {
        pair.shown[1].compactMap { if case .radio(let activity) = $0 { activity } else { nil } }.last
    }

    @Test("a guest scans while it looks for a host, and not while it dials, is linked, waits in a tunnel or has left")
    func scans() throws {
        var pair = try PairOfCores()
        #expect(Self.scans(of: pair) == [true])
        pair.meet()
        #expect(Self.scans(of: pair) == [true, false])
        pair.loseLink()
        pair.pass(.seconds(29))
        #expect(Self.scans(of: pair) == [true, false], "the dial is pending")
        pair.pass(.seconds(2))
        #expect(Self.scans(of: pair) == [true, false, true], "it has given up its host")
        pair.feed(.input(.leave), to: .guest)
        #expect(Self.scans(of: pair) == [true, false, true, false])
        #expect(pair.cores[1].inside.route.dialled == nil)
    }

    @Test("Retry during a scan begins a new one, since hosts may have other addresses now")
    func rescans() throws {
        var pair = try PairOfCores()
        pair.feed(.input(.retry), to: .guest)
        #expect(Self.scans(of: pair) == [true, true])
    }

    @Test("after a refusal the radio is shown as scanning, and not as dialling")
    func refused() throws {
        var pair = try PairOfCores()
        pair.refusal = .full
        pair.meet()
        #expect(pair.notices(at: .guest) == ["hostFull"])
        #expect(Self.activity(of: pair)?.isScanning == true)
        #expect(Self.activity(of: pair)?.isDialling == false)
    }

    @Test("a host that is forgotten in the step in which it is joined stays forgotten")
    func forgottenAtOnce() throws {
        var pair = try PairOfCores()
        let host = pair.cores[0].mesh.local
        pair.happen([.link(7, .connected(host)), .event(.input(.forgetHost(host.id)))], to: .guest)
        #expect(pair.cores[1].inside.decisions.knownHosts.hosts == [])
    }

    @Test("a table of heard nodes has a limit, and forgets the node that was heard longest ago")
    func bounds() {
        var nodes = HeardNodes(local: "ana")
        let host = Peer(id: "c0ffee00", name: "Car")
        for number in 0...NodeLimits.heardNodes {
            let (head, now) = (String(10_000_000 + number), MeshInstant.milliseconds(number))
            nodes.heard(host: HeardNode(Peer(id: head, name: "")), now: now)
            _ = nodes.heard(relay: HeardNode(host, relay: head, hops: 1), now: now)
        }
        #expect(nodes.relays(to: host.id).count == NodeLimits.heardNodes)
        #expect(nodes.relay("10000000") == nil && nodes.relay("10000001") != nil)
        #expect(nodes.host("10000000") == nil && nodes.host("10000001") != nil)
    }
}
