// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

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

    @Test("a search at the host shows its results only there")
    func hostSearches() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.host(.search("Song 3"))), to: .host)
        let found = pair.shown.map { events in
            events.compactMap { event -> [String]? in
                if case .searchResults(let found, "Song 3") = event { found.songs.map(\.id) } else { nil }
            }
        }
        #expect(found == [[["s3"]], []])
        pair.feed(.input(.host(.search(SongQuery(String(repeating: "x", count: DJLimits.searchBytes + 1))))), to: .host)
        #expect(pair.notices(at: .host) == ["searchTooLong"])
    }

    @Test("Retry without a failure is answered with that, and Retry with a failure is not")
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

    @Test("Retry under a notice shows that notice again, and not that everything works")
    func retriesUnderANotice() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        let told = pair.notices(at: .guest)
        #expect(told.contains("storageFull") || told.contains("storageFailed"))
        pair.feed(.input(.retry), to: .guest)
        #expect(pair.notices(at: .guest) == told + [told[0]])
    }

    @Test("a guest without a working disk reports each wish that it cannot store")
    func wishesWithoutADisk() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        for song in ["s2", "s3"] { pair.feed(.input(.guest(.vote(song))), to: .guest) }
        #expect(pair.notices(at: .guest).filter { $0 == "notKept" }.count == 2)
    }

    @Test("Retry while covers fail never reports that everything works, whether or not their failure was shown")
    func retriesCovers() throws {
        var pair = try PairOfCores()
        pair.feed(.coverFailed(.httpError(statusCode: 404)), to: .host)
        pair.feed(.coverFailed(.offline, isExpected: true), to: .host)
        pair.pass(.seconds(6))
        pair.feed(.input(.retry), to: .host)
        pair.feed(.coverRecovered(.httpError(statusCode: 404)), to: .host)
        pair.feed(.input(.retry), to: .host)
        #expect(pair.notices(at: .host) == ["httpError"])
        pair.feed(.coverRecovered(.offline), to: .host)
        pair.feed(.input(.retry), to: .host)
        #expect(pair.notices(at: .host) == ["httpError", "nothingToRetry"])
    }

    @Test("the notice that a server wants a pause lasts no longer than the pause")
    func serverIsWell() throws {
        var pair = try PairOfCores()
        pair.feed(.coverFailed(.rateLimited), to: .host)
        pair.feed(.coverFailed(.serverMaintenance), to: .host)
        pair.feed(.coverRecovered(.rateLimited), to: .host)
        #expect(pair.cleared(at: .host) == ["rateLimited"])
    }

    @Test("a change that is not on the host's disk yet is neither shown nor acknowledged, however slow the disk is")
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

    @Test("the state that a guest shows is on its disk when its link is lost, and reconnecting waits for no disk")
    func writesInTheTunnel() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.loseLink()
        let known = try #require(pair.cores[1].app.guest?.saved)
        #expect(known.hostSnapshot?.item("s2")?.votes == 1)
        #expect(pair.stored[1].guest?.snapshot == known.view)
        pair.disks[PairOfCores.Side.guest.rawValue] = .hangs
        let dial = pair.performed[1].compactMap { action -> (Int, Peer.ID)? in
            if case .dial(let number, _, let expecting) = action { (number, expecting) } else { nil }
        }.last
        let (number, host) = try #require(dial)
        pair.open(number, expecting: host)
        let states = pair.shown[1].compactMap { if case .connection(let state) = $0 { state } else { nil } }
        #expect(states.last == .connected)
    }

    @Test("a typed vote does not write the queue again, and a counted vote is on the disk with its queue")
    func writesViewWithOutcome() throws {
        var pair = try PairOfCores()
        pair.meet()
        let joined = pair.stored[1].guest?.snapshot
        pair.feed(.input(.host(.remove("s3"))), to: .host)
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        let seen = try #require(pair.cores[1].app.guest?.saved)
        #expect(seen.hostSnapshot != nil && seen.hostSnapshot?.item("s3") == nil)
        #expect(pair.stored[1].guest?.wishes.map(\.songID) == ["s2"])
        #expect(pair.stored[1].guest?.snapshot == joined && joined != seen.view)
        pair.goOn(.host)
        #expect(pair.stored[1].guest?.wishes == [])
        let known = try #require(pair.stored[1].guest?.saved.hostSnapshot)
        #expect(known.item("s2")?.votes == 1 && known.item("s3") == nil)
    }

    @Test("pings continue while a disk hangs, and no peer counts as dead")
    func linksGoOn() throws {
        var pair = try PairOfCores()
        pair.meet()
        for side in PairOfCores.Side.allCases { pair.disks[side.rawValue] = .hangs }
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.pass(.seconds(60))
        let isLost = pair.shown.joined().contains { if case .peerDisconnected = $0 { true } else { false } }
        #expect(!isLost)
    }

    @Test("a vote that the guest's disk refuses is never sent, and counts once when there is room again")
    func refusedByTheGuest() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        #expect(pair.notices(at: .guest) == ["storageFull", "notKept"] && pair.votes(for: "s2", at: .host) == 0)
        pair.disks[PairOfCores.Side.guest.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(pair.cleared(at: .guest).contains("storageFull") && pair.votes(for: "s2", at: .host) == 0)
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

    @Test("a disk with two failures in a row has one notice, for the current failure")
    func oneDisk() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        for error in [NodeStoreError.Code.failed, .readOnly, .readOnly] {
            pair.diskError = error
            pair.feed(.input(.host(.skip)), to: .host)
            pair.pass(.seconds(3))
        }
        #expect(pair.notices(at: .host) == ["storageFailed", "storageReadOnly"])
        #expect(pair.cleared(at: .host) == ["storageFailed"])
    }

    @Test("a vote that is delivered while the guest's disk fails is not forgotten, and can be taken back")
    func deliveryDuringAnOutage() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        for wish in [GuestFeature.Event.vote("s2"), .takeBackVote("s2"), .vote("s3")] {
            pair.feed(.input(.guest(wish)), to: .guest)
        }
        // Deliveries come with a state that shows one of the votes, and at this time the guest's disk is full.
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

    @Test("a guest that has lost its disk gets no rejection of its vote because of an earlier vote")
    func earlierRejection() throws {
        var pair = try PairOfCores(songs: 6, opens: 4)
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.guest(.vote("s6"))), to: .guest)
        pair.loseLink()
        pair.goOn(.host)
        pair.feed(.input(.host(.add("s6"))), to: .host)
        try pair.restart(.guest, losingStore: true)
        pair.feed(.started, to: .guest)
        pair.feed(.input(.guest(.vote("s6"))), to: .guest)
        pair.isReachable = true
        pair.meet()
        #expect(pair.wishes == [.queued, .sent, .confirmed])
        pair.feed(.input(.guest(.vote("nothing"))), to: .guest)
        #expect(pair.wishes.last == .rejected(.unknownSong), "a new rejection is reported")
    }

    @Test("a host that is back just when its key is forgotten gets each vote once")
    func backWithItsKey() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.loseLink()
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        let host = try #require(pair.cores[1].app.guest?.state.known?.id)
        pair.happen([.link(9, .failed(expected: host, proved: nil, .misbehaved(.changedIdentity)))], to: .guest)
        #expect(pair.notices(at: .guest).contains("hostKeyChanged"))
        pair.meet()
        let dials = pair.performed[1].compactMap { if case .dial(let number, _, _) = $0 { number } else { nil } }
        pair.disks[PairOfCores.Side.guest.rawValue] = .hangs
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        pair.feed(.input(.retry), to: .guest)
        pair.open(try #require(dials.last))
        pair.goOn(.guest)
        pair.isReachable = true
        pair.pass(.seconds(5))
        pair.meet()
        let heard = pair.shown[0].compactMap { if case .intent(let intent, _, _) = $0 { intent } else { nil } }
        #expect(heard == [.vote(songID: "s2"), .vote(songID: "s3")])
    }

    @Test("a guest that a full host has refused asks again automatically, and its vote counts when there is a slot")
    func fullHost() throws {
        var pair = try PairOfCores()
        pair.refusal = .full
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.meet()
        #expect(pair.notices(at: .guest) == ["hostFull"] && pair.present == [])
        // It is still heard, and still full.
        pair.meet()
        #expect(pair.dials(of: .guest) == 1, "not at once")
        pair.pass(.seconds(5))
        #expect(pair.dials(of: .guest) == 2 && pair.present == [])
        pair.refusal = nil
        pair.meet()
        pair.pass(.seconds(60))
        #expect(pair.present == ["Ana"] && pair.votes(for: "s2", at: .host) == 1)
        #expect(pair.cleared(at: .guest).contains("hostFull"))
    }

    @Test("a guest that has given up its host does not try to reconnect forever")
    func gaveUp() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.loseLink()
        #expect(pair.cores[1].app.guest?.state.connectionStatus == .reconnecting)
        pair.pass(.seconds(31))
        #expect(pair.notices(at: .guest).last == "hostNotFound")
        #expect(pair.cores[1].app.guest?.state.connectionStatus == .choosing)
    }

    @Test("the end of a session starts the next one in the same host, without its queue, votes and bans")
    func ended() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.guest(.vote("s4"))), to: .guest)
        pair.feed(.input(.host(.skip)), to: .host)
        pair.feed(.joined(100, Peer(id: String(repeating: "e5", count: 16), name: "Eve")), to: .host)
        pair.feed(.input(.host(.kick("Eve"))), to: .host)
        let before = try #require(pair.cores[0].app.host)
        pair.feed(.input(.end), to: .host)
        #expect(pair.notices(at: .guest) == ["hostEnded"])
        #expect(pair.notices(at: .host).last == "sessionEnded")
        #expect(!pair.performed[0].contains { if case .quit = $0 { true } else { false } })
        let after = try #require(pair.cores[0].app.host)
        #expect(after.state.epoch > before.state.epoch && after.state.turns > before.state.turns)
        #expect(after.snapshot.nowPlaying?.id == "s1" && after.snapshot.queue.allSatisfy { $0.votes == 0 })
        #expect(after.state.history.isEmpty && after.state.undoable.isEmpty)
        #expect(after.state.banned.isEmpty && pair.cores[0].mesh.banned.isEmpty)
        #expect(pair.cores[0].mesh.connectedPeers.isEmpty && after.state.connectedPeers.isEmpty)

        pair.meet()
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        #expect(pair.votes(for: "s3", at: .host) == 1 && pair.votes(for: "s3", at: .guest) == 1)
        #expect(pair.cores[1].app.guest?.state.hostSnapshot?.epoch == after.state.epoch)
        try pair.restart(.host)
        #expect(pair.cores[0].app.host?.snapshot.item("s3")?.votes == 1, "the disk has the new session")
        #expect(try #require(pair.cores[0].app.host).state.epoch > after.state.epoch)
    }

    @Test("music that is paused at the end of a session is paused in the next one")
    func endedInPause() throws {
        var pair = try PairOfCores()
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.input(.end), to: .host)
        #expect(pair.cores[0].app.host?.snapshot.isPlaying == false)
    }

    @Test("a page at the host is notified of the end of the session")
    func pageAndEnd() throws {
        var pair = try PairOfCores()
        let mia = Peer(id: String(repeating: "e5", count: 16), name: "Mia")
        pair.feed(.joined(100, mia), to: .host)
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.end), to: .host)
        pair.feed(.said(.intent(.vote(songID: "s3")), number: 1, on: 100), to: .host)
        pair.goOn(.host)
        #expect(pair.said[100]?.last == .ended(.goodbye(.ended)))
        #expect(pair.votes(for: "s3", at: .host) == 0, "it is not acknowledged: the page says it again")
        #expect(pair.cores[0].app.host?.state.connectedPeers == [])
        pair.feed(.joined(101, mia), to: .host)
        #expect(pair.cores[0].app.host?.state.connectedPeers == [mia])
    }

    @Test("guests of a stopped host are notified, and rejoin its session automatically when it runs again")
    func stopped() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.feed(.input(.quit(.terminated)), to: .host)
        pair.feed(.end, to: .host)
        #expect(pair.notices(at: .guest) == ["hostStopped"])
        try pair.restart(.host)
        pair.feed(.started, to: .host)
        pair.meet()
        pair.pass(.seconds(3))
        #expect(pair.cleared(at: .guest) == ["hostStopped"])
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.present == ["Ana"])
    }

    @Test("a guest waits for a stopped host, as in a tunnel, and joins no unknown one in that time")
    func stoppedForLong() throws {
        let stranger = Peer(id: "5757a9e4", name: "Other Car")
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.quit(.quit)), to: .host)
        pair.feed(.end, to: .host)
        for time in [Duration.zero, .seconds(31), .seconds(600)] {
            pair.pass(time)
            let before = pair.performed[1].count
            pair.isReachable = false
            pair.feed(.heard(HeardNode(stranger)), to: .guest)
            let dials = pair.performed[1][before...].compactMap { action -> Peer.ID? in
                if case .dial(_, let head, _) = action { head } else { nil }
            }
            #expect(dials.isEmpty)
        }
        #expect(pair.notices(at: .guest) == ["hostStopped", "hostNotFound", "unknownHost"])
        #expect(pair.cleared(at: .guest).contains("hostStopped"))
    }

    @Test("a host that says goodbye without a reason is shown as gone, and another one may be joined at once")
    func left() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.happen(
            [.ended(1, pair.cores[0].mesh.local, .goodbye(), besideRadio: false)], to: .guest)
        #expect(pair.notices(at: .guest) == ["hostLeft"])
        #expect(pair.cores[1].app.guest?.state.connectionStatus == .choosing)
    }

    @Test("with two hosts of one identity, the one that a guest changes to and the guest are notified of the copy")
    func twinHosts() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        let copy = pair.cores[0]
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        #expect(!pair.notices(at: .host).contains("mayBeCopied") && !pair.notices(at: .guest).contains("mayBeCopied"))
        let original = pair.swap(host: copy)
        for count in 1...2 {
            #expect(pair.present == ["Ana"])
            for side in PairOfCores.Side.allCases {
                #expect(pair.notices(at: side).count { $0 == "mayBeCopied" } == count)
            }
            if count == 2 { break }
            pair.feed(.input(.guest(.vote("s4"))), to: .guest)
            _ = pair.swap(host: original)
        }
    }

    @Test("a host that loses its disk or its power does not count as two")
    func noTwin() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        for losesStore in [false, true] {
            try pair.restart(.host, losingStore: losesStore)
            pair.feed(.started, to: .host)
            pair.pass(.seconds(3))
            pair.meet()
            #expect(pair.present == ["Ana"])
        }
        #expect(!(pair.notices(at: .host) + pair.notices(at: .guest)).contains("mayBeCopied"))
    }

    @Test("a host that says goodbye disappears at once from the list of hosts in range, and a lost one stays")
    func unheard() throws {
        for isTold in [true, false] {
            var pair = try PairOfCores()
            pair.meet()
            if isTold { pair.feed(.end, to: .host) } else { pair.loseLink() }
            let isLost = pair.shown[1].contains { if case .peerLost = $0 { true } else { false } }
            #expect(isLost == isTold)
        }
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.leave), to: .guest)
        let isLost = pair.shown[1].contains { if case .peerLost = $0 { true } else { false } }
        #expect(!isLost, "its guest has left, not it")
    }

    @Test("the notice that a drive is not recorded is not shown next to the one for the disk failure that causes it")
    func driveAndDisk() throws {
        let drive = NodeCore.Event.input(.notice(Notice(.driveNotRecorded("no room"))))
        var pair = try PairOfCores()
        pair.feed(drive, to: .host)
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        pair.feed(.input(.host(.skip)), to: .host)
        pair.feed(drive, to: .host)
        #expect(pair.notices(at: .host) == ["driveNotRecorded", "storageFull"])
        #expect(pair.cleared(at: .host) == ["driveNotRecorded"])
    }

    @Test("a vote just before the end of the session is on the disk and shown before the end")
    func voteAndEnd() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.feed(.input(.end), to: .host)
        pair.goOn(.host)
        let votes = pair.shown[0].compactMap { event -> Int? in
            if case .snapshot(let state, isStale: false) = event { state.item("s2")?.votes } else { nil }
        }
        #expect(votes.suffix(2) == [1, 0])
        #expect(pair.stored[0].host?.queue.allSatisfy { $0.voters.isEmpty } == true)
    }

    @Test("a session's end is reported only after the disk has it, and without a disk the session continues")
    func endAndDisk() throws {
        for disk in [PairOfCores.Disk.hangs, .refuses] {
            var pair = try PairOfCores()
            pair.meet()
            let epoch = pair.cores[0].app.host?.state.epoch
            pair.disks[PairOfCores.Side.host.rawValue] = disk
            pair.feed(.input(.end), to: .host)
            #expect(pair.notices(at: .guest) == [] && pair.cores[0].mesh.connectedPeers.count == 1)
            guard disk == .refuses else { continue }
            #expect(pair.notices(at: .host).suffix(2) == ["storageFull", "notKept"])
            #expect(pair.cores[0].app.host?.state.epoch == epoch)
        }
    }

    @Test("a vote in transit at the end of the session counts for the next one")
    func voteAfterEnd() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.input(.end), to: .host)
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.goOn(.host)
        pair.meet()
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.votes(for: "s2", at: .guest) == 1)
        #expect(pair.stored[1].guest?.wishes.isEmpty == true)
    }

    @Test("a banned guest is not admitted while a restarted host makes its first write")
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

    @Test("a wish that found the outbox full is sent as soon as there is room, not only with the next link")
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
        #expect(pair.cores[1].app.guest?.state.wishes.last?.progress == .waiting, "the outbox has no room for it")
        #expect(pair.wishes.last == .queued, "and it is not shown as sent")
        pair.goOn(.host)
        pair.pass(.seconds(1))
        let wish = pair.cores[1].app.guest?.state.wishes.first { $0.songID == "s3" }
        #expect(wish?.progress != .waiting, "the host's answer to so many is another matter")
    }

    @Test("inputs during a disk failure use bounded memory, and the links stay")
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
