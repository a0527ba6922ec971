// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore
import Testing

@testable import MeshNode

@Suite("A node as a struct")
struct NodeCoreTests {
    @Test("a guest joins, sees the queue with the connection, votes, and the vote counts on both screens")
    func vote() throws {
        var pair = try PairOfCores()
        pair.meet()
        #expect(pair.votes(for: "s2", at: .guest) == 0, "the state came with the answer")
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        #expect(pair.wishes == [.queued, .sent, .confirmed])
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.votes(for: "s2", at: .guest) == 1)
    }

    @Test("the person at the host looks for songs, and what is found is shown there alone")
    func hostSearches() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.host(.search("Song 3"))), to: .host)
        let found = pair.shown.map { events in
            events.compactMap { event -> [String]? in
                if case .searchResults(let songs, "Song 3") = event { songs.map(\.id) } else { nil }
            }
        }
        #expect(found == [[["s3"]], []])
        pair.feed(.input(.host(.search(String(repeating: "x", count: DJLimits.searchBytes + 1)))), to: .host)
        #expect(pair.notices(at: .host) == ["searchTooLong"])
    }

    @Test("who retries where everything works is told so, and who has something to retry is not")
    func nothingToRetry() throws {
        var pair = try PairOfCores()
        pair.feed(.input(.retry), to: .guest)
        #expect(pair.notices(at: .guest) == [], "it looks for a host")
        pair.meet()
        for side in PairOfCores.Side.allCases { pair.feed(.input(.retry), to: side) }
        #expect(pair.notices(at: .guest) == ["nothingToRetry"] && pair.notices(at: .host) == ["nothingToRetry"])
        pair.feed(.radioFailed(.radioOff), to: .guest)
        pair.feed(.input(.retry), to: .guest)
        #expect(pair.notices(at: .guest) == ["nothingToRetry", "radioUnavailable"])
    }

    @Test("what a host's disk does not have yet is neither shown nor acknowledged, however long the disk takes")
    func slowDisk() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.pass(.seconds(3))
        #expect(pair.votes(for: "s2", at: .host) == 0 && pair.wishes == [.queued, .sent])
        #expect(pair.cores[0].hasRoom, "a vote that waits does not hold up the links")
        pair.goOn(.host)
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.wishes == [.queued, .sent, .confirmed])
    }

    @Test("pings go on while a disk hangs, and nobody is taken for dead")
    func linksGoOn() throws {
        var pair = try PairOfCores()
        pair.meet()
        for side in PairOfCores.Side.allCases { pair.disks[side.rawValue] = .hangs }
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.pass(.seconds(60))
        let isLost = pair.shown.joined().contains { if case .peerDisconnected = $0 { true } else { false } }
        #expect(!isLost)
    }

    @Test("a vote that the guest's disk refuses never leaves, and one with room again counts once")
    func refusedByTheGuest() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        #expect(pair.notices(at: .guest) == ["storageFull"] && pair.votes(for: "s2", at: .host) == 0)
        pair.disks[PairOfCores.Side.guest.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(pair.cleared(at: .guest) == ["storageFull"] && pair.votes(for: "s2", at: .host) == 0)
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        #expect(pair.votes(for: "s3", at: .host) == 1)
    }

    @Test("a vote that the host's disk refuses waits unacknowledged, and counts once when there is room")
    func refusedByTheHost() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.feed(.input(.host(.skip)), to: .host)
        #expect(pair.notices(at: .host) == ["storageFull"])
        #expect(pair.votes(for: "s2", at: .guest) == 0, "the music goes on, the vote does not count yet")
        pair.disks[PairOfCores.Side.host.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.votes(for: "s2", at: .guest) == 1)
        #expect(pair.wishes == [.queued, .sent, .confirmed])
    }

    @Test("a delivery that is told while the guest's disk refuses is not forgotten: a vote taken back is told to be")
    func deliveryDuringAnOutage() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        for wish in [GuestFeature.Event.vote("s2"), .takeBackVote("s2"), .vote("s3")] {
            pair.feed(.input(.guest(wish)), to: .guest)
        }
        // Deliveries come with a state that shows one of the votes, and the guest's disk is full just then.
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        pair.goOn(.host)
        pair.disks[PairOfCores.Side.guest.rawValue] = .takes
        pair.pass(.seconds(30))
        #expect(pair.votes(for: "s2", at: .host) == 0 && pair.votes(for: "s3", at: .host) == 1)
        let isTold = pair.shown[PairOfCores.Side.guest.rawValue].contains { event in
            if case .wish("s2", .takeBack, .confirmed) = event { true } else { false }
        }
        #expect(isTold)
    }

    @Test("a guest that has given its host up is not for ever on its way back to it")
    func gaveUp() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.loseLink()
        #expect(pair.cores[1].decisions.app.guest?.state.connectionStatus == .reconnecting)
        pair.pass(.seconds(31))
        #expect(pair.notices(at: .guest).last == "hostNotFound")
        #expect(pair.cores[1].decisions.app.guest?.state.connectionStatus == .choosing)
    }

    @Test("a session that was ended begins anew, and a guest hears that it was")
    func ended() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.end), to: .host)
        pair.feed(.end, to: .host)
        #expect(pair.notices(at: .guest) == ["hostEnded"])
    }

    @Test("a vote that is decided together with the end of the session is on the disk before it is shown")
    func voteAndEnd() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.feed(.input(.end), to: .host)
        pair.goOn(.host)
        #expect(pair.wishes == [.queued, .sent])
        #expect(pair.stored[0].host?.queue.first { $0.songID == "s2" }?.voters.count == 1)
    }

    @Test("a vote that comes after the end of the session is not acknowledged: its sender keeps it")
    func voteAfterEnd() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.input(.end), to: .host)
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.goOn(.host)
        #expect(pair.cores[1].mesh.conversation(with: pair.cores[0].mesh.local.id)?.unacknowledged == 1)
        #expect(pair.stored[1].guest?.wishes.map(\.songID) == ["s2"])
    }

    @Test("who was sent away is not let in while a host that starts again writes for the first time")
    func bannedAtTheStart() throws {
        var pair = try PairOfCores()
        pair.meet()
        let guest = pair.cores[1].mesh.local.id
        pair.feed(.input(.host(.kick(guest))), to: .host)
        try pair.restart(.host)
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.started, to: .host)
        pair.feed(.input(.retry), to: .guest)
        pair.meet()
        #expect(pair.cores[0].mesh.link(to: guest) == nil && pair.cores[1].mesh.connectedPeers.isEmpty)
    }

    @Test("a wish that found the outbox full leaves as soon as there is room, not with the next link")
    func fullOutbox() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.pause)), to: .host)
        for _ in 0..<Limits.outboxMessages / 2 {
            pair.feed(.input(.guest(.vote("s2"))), to: .guest)
            pair.feed(.input(.guest(.takeBackVote("s2"))), to: .guest)
        }
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        #expect(pair.cores[1].app.guest?.state.wishes.last?.progress == .waiting, "there is no room for it")
        pair.goOn(.host)
        pair.pass(.seconds(1))
        let wish = pair.cores[1].app.guest?.state.wishes.first { $0.songID == "s3" }
        #expect(wish?.progress != .waiting, "the host's answer to so many is another matter")
    }

    @Test("what a person wants while a node hears a disk out waits in a bounded place, and the links go on")
    func bounded() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.skip)), to: .host)
        for _ in 0..<NodeLimits.waitingInputs { pair.feed(.input(.host(.pause)), to: .host) }
        #expect(!pair.cores[0].hasRoom && pair.cores[0].mayRead(1, now: pair.now))
        pair.goOn(.host)
        #expect(pair.cores[0].hasRoom && pair.cores[0].mayRead(1, now: pair.now))
    }
}
