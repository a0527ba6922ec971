// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("Reports of who is connected: at once, and combined in a crowd")
struct PresenceTests {
    var host = HostFeature(local: Example.host, library: Example.library, epoch: 7, now: .zero)

    private static func guest(_ number: Int) -> Peer { Peer(id: "g\(number)", name: "Guest \(number)") }

    /// Connects this many guests, and all others know of them.
    private mutating func fill(_ guests: Int) {
        for number in 0..<guests { _ = come(number) }
        _ = host.handle(.tick, now: DJLimits.gatheredArrivals)
        #expect(host.snapshot.connectedPeers == (0..<guests).map(Self.guest))
    }

    private mutating func come(_ number: Int, at now: MeshInstant = .zero) -> [HostFeature.Effect] {
        host.handle(.multipeerEvent(.peerConnected(Self.guest(number))), now: now)
    }

    private mutating func go(
        _ number: Int, at now: MeshInstant, _ reason: DisconnectReason = .linkLost
    ) -> [HostFeature.Effect] {
        host.handle(.multipeerEvent(.peerDisconnected(Self.guest(number), reason: reason)), now: now)
    }

    @Test("up to the number of a radio's links, each guest is reported at once")
    mutating func few() {
        for number in 0...DJLimits.guestsToldAtOnce { #expect(come(number) == [.broadcast(host.snapshot)]) }
        #expect(host.snapshot.connectedPeers.count == DJLimits.guestsToldAtOnce + 1)
    }

    @Test("guests of a crowd that come within a second are one change")
    mutating func arrivals() {
        fill(60)
        let before = host.snapshot
        for number in 60..<100 { #expect(come(number, at: .seconds(2)).isEmpty) }
        #expect(host.snapshot == before && host.deadline == .seconds(3))
        #expect(host.state.connectedPeers.count == 100)
        #expect(host.handle(.tick, now: .seconds(3)) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.revision == before.revision + 1 && host.snapshot.connectedPeers.count == 100)
        #expect(host.handle(.tick, now: .milliseconds(3_500)).isEmpty)
    }

    @Test("another change includes them at once")
    mutating func votes() {
        fill(60)
        _ = come(60, at: .seconds(2))
        let vote = Example.intent(.vote(songID: "s4"), from: Self.guest(60))
        #expect(host.handle(vote, now: .seconds(2)).last == .broadcast(host.snapshot))
        #expect(host.snapshot.connectedPeers.last == Self.guest(60))
        #expect(host.handle(.tick, now: .seconds(3)).isEmpty)
    }

    @Test("a guest that is lost and back within some seconds causes no change, and keeps its position")
    mutating func flicker() {
        fill(60)
        let before = host.snapshot
        for number in 3..<9 { #expect(go(number, at: .seconds(2)).isEmpty) }
        #expect(host.state.connectedPeers.count == 54)
        for number in 3..<9 { #expect(come(number, at: .seconds(4)).isEmpty) }
        #expect(host.handle(.tick, now: .seconds(7)) == [.heartbeat])
        #expect(host.snapshot == before && host.state.connectedPeers == before.connectedPeers)
        #expect(host.state.untold == nil)
    }

    @Test("a lost guest is not reported sooner because others come, come back or vote")
    mutating func repair() {
        fill(60)
        let before = host.snapshot
        for number in 3..<9 { _ = go(number, at: .seconds(2)) }
        _ = come(3, at: .seconds(4))
        #expect(host.handle(.tick, now: .seconds(5)) == [.heartbeat])
        #expect(host.snapshot == before, "one is back, and the loss of five is not reported yet")
        _ = come(60, at: .seconds(6))
        #expect(host.handle(.tick, now: .seconds(7)) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.connectedPeers == (0...60).map(Self.guest), "one more has come")
        _ = host.handle(Example.intent(.vote(songID: "s4"), from: Self.guest(60)), now: .seconds(8))
        #expect(host.snapshot.connectedPeers == (0...60).map(Self.guest))
        for number in 4..<8 { _ = come(number, at: .seconds(9)) }
        #expect(host.handle(.tick, now: .seconds(10)) == [.heartbeat])
        #expect(host.deadline == .seconds(15) && host.handle(.tick, now: .seconds(15)) == [.heartbeat])
        #expect(host.handle(.tick, now: .seconds(17)) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.connectedPeers == (0...60).filter { $0 != 8 }.map(Self.guest), "one has stayed away")
    }

    @Test("a guest that came and was lost before a report is not reported")
    mutating func briefly() {
        fill(60)
        let before = host.snapshot
        _ = come(60, at: .seconds(2))
        _ = go(60, at: .milliseconds(2_500))
        #expect(host.handle(.tick, now: .seconds(3)).isEmpty)
        #expect(host.snapshot == before && host.state.untold == nil)
    }

    @Test("a guest that stays away is reported after that time, and one that says goodbye sooner")
    mutating func departures() {
        fill(60)
        _ = go(3, at: .seconds(2))
        for time in [5, 10, 15] { #expect(host.handle(.tick, now: .seconds(Int64(time))) == [.heartbeat]) }
        #expect(host.handle(.tick, now: .seconds(17)) == [.broadcast(host.snapshot)])
        #expect(!host.snapshot.connectedPeers.contains(Self.guest(3)) && host.snapshot.connectedPeers.count == 59)
        _ = go(4, at: .seconds(18), .goodbye)
        #expect(host.handle(.tick, now: .seconds(19)) == [.broadcast(host.snapshot)])
    }

    @Test("the departure of a co-host, or of a guest that voted to skip, is reported at once")
    mutating func important() {
        host = HostFeature(
            local: Example.host, library: Example.library, fairness: Fairness(majoritySkip: true), epoch: 7, now: .zero)
        _ = host.handle(.drivers([Self.guest(80).id]), now: .zero)
        fill(60)
        #expect(come(80, at: .seconds(2)) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.drivers == [Self.guest(80).id])
        _ = host.handle(Example.intent(.skip(songID: "s1"), from: Self.guest(5)), now: .seconds(2))
        #expect(go(5, at: .seconds(2)) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.skipVoters.isEmpty && !host.snapshot.connectedPeers.contains(Self.guest(5)))
        #expect(go(80, at: .seconds(2)) == [.broadcast(host.snapshot)])
    }
}
