// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Bans of a driver")
struct BanTests {
    private static let ana = Peer(id: String(repeating: "a1", count: 16), name: "Ana")
    private static let other = Peer(id: String(repeating: "b2", count: 16), name: "Ana")

    /// The bans that the host has last reported.
    private func told(_ pair: PairOfCores) -> [ShownBan] {
        pair.shown[0].reversed().lazy.compactMap { if case .bans(let bans, _) = $0 { bans } else { nil } }.first ?? []
    }

    private func linked(_ peers: Peer...) throws -> PairOfCores {
        var pair = try PairOfCores()
        pair.happen(peers.enumerated().map { .link(90 + $0, .connected($1)) }, to: .host)
        return pair
    }

    @Test("a name followed by a time bans for that time, and a name alone bans permanently")
    func reading() {
        func read(_ line: String) -> NodeInput? {
            let view = SongChoice(
                shown: HostSnapshot(
                    epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: [Self.ana]))
            guard case .input(let input)? = CommandReader(.host).meaning(ofTyped: line, view) else { return nil }
            return input
        }
        #expect(read("ban an") == .notice(Notice(.guestsMeant("an", ["Ana"]))))
        #expect(read("ban ana 2h") == .ban(Self.ana.id, seconds: 7_200))
        #expect(read("unban Ana") == .unban("Ana"))
        #expect(CommandReader(.host).meaning(ofProgram: "ban Car 7 3d") == .input(.ban("Car 7", seconds: 259_200)))
        #expect(CommandReader(.host).meaning(ofProgram: "ban Car 7") == .input(.ban("Car 7", seconds: nil)))
    }

    @Test("a guest named like another guest's identifier is not mistaken for it")
    func decoy() throws {
        let decoy = Peer(id: Self.other.id, name: Identity.head(of: Self.ana.id))
        for isHere in [true, false] {
            var pair = try isHere ? linked(decoy, Self.ana) : linked(decoy)
            for digits in [decoy.name, decoy.name.uppercased(), String(Self.ana.id.prefix(12)), Self.ana.id] {
                pair.feed(.input(.appoint(digits)), to: .host)
                #expect(pair.cores[0].inside.decisions.drivers == (isHere ? [Self.ana] : []), "\(digits)")
                pair.feed(.input(.ban(digits, seconds: nil)), to: .host)
                #expect(pair.cores[0].inside.decisions.shownBans.map(\.peer) == (isHere ? [Self.ana] : []), "\(digits)")
            }
            pair.feed(.input(.host(.kick(decoy.name))), to: .host)
            #expect(!pair.cores[0].mesh.banned.contains(decoy.id))
        }
        // Digits are not matched with the beginning of a name.
        let view = SongChoice(
            shown: HostSnapshot(
                epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [],
                connectedPeers: [Peer(id: decoy.id, name: decoy.name + " is me")]))
        #expect(view.guest(decoy.name) == .id(decoy.name))
    }

    @Test("a guest is identified by its name in any letter case, and if several match, the driver is asked")
    func meant() throws {
        let peers = [Self.ana, Self.other, Peer(id: String(repeating: "c3", count: 16), name: "ANA")]
        #expect(peers.meant(by: "ANA") == [peers[2]] && peers.meant(by: "Ana").count == 2)
        #expect(peers.meant(by: "aNA").count == 3 && peers.meant(by: "a1a1a1a1") == [Self.ana])
        #expect(peers.meant(by: "a1a1a1").isEmpty && peers.meant(by: "b2b2b2b2b3").isEmpty)
        var pair = try linked(Self.ana, Self.other)
        pair.feed(.input(.ban("ana", seconds: nil)), to: .host)
        #expect(pair.notices(at: .host).last == "severalGuests" && pair.cores[0].inside.decisions.shownBans.isEmpty)
    }

    @Test("a ban is on the disk with its report, and outlives the session")
    func kept() throws {
        var pair = try linked(Self.ana)
        pair.feed(.input(.ban("Ana", seconds: nil)), to: .host)
        #expect(told(pair) == [ShownBan(peer: Self.ana, until: nil, session: false)])
        #expect(pair.stored[0].bans == [BanRecord(peer: Self.ana, until: nil)])
        #expect(pair.cores[0].mesh.banned == [Self.ana.id])
        pair.feed(.input(.end), to: .host)
        #expect(pair.stored[0].bans.map(\.peer) == [Self.ana])
    }

    @Test(
        "a ban or invitation keeps its duration when the clock is set, and those of earlier runs keep their end time"
    )
    func clockIsSet() throws {
        var pair = try linked(Self.ana, Self.other)
        // The clock shows 1,000, and the device has just found its time server.
        pair.feed(.input(.ban(Self.ana.id, seconds: 3_600)), to: .host)
        pair.invite(7)
        let until = try #require(pair.stored[0].invitations.first).until
        pair.pass(.seconds(60))
        pair.feed(.input(.clockSet(1_795_000_000)), to: .host)
        #expect(told(pair).map(\.until) == [1_795_000_000 + 3_540])
        #expect(pair.stored[0].bans.map(\.until) == [1_795_000_000 + 3_540])
        #expect(pair.stored[0].invitations.map(\.until) == [1_795_000_000 + (until - 1_060)])
        // The ban still lasts its full length.
        pair.pass(.seconds(3_000))
        #expect(pair.cores[0].mesh.banned == [Self.ana.id])
        pair.pass(.seconds(600))
        #expect(pair.cores[0].mesh.banned.isEmpty)
        // The clock is set ahead after a restart, and then corrected: the ban and the invitation are back.
        pair.feed(.input(.ban(Self.other.id, seconds: 7_200)), to: .host)
        try pair.restart(.host)
        pair.feed(.started, to: .host)
        #expect(pair.cores[0].mesh.banned == [Self.other.id])
        pair.feed(.input(.clockSet(2_000_000_000)), to: .host)
        pair.invite(8)
        #expect(pair.cores[0].mesh.banned.isEmpty && pair.stored[0].invitations.count == 1)
        pair.pass(.seconds(10))
        pair.feed(.input(.clockSet(1_795_003_700)), to: .host)
        #expect(pair.cores[0].mesh.banned == [Self.other.id])
        #expect(pair.stored[0].invitations.count == 2)
        #expect(pair.stored[0].invitations.first?.until == 1_795_000_000 + (until - 1_060))
    }

    @Test("a guest that was removed for the session is reported again after a restart")
    func kickedAfterRestart() throws {
        var pair = try linked(Self.ana)
        pair.feed(.input(.host(.kick("Ana"))), to: .host)
        try pair.restart(.host)
        pair.feed(.started, to: .host)
        #expect(told(pair).map(\.peer.id) == [Self.ana.id] && told(pair).map(\.session) == [true])
    }

    @Test("a temporary ban ends automatically")
    func timed() throws {
        var pair = try linked(Self.ana)
        pair.feed(.input(.ban(Self.ana.id, seconds: 60)), to: .host)
        #expect(told(pair).map(\.until) == [1_060])
        pair.pass(.seconds(59))
        #expect(pair.cores[0].mesh.banned == [Self.ana.id])
        pair.pass(.seconds(10))
        #expect(told(pair).isEmpty && pair.cores[0].mesh.banned.isEmpty && pair.stored[0].bans.isEmpty)
    }

    @Test("a kicked guest is on the list until the session ends, and both kinds of bans can be undone")
    func again() throws {
        var pair = try linked(Self.ana, Peer(id: Self.other.id, name: "Bob"))
        pair.feed(.input(.host(.kick("Bob"))), to: .host)
        pair.feed(.input(.ban("Ana", seconds: nil)), to: .host)
        #expect(told(pair).map(\.session) == [false, true])
        // Their links have ended in between.
        for (link, peer) in [(90, Self.ana), (91, Peer(id: Self.other.id, name: "Bob"))] {
            pair.happen([.ended(link, peer, .left, besideRadio: false)], to: .host)
        }
        pair.feed(.input(.bans), to: .host)
        #expect(told(pair).map(\.peer.name) == ["Ana", "Bob"])
        pair.feed(.input(.unban("Bob")), to: .host)
        pair.feed(.input(.unban("Ana")), to: .host)
        #expect(told(pair).isEmpty && pair.cores[0].mesh.banned.isEmpty)
        pair.feed(.input(.unban("Ana")), to: .host)
        #expect(pair.notices(at: .host).last == "notKeptOut")
    }

    @Test("an undone ban is gone from the disk")
    func undone() throws {
        var pair = try linked(Self.ana)
        pair.feed(.input(.ban("Ana", seconds: nil)), to: .host)
        #expect(pair.cores[0].app.host?.steering.undo == .ban(name: "Ana"))
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        pair.feed(.input(.host(.undo)), to: .host)
        #expect(pair.cores[0].mesh.banned == [Self.ana.id] && pair.notices(at: .host).last == "notKept")
        pair.disks[PairOfCores.Side.host.rawValue] = .takes
        pair.pass(.seconds(60))
        pair.feed(.input(.host(.undo)), to: .host)
        #expect(told(pair).isEmpty && pair.cores[0].mesh.banned.isEmpty && pair.stored[0].bans.isEmpty)
        #expect(pair.cores[0].app.host?.steering.undo == nil)
    }

    @Test("of two guests with the same name, the driver must choose one")
    func ambiguous() throws {
        var pair = try linked(Self.ana, Self.other)
        pair.feed(.input(.ban("Ana", seconds: nil)), to: .host)
        #expect(pair.notices(at: .host) == ["severalGuests"] && told(pair).isEmpty)
        pair.feed(.input(.ban(Identity.head(of: Self.other.id), seconds: nil)), to: .host)
        #expect(told(pair).map(\.peer.id) == [Self.other.id])
    }

    @Test("a limited number of bans outlives the session, and the oldest ends first")
    func limit() throws {
        var pair = try PairOfCores()
        for number in 0...NodeLimits.bans {
            let id = String(repeating: "0", count: 28) + String(number + 4_096, radix: 16)
            pair.happen([.link(90, .connected(Peer(id: id, name: "N\(number)")))], to: .host)
            pair.feed(.input(.ban(id, seconds: nil)), to: .host)
            // A crowd's steps are paced.
            pair.pass(.seconds(1))
        }
        #expect(pair.stored[0].bans.count == NodeLimits.bans && pair.stored[0].bans.first?.peer.name == "N1")
    }
}
