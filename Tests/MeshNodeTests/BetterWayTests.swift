// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Changing to a better route")
struct BetterWayTests {
    /// The time to find a better route that exists from the start: a pause, a scan, another pause and another scan.
    static let found = NodeLimits.firstLook + NodeLimits.look * 2 + NodeLimits.secondLook + .seconds(1)
    static let foundAtLast = NodeLimits.longestRest + NodeLimits.look * 2 + NodeLimits.secondLook + .seconds(1)

    static func joined(_ names: String..., relays: [String], guests: [String] = ["Ana"]) -> ConvoyOfCores {
        var convoy = ConvoyOfCores(relays: relays, guests: guests)
        for (one, other) in zip(names, names.dropFirst()) { convoy.meet(one, other) }
        convoy.pass(.seconds(3))
        return convoy
    }

    @Test("the change happens without a message, and a vote in transit counts once")
    func goesOver() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One"])
        #expect(convoy.way(of: "Ana") == ["One"])
        convoy.meet("Car", "Ana")
        let before = convoy.nodes["Ana"]?.shown.count ?? 0
        var songs = [0, 0]
        for song in 1...25 {
            convoy.type(.guest(.vote("s\(song % 2 + 3)")), at: "Ana")
            songs[song % 2] += 1
            convoy.pass(.seconds(1))
            convoy.type(.guest(.takeBackVote("s\(song % 2 + 3)")), at: "Ana")
            convoy.pass(.milliseconds(1))
        }
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.seconds(1))
        #expect(convoy.way(of: "Ana").isEmpty)
        #expect(convoy.isLinked("Ana"))
        #expect(convoy.votes(for: "s2", at: "Car") == 1)
        for event in convoy.nodes["Ana"]?.shown[before...] ?? [] {
            switch event {
            case .connection, .peerDisconnected, .peerConnected, .notice: Issue.record("told \(event)")
            case .contact(let contact) where contact.phase == .lost: Issue.record("told \(event)")
            default: break
            }
        }
        // The relay carries nothing any more.
        #expect(convoy.link("Car", to: "Ana")?.relays == 0)
        #expect(convoy.nodes["One"]?.core.mesh.relayedCircuits == 0)
    }

    @Test("the new link opens before the last one ends, so no node sees the guest leave", arguments: [true, false])
    func seenByAll(intoReach: Bool) {
        var convoy = Self.joined("Car", "One", "Two", "Ana", relays: ["One", "Two"], guests: ["Ana", "Ben"])
        convoy.meet("Car", "Ben")
        convoy.pass(.seconds(3))
        #expect(convoy.way(of: "Ana") == ["Two", "One"] && convoy.present() == ["Ana", "Ben", "One", "Two"])
        // Data on the new route take longer than on the old one, so the end of the old route arrives first.
        let nearer = intoReach ? "Car" : "One"
        convoy.delays[[nearer, "Ana"]] = .milliseconds(60)
        convoy.meet(nearer, "Ana")
        let before = convoy.nodes["Ben"]?.shown.count ?? 0
        convoy.pass(Self.foundAtLast)
        #expect(convoy.way(of: "Ana") == (intoReach ? [] : ["One"]))
        for case .snapshot(let state, _) in convoy.nodes["Ben"]?.shown[before...] ?? [] {
            #expect(state.connectedPeers.count == 4, "as it was")
        }
        // The old route has left nothing behind.
        convoy.pass(.seconds(3))
        #expect(convoy.nodes["Two"]?.core.mesh.relayedCircuits == 0)
        #expect(convoy.nodes["Ana"]?.core.mesh.allLinks.count == (intoReach ? 1 : 2))
        #expect(convoy.nodes["Car"]?.core.mesh.link(to: convoy.id("Two")).map { _ in true } == true)
    }

    @Test("for a relay with nodes behind it, a route is better with two relays fewer, but not with one")
    func fewerHops() {
        var convoy = Self.joined("Car", "One", "Two", "Six", "Far", "Ana", relays: ["One", "Two", "Six", "Far"])
        #expect(convoy.way(of: "Ana") == ["Far", "Six", "Two", "One"])
        convoy.meet("Two", "Far")
        convoy.pass(Self.foundAtLast * 2)
        #expect(convoy.way(of: "Ana") == ["Far", "Six", "Two", "One"])
        convoy.meet("One", "Far")
        // The nodes behind it must open their circuits again, so it waits longer.
        convoy.pass(Self.found)
        #expect(convoy.way(of: "Ana") == ["Far", "Six", "Two", "One"])
        convoy.pass(Self.foundAtLast * 2)
        #expect(convoy.way(of: "Ana") == ["Far", "One"])
        #expect(convoy.nodes["Far"]?.notice?.hops == 2)
    }

    @Test("a relay that changes its route takes all nodes behind it along, without a gap, and their votes count once")
    func takesOthersAlong() {
        var convoy = Self.joined(
            "Car", "One", "Two", "Six", "Far", "Ana", relays: ["One", "Two", "Six", "Far"], guests: ["Ana", "Ben"])
        convoy.meet("Far", "Ben")
        convoy.pass(.seconds(3))
        let delayed: [(String, String)] = [("One", "Six"), ("Six", "Far"), ("Far", "Ana"), ("Far", "Ben")]
        for (one, other) in delayed { convoy.delays[[one, other]] = .milliseconds(40) }
        let before = convoy.nodes.mapValues { $0.shown.count }
        // Six changes its route, and Far and the nodes behind it follow.
        convoy.meet("Car", "Six")
        for second in 0..<Int(Self.foundAtLast * 2 / .seconds(1)) {
            convoy.type(.guest(second % 2 == 0 ? .vote("s3") : .takeBackVote("s3")), at: "Ana")
            convoy.pass(.seconds(1))
        }
        convoy.type(.guest(.vote("s2")), at: "Ana")
        convoy.pass(.seconds(1))
        #expect(convoy.way(of: "Ana") == ["Far", "Six"] && convoy.way(of: "Ben") == ["Far", "Six"])
        #expect(convoy.votes(for: "s2", at: "Car") == 1 && convoy.votes(for: "s2", at: "Ben") == 1)
        for name in ["Six", "Far", "Ana", "Ben"] {
            for event in convoy.nodes[name]?.shown[(before[name] ?? 0)...] ?? [] {
                switch event {
                case .connection, .peerDisconnected, .peerConnected, .notice: Issue.record("\(name) is told \(event)")
                case .snapshot(_, isStale: true): Issue.record("\(name) shows what may be old")
                default: break
                }
            }
        }
        // The old route has left nothing behind.
        #expect(convoy.nodes["Two"]?.core.mesh.relayedCircuits == 0)
        #expect(convoy.nodes["Six"]?.core.mesh.relayedCircuits == 3)
        #expect(convoy.nodes["Six"]?.core.mesh.allLinks.count == 2)
    }

    @Test("a passing relay is not used: it must be heard in two scans in a row")
    func passesBy() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One"])
        for _ in 0..<60 {
            convoy.meet("Car", "Ana")
            convoy.pass(NodeLimits.secondLook)
            convoy.part("Car", "Ana")
            convoy.pass(.seconds(7))
            #expect(convoy.way(of: "Ana") == ["One"])
        }
    }

    @Test("a relay with a faint signal is not used")
    func isFar() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One"])
        convoy.signals[["Car", "Ana"]] = NodeLimits.nearSignal - 1
        convoy.meet("Car", "Ana")
        convoy.pass(Self.foundAtLast)
        #expect(convoy.way(of: "Ana") == ["One"])
        convoy.signals[["Car", "Ana"]] = NodeLimits.nearSignal
        convoy.pass(Self.foundAtLast)
        #expect(convoy.way(of: "Ana").isEmpty)
    }

    @Test("a near relay replaces a far one with the same hops, and not a near one")
    func muchNearer() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One", "Two"])
        convoy.line("Car", "Two", "Ana")
        convoy.pass(Self.foundAtLast)
        #expect(convoy.way(of: "Ana") == ["One"])
        convoy.signals[["One", "Ana"]] = NodeLimits.nearSignal - 1
        convoy.pass(Self.foundAtLast)
        #expect(convoy.way(of: "Ana") == ["Two"])
    }

    @Test("a relay that does not answer does not disturb the existing route")
    func doesNotAnswer() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One"])
        convoy.deaf = ["Car"]
        convoy.meet("Car", "Ana")
        convoy.pass(.seconds(300))
        #expect(convoy.way(of: "Ana") == ["One"])
        convoy.deaf = []
        convoy.pass(Self.foundAtLast)
        #expect(convoy.way(of: "Ana").isEmpty)
    }

    @Test("if the existing route is lost during the dial, the dial continues")
    func isLostMeanwhile() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One"])
        convoy.deaf = ["Car"]
        convoy.meet("Car", "Ana")
        // Until the dial begins.
        while convoy.nodes["Ana"]?.core.inside.route.dialled == nil { convoy.pass(.milliseconds(100)) }
        convoy.kill("One")
        convoy.deaf = []
        convoy.pass(.seconds(40))
        #expect(convoy.isLinked("Ana"))
    }

    @Test("the scans become less frequent, and a guest that is linked with the host itself makes none")
    func rests() {
        var convoy = Self.joined("Car", "One", "Ana", relays: ["One"], guests: ["Ana", "Ben"])
        convoy.meet("Car", "Ben")
        convoy.pass(.seconds(3))
        let (ana, ben) = (convoy.nodes["Ana"]?.looks ?? 0, convoy.nodes["Ben"]?.looks ?? 0)
        convoy.pass(.seconds(3_600))
        let looks = (convoy.nodes["Ana"]?.looks ?? 0) - ana
        #expect((30...70).contains(looks), "\(looks) looks in an hour")
        #expect(convoy.nodes["Ben"]?.looks == ben)
        #expect(convoy.nodes["One"]?.looks == 1)
    }
}
