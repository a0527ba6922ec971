// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A guest's view of changes")
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

    /// The change that a vote of Bob causes.
    private mutating func vote(_ songID: Song.ID, by peer: Peer = Example.bob) throws -> HostChange {
        let before = host.snapshot
        _ = host.handle(Example.intent(.vote(songID: songID), from: peer), now: .zero)
        return try #require(HostChange(from: before, to: host.snapshot))
    }

    @Test("a change is shown as the resulting state, and confirms a vote")
    mutating func shown() throws {
        join()
        _ = guest.handle(.vote("s4"))
        let change = try vote("s4", by: Example.ana)
        #expect(
            receive(.stateChange(change)) == [.show(host.snapshot), .wishChanged(songID: "s4", .vote, .confirmed)])
        #expect(guest.state.hostSnapshot == host.snapshot)
    }

    @Test("a guest that has missed a change requests the full state once, and shows it when it arrives")
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

    @Test("behind a relay the full state may arrive after changes to it, which are not lost and cause no request")
    mutating func overtaken() throws {
        join()
        _ = try vote("s3")
        #expect(receive(.stateChange(try vote("s4"))) == [.request(.stateRequest, from: Example.host.id)])
        let whole = host.snapshot
        #expect(receive(.stateChange(try vote("s5"))) == [])
        let between = host.snapshot
        #expect(receive(.stateChange(try vote("s2"))) == [])
        #expect(receive(.stateUpdate(whole)) == [.show(whole), .show(between), .show(host.snapshot)])
        // Later changes are applied as always.
        #expect(receive(.stateChange(try vote("s3", by: Example.ana))) == [.show(host.snapshot)])
    }

    @Test(
        "of endless changes before the full state, the newest are kept, and the missing ones are requested once")
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

    @Test("a change of another run of the host is not applied, and the full state is requested")
    mutating func otherEpoch() throws {
        join()
        var change = try vote("s3")
        change.epoch += 1
        #expect(receive(.stateChange(change)) == [.request(.stateRequest, from: Example.host.id)])
    }

    @Test("a guest that comes back over a relay which is behind shows nothing older than before")
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

    @Test("a guest that waits for the full state asks again if the host reports a missing state twice")
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

    @Test("a guest behind a relay shows no state from before it joined, and gets no result of a wish from one")
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

    @Test("a state of an older run with a greater epoch, which a relay may have, is not shown and blocks no guest")
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
        // The host's own state, signed in the current run, replaces the shown one of the older run.
        guest = GuestFeature(local: Example.ana)
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateUpdate(old.snapshot)) == [.show(old.snapshot)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
    }

    @Test("a guest whose relay continues from its last state shows that again, or the changes after it")
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

    @Test("a state that was not shown at the end of a link is the base of the next one; another run starts again")
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
        "a guest that comes back continues with no change, with a change, or with the full state"
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

    @Test("a host that was joined for the first time gets no state names of another host")
    mutating func namesOfAnother() {
        join()
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.bob)))
        #expect(guest.stateNames == [])
    }

    /// The host's states, each with one vote more.
    private mutating func fiveStates() throws -> [HostSnapshot] {
        var states = [host.snapshot]
        for (song, peer) in [("s3", Example.bob), ("s4", Example.bob), ("s3", Example.ana), ("s4", Example.ana)] {
            _ = try vote(song, by: peer)
            states.append(host.snapshot)
        }
        return states
    }

    /// The guest is linked through a relay, which sends the first of these states and then each as a change.
    private mutating func follow(_ states: ArraySlice<HostSnapshot>) throws {
        let first = try #require(states.first)
        #expect(joinBehindRelay(first) == [.show(first)])
        for (old, new) in zip(states, states.dropFirst()) {
            let change = try #require(HostChange(from: old, to: new))
            #expect(receive(.stateChange(change)) == [.show(new)])
        }
    }

    @Test("changes of another relay build on a recent state of the guest: nothing is requested")
    mutating func anotherRelay() throws {
        let states = try fiveStates()
        try follow(states[...2])
        // It was asked to continue from the first of these, and has combined the next two.
        _ = guest.handle(.isServedByRelay(continues: true))
        let gathered = try #require(HostChange(from: states[1], to: states[3]))
        #expect(receive(.stateChange(gathered)) == [.show(states[3])])
        let next = try #require(HostChange(from: states[3], to: states[4]))
        #expect(receive(.stateChange(next)) == [.show(states[4])])
    }

    @Test("the first state of another relay may be older than the shown one: it is not shown, and later ones are")
    mutating func anotherSlowRelay() throws {
        let states = try fiveStates()
        try follow(states[...3])
        let old = try #require(HostChange(from: states[0], to: states[2]))
        #expect(receive(.stateChange(old)) == [])
        let next = try #require(HostChange(from: states[2], to: states[4]))
        #expect(receive(.stateChange(next)) == [.show(states[4])])
    }

    @Test("the same is true after a gap, even if the last relay had sent less than was shown")
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

    /// The host's state now, after one vote, and after another.
    private mutating func states() throws -> [HostSnapshot] {
        let first = host.snapshot
        _ = try vote("s3")
        let second = host.snapshot
        _ = try vote("s4")
        return [first, second, host.snapshot]
    }

    /// The guest is linked through a relay to a host with this state, which it gets.
    private mutating func joinBehindRelay(_ state: HostSnapshot) -> [GuestFeature.Effect] {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = guest.handle(.isServedByRelay())
        _ = receive(.stateHeartbeat(epoch: state.epoch, revision: state.revision, elapsed: nil))
        return receive(.stateUpdate(state))
    }

    @Test(
        "a relay's change goes beyond the host's own states, and builds on an earlier one of the relay")
    mutating func between() throws {
        let states = try states()
        #expect(joinBehindRelay(states[0]) == [.show(states[0])])
        #expect(receive(.stateUpdate(states[1])) == [.show(states[1])])
        let change = try #require(HostChange(from: states[0], to: states[2]))
        #expect(receive(.stateChange(change)) == [.show(states[2])], "and nothing is asked for")
        #expect(receive(.stateChange(try vote("s5"))) == [.show(host.snapshot)])
    }

    @Test("after the host's own state, a slow relay's changes are shown once they go beyond it")
    mutating func slowRelay() throws {
        let states = try states()
        #expect(joinBehindRelay(states[1]) == [.show(states[1])])
        #expect(receive(.stateUpdate(states[0])) == [], "it is older")
        let change = try #require(HostChange(from: states[0], to: states[2]))
        #expect(receive(.stateChange(change)) == [.show(states[2])], "and nothing is asked for")
        // When the link ends, the guest continues from the relay's states.
        #expect(guest.state.base == nil)
    }

    @Test("a state that is behind is replaced by the full state, and by another run of the host")
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

    @Test("a change that fits is applied during the wait for the full state: the missed one was only late")
    mutating func lateAndFits() throws {
        join()
        let change = try vote("s3", by: Example.ana)
        let (epoch, revision) = (host.snapshot.epoch, host.snapshot.revision)
        let beat = MeshMessage.stateHeartbeat(epoch: epoch, revision: revision, elapsed: nil)
        #expect(receive(beat) == [.request(.stateRequest, from: Example.host.id)])
        #expect(receive(.stateChange(change)) == [.show(host.snapshot)])
        #expect(!guest.state.isWaitingForWhole)
    }

    @Test("a repeated change has no effect, and causes no request")
    mutating func replay() throws {
        join()
        let change = try vote("s3")
        _ = receive(.stateChange(change))
        _ = receive(.stateChange(try vote("s4")))
        #expect(receive(.stateChange(change)) == [])
        #expect(guest.state.hostSnapshot == host.snapshot)
    }

    @Test("on a new link, changes wait for the full state")
    mutating func newLink() throws {
        join()
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateChange(try vote("s3"))) == [.request(.stateRequest, from: Example.host.id)])
        #expect(receive(.stateUpdate(host.snapshot)) == [.show(host.snapshot)])
    }
}
