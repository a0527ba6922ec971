// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("What a guest sees of changes")
struct GuestChangeTests {
    var guest = GuestFeature(local: Example.ana)
    var host = HostFeature(local: Example.host, library: Example.library, epoch: 7, now: .zero)

    private mutating func receive(_ message: MeshMessage) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.messageReceived(message, from: Example.host)))
    }

    private mutating func join() {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = receive(.stateUpdate(host.snapshot))
    }

    /// What a vote of Bob changes.
    private mutating func vote(_ songID: Song.ID, by peer: Peer = Example.bob) throws -> HostChange {
        let before = host.snapshot
        _ = host.handle(Example.intent(.vote(songID: songID), from: peer), now: .zero)
        return try #require(HostChange(from: before, to: host.snapshot))
    }

    @Test("a change is shown as the state that it leads to, and confirms a vote")
    mutating func shown() throws {
        join()
        _ = guest.handle(.vote("s4"))
        let change = try vote("s4", by: Example.ana)
        #expect(
            receive(.stateChange(change)) == [.show(host.snapshot), .wishChanged(songID: "s4", .vote, .confirmed)])
        #expect(guest.state.hostSnapshot == host.snapshot)
    }

    @Test("a guest that has missed a change asks for the whole once, and shows it when it comes")
    mutating func missed() throws {
        join()
        let seen = host.snapshot
        _ = try vote("s3")
        #expect(receive(.stateChange(try vote("s4"))) == [.request(.stateRequest, from: Example.host.id)])
        #expect(receive(.stateChange(try vote("s5"))) == [])
        #expect(guest.state.hostSnapshot == seen)
        #expect(host.handle(Self.request, now: .zero) == [.send(host.snapshot, to: Example.ana.id)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
        let change = try vote("s2")
        #expect(receive(.stateChange(change)) == [.show(host.snapshot)])
    }

    @Test("behind a relay the whole may come after changes to it: they are not lost, and nothing is asked for again")
    mutating func overtaken() throws {
        join()
        _ = try vote("s3")
        #expect(receive(.stateChange(try vote("s4"))) == [.request(.stateRequest, from: Example.host.id)])
        let whole = host.snapshot
        #expect(receive(.stateChange(try vote("s5"))) == [])
        let between = host.snapshot
        #expect(receive(.stateChange(try vote("s2"))) == [])
        #expect(receive(.stateUpdate(whole)) == [.show(whole), .show(between), .show(host.snapshot)])
        // What follows is taken as always.
        #expect(receive(.stateChange(try vote("s3", by: Example.ana))) == [.show(host.snapshot)])
    }

    @Test(
        "of changes without end that come before the whole, the newest are kept, and what is missing is asked for once")
    mutating func floodBeforeWhole() throws {
        join()
        _ = try vote("s3")
        #expect(receive(.stateChange(try vote("s4"))).count == 1)
        let whole = host.snapshot
        for round in 0...DJLimits.heldChanges {
            let before = host.snapshot
            let intent = round.isMultiple(of: 2) ? GuestIntent.vote(songID: "s5") : .takeBackVote(songID: "s5")
            _ = host.handle(Example.intent(intent, from: Example.bob), now: .seconds(round))
            #expect(receive(.stateChange(try #require(HostChange(from: before, to: host.snapshot)))) == [])
        }
        let asked = GuestFeature.Effect.request(.stateRequest, from: Example.host.id)
        #expect(receive(.stateUpdate(whole)) == [.show(whole), asked])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
    }

    private static let request = HostFeature.Event.multipeerEvent(.messageReceived(.stateRequest, from: Example.ana))

    @Test("a change of another run of the host is not taken, and the whole is asked for")
    mutating func otherEpoch() throws {
        join()
        var change = try vote("s3")
        change.epoch += 1
        #expect(receive(.stateChange(change)) == [.request(.stateRequest, from: Example.host.id)])
    }

    @Test("a guest that comes back over a relay which is behind sees nothing older than it has seen")
    mutating func behind() throws {
        let old = host.snapshot
        let first = try vote("s3")
        let afterFirst = host.snapshot
        let second = try vote("s4")
        let seen = host.snapshot
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateUpdate(seen)) == [.show(seen)])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateUpdate(old)) == [])
        #expect(guest.state.hostSnapshot == seen && guest.isStale)
        #expect(receive(.stateChange(first)) == [], "still behind")
        #expect(guest.state.base == afterFirst)
        #expect(receive(.stateChange(second)) == [.show(seen)], "it has caught up")
        #expect(!guest.isStale && guest.state.base == nil)
        let third = try vote("s5")
        #expect(receive(.stateChange(third)) == [.show(host.snapshot)])
    }

    @Test("that waits for the whole asks again where the host tells twice of what does not come")
    mutating func asksAgain() throws {
        let asked = GuestFeature.Effect.request(.stateRequest, from: Example.host.id)
        join()
        _ = try vote("s3")
        #expect(receive(.stateChange(try vote("s4"))) == [asked])
        let present = host.snapshot
        let beat = MeshMessage.stateHeartbeat(epoch: present.epoch, revision: present.revision, elapsed: nil)
        #expect(receive(beat) == [])
        #expect(receive(beat) == [asked])
        #expect(receive(beat) == [])
        #expect(receive(.stateUpdate(present)).contains(.show(present)))
        #expect(receive(beat) == [])
    }

    @Test("a guest behind a relay is shown nothing, and told of no wish, by states from before it came")
    mutating func historyOfARelay() throws {
        let old = host.snapshot
        let first = try vote("s3", by: Example.ana)
        let present = host.snapshot
        let second = try vote("s4")
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay())
        _ = guest.handle(.takeBackVote("s3"))
        #expect(receive(.stateUpdate(old)) == [])
        #expect(receive(.stateHeartbeat(epoch: present.epoch, revision: present.revision, elapsed: nil)) == [])
        #expect(guest.state.hostSnapshot == nil)
        #expect(receive(.stateChange(first)) == [.show(present)], "its vote is there, from before its store was lost")
        #expect(receive(.stateChange(second)) == [.show(host.snapshot)])
        // The other way round.
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay())
        let beat = MeshMessage.stateHeartbeat(epoch: present.epoch, revision: host.snapshot.revision, elapsed: nil)
        #expect(receive(.stateUpdate(host.snapshot)) == [])
        #expect(receive(beat).contains(.show(host.snapshot)))
    }

    @Test("a state of an older run with a greater epoch, which a relay may keep, is not shown and freezes no guest")
    mutating func otherRun() throws {
        // The clock was ahead, and then the database was lost.
        var old = HostFeature(local: Example.host, library: Example.library, epoch: 9, now: .zero)
        _ = old.handle(Example.intent(.vote(songID: "s3"), from: Example.bob), now: .zero)
        for isFirst in [true, false] {
            guest = GuestFeature(local: Example.ana)
            _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
            _ = guest.handle(.isServedByRelay())
            if isFirst { #expect(receive(.stateUpdate(old.snapshot)) == []) }
            _ = receive(.stateHeartbeat(epoch: 7, revision: host.snapshot.revision))
            #expect(receive(.stateUpdate(old.snapshot)) == [])
            #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
            #expect(receive(.stateUpdate(old.snapshot)) == [])
            _ = receive(.stateHeartbeat(epoch: 7, revision: host.snapshot.revision))
            #expect(receive(.stateUpdate(old.snapshot)) == [])
            let change = try vote("s4", by: isFirst ? Example.ana : Example.bob)
            #expect(receive(.stateChange(change)) == [.show(host.snapshot)])
        }
        // What the host itself sends, and has signed in a run of now, takes the place of the older run on view.
        guest = GuestFeature(local: Example.ana)
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateUpdate(old.snapshot)) == [.show(old.snapshot)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
    }

    @Test("a guest whose relay goes on where the last one has ended shows that again, or what has followed on it")
    mutating func continuesBehindARelay() throws {
        join()
        let (epoch, revision) = (host.snapshot.epoch, host.snapshot.revision)
        for isBehind in [false, true] {
            _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
            let change = isBehind ? try vote("s3", by: Example.ana) : nil
            _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
            _ = guest.handle(.isServedByRelay(continues: true))
            let told = isBehind ? revision + 1 : revision
            let beat = receive(.stateHeartbeat(epoch: epoch, revision: told, elapsed: nil))
            if let change {
                #expect(beat == [] && guest.isStale)
                #expect(receive(.stateChange(change)) == [.show(host.snapshot)])
            } else {
                #expect(beat == [.show(host.snapshot)])
            }
            #expect(!guest.isStale)
        }
    }

    @Test("what was not shown when a link ended is what the next one goes on with; another run begins anew")
    mutating func continuesUnshown() throws {
        let old = host.snapshot
        let first = try vote("s3", by: Example.ana)
        let second = try vote("s4")
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay())
        #expect(receive(.stateUpdate(old)) == [] && receive(.stateChange(first)) == [])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay(continues: true))
        let now = host.snapshot
        _ = receive(.stateHeartbeat(epoch: now.epoch, revision: now.revision, elapsed: nil))
        #expect(receive(.stateChange(second)) == [.show(now)])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay(continues: true))
        var whole = now
        (whole.epoch, whole.revision) = (6, 1)
        _ = receive(.stateUpdate(whole))
        #expect(receive(.stateHeartbeat(epoch: 6, revision: 1, elapsed: nil)) == [.show(whole)])
    }

    @Test(
        "a guest that comes back to the host goes on with what it had: with nothing new, with a change, or with the whole"
    )
    mutating func comesBackToTheHost() throws {
        join()
        for news in ["nothing", "change", "whole"] {
            let had = host.snapshot
            #expect(guest.stateNames.first == StateName(of: had))
            _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
            let change = news == "nothing" ? nil : try vote(news == "change" ? "s3" : "s4")
            let now = host.snapshot
            _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
            _ = guest.handle(.mayGoOn)
            #expect(guest.isStale)
            let message: MeshMessage =
                switch (news, change) {
                case ("change", let change?): .stateChange(change)
                case ("whole", _): .stateUpdate(now)
                default: .stateHeartbeat(epoch: now.epoch, revision: now.revision, elapsed: nil)
                }
            #expect(receive(message) == [.show(now)])
            #expect(!guest.isStale && guest.state.hostSnapshot == now)
        }
    }

    @Test("a host that was joined afresh is told of no state of another one's")
    mutating func namesOfAnother() {
        join()
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.bob)))
        #expect(guest.stateNames == [])
    }

    /// The host's states, each after one vote more.
    private mutating func fiveStates() throws -> [HostSnapshot] {
        var states = [host.snapshot]
        for (song, peer) in [("s3", Example.bob), ("s4", Example.bob), ("s3", Example.ana), ("s4", Example.ana)] {
            _ = try vote(song, by: peer)
            states.append(host.snapshot)
        }
        return states
    }

    /// The guest is linked through a relay, which brings the first of these states and then each as a change.
    private mutating func follow(_ states: ArraySlice<HostSnapshot>) throws {
        let first = try #require(states.first)
        #expect(joinBehindRelay(first) == [.show(first)])
        for (old, new) in zip(states, states.dropFirst()) {
            let change = try #require(HostChange(from: old, to: new))
            #expect(receive(.stateChange(change)) == [.show(new)])
        }
    }

    @Test("what another relay brings builds on a state that was here a moment ago: nothing is asked for")
    mutating func anotherRelay() throws {
        let states = try fiveStates()
        try follow(states[...2])
        // It was asked to go on behind the first of these, and has gathered the next two in one.
        _ = guest.handle(.isServedByRelay(continues: true))
        let gathered = try #require(HostChange(from: states[1], to: states[3]))
        #expect(receive(.stateChange(gathered)) == [.show(states[3])])
        let next = try #require(HostChange(from: states[3], to: states[4]))
        #expect(receive(.stateChange(next)) == [.show(states[4])])
    }

    @Test("what another relay brings first may be older than what is shown: it is not shown, and what follows is")
    mutating func anotherSlowRelay() throws {
        let states = try fiveStates()
        try follow(states[...3])
        let old = try #require(HostChange(from: states[0], to: states[2]))
        #expect(receive(.stateChange(old)) == [])
        let next = try #require(HostChange(from: states[2], to: states[4]))
        #expect(receive(.stateChange(next)) == [.show(states[4])])
    }

    @Test("so it is after a gap, also where the last relay had brought less than was shown")
    mutating func afterAGap() throws {
        let states = try fiveStates()
        #expect(joinBehindRelay(states[0]) == [.show(states[0])])
        #expect(receive(.stateUpdate(states[3])) == [.show(states[3])], "the host has sent it")
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay(continues: true))
        _ = receive(.stateHeartbeat(epoch: host.snapshot.epoch, revision: host.snapshot.revision, elapsed: nil))
        let next = try #require(HostChange(from: states[3], to: states[4]))
        #expect(receive(.stateChange(next)) == [.show(states[4])])
    }

    /// The host's state now, and after one vote and after another.
    private mutating func states() throws -> [HostSnapshot] {
        let first = host.snapshot
        _ = try vote("s3")
        let second = host.snapshot
        _ = try vote("s4")
        return [first, second, host.snapshot]
    }

    /// The guest is linked through a relay to a host that has this state, which it is sent.
    private mutating func joinBehindRelay(_ state: HostSnapshot) -> [GuestFeature.Effect] {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay())
        _ = receive(.stateHeartbeat(epoch: state.epoch, revision: state.revision, elapsed: nil))
        return receive(.stateUpdate(state))
    }

    @Test(
        "a relay's change leads past what the host has sent meanwhile, and builds on what the relay has brought before")
    mutating func between() throws {
        let states = try states()
        #expect(joinBehindRelay(states[0]) == [.show(states[0])])
        #expect(receive(.stateUpdate(states[1])) == [.show(states[1])])
        let change = try #require(HostChange(from: states[0], to: states[2]))
        #expect(receive(.stateChange(change)) == [.show(states[2])], "and nothing is asked for")
        #expect(receive(.stateChange(try vote("s5"))) == [.show(host.snapshot)])
    }

    @Test("what the host itself has sent first is followed by what a slow relay brings, once that leads past it")
    mutating func slowRelay() throws {
        let states = try states()
        #expect(joinBehindRelay(states[1]) == [.show(states[1])])
        #expect(receive(.stateUpdate(states[0])) == [], "it is older")
        let change = try #require(HostChange(from: states[0], to: states[2]))
        #expect(receive(.stateChange(change)) == [.show(states[2])], "and nothing is asked for")
        // With the link that ends what the relay has brought is what goes on.
        #expect(guest.state.base == nil)
    }

    @Test("what is behind makes way for the whole, and for another run of the host")
    mutating func behindAndWhole() throws {
        let old = host.snapshot
        _ = try vote("s3")
        join()
        for isNewRun in [false, true] {
            _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
            #expect(receive(.stateUpdate(old)) == [])
            var whole = host.snapshot
            if isNewRun { (whole.epoch, whole.revision) = (6, 1) }
            #expect(receive(.stateUpdate(whole)) == [.show(whole)])
            #expect(!guest.isStale)
        }
    }

    @Test("a change that fits is applied although the whole is waited for: what was missed was only late")
    mutating func lateAndFits() throws {
        join()
        let change = try vote("s3", by: Example.ana)
        let (epoch, revision) = (host.snapshot.epoch, host.snapshot.revision)
        let beat = MeshMessage.stateHeartbeat(epoch: epoch, revision: revision, elapsed: nil)
        #expect(receive(beat) == [.request(.stateRequest, from: Example.host.id)])
        #expect(receive(.stateChange(change)) == [.show(host.snapshot)])
        #expect(!guest.state.isWaitingForWhole)
    }

    @Test("a change that comes again changes nothing, and nothing is asked for")
    mutating func replay() throws {
        join()
        let change = try vote("s3")
        _ = receive(.stateChange(change))
        _ = receive(.stateChange(try vote("s4")))
        #expect(receive(.stateChange(change)) == [])
        #expect(guest.state.hostSnapshot == host.snapshot)
    }

    @Test("on a new link, changes wait for the whole")
    mutating func newLink() throws {
        join()
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateChange(try vote("s3"))) == [.request(.stateRequest, from: Example.host.id)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
    }
}
