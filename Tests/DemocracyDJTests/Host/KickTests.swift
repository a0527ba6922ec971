// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("Removing a guest")
struct KickTests {
    private var host = Example.hostFeature()

    init() {
        for peer in [Example.ana, Example.bob] { _ = host.handle(.multipeerEvent(.peerConnected(peer)), now: .zero) }
        #expect(host.handle(.command(.kick("Ana")), now: .zero) == [.disconnect(Example.ana.id)])
        _ = host.handle(.multipeerEvent(.peerDisconnected(Example.ana, reason: .refused)), now: .zero)
    }

    @Test("a removed guest is refused when it comes back, without a message to others")
    mutating func keptOut() {
        #expect(
            host.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero) == [.disconnect(Example.ana.id)])
        #expect(host.snapshot.connectedPeers == [Example.bob])
    }

    @Test("a removed guest is also refused by a restarted host")
    mutating func keptOutAfterResuming() {
        var resumed = HostFeature(
            local: Example.host, library: Example.library, resuming: host.savedSession(now: .zero), epoch: 8, now: .zero
        )
        #expect(
            resumed.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero) == [.disconnect(Example.ana.id)])
        #expect(resumed.snapshot.connectedPeers == [])
    }

    @Test("messages of a removed guest that are still in transit do not count")
    mutating func noSay() {
        let before = host.snapshot
        for intent in [
            GuestIntent.vote(songID: "s3"), .suggestSong(songID: "s1"), .takeBackVote(songID: "s3"),
            .skip(songID: "s1"),
        ] {
            #expect(host.handle(Example.intent(intent, from: Example.ana), now: .zero) == [])
        }
        #expect(host.snapshot == before)
    }

    @Test("repeated removals of a guest count once, so that others are not forgotten because of it")
    mutating func once() {
        _ = host.handle(.command(.kick("Bob")), now: .zero)
        _ = host.handle(.command(.kick("Bob")), now: .zero)
        #expect(host.state.banned == [Example.ana.id, Example.bob.id])
    }

    @Test("a removal is forgotten after more others than a session has")
    mutating func limit() {
        for number in 0..<DJLimits.bannedPeers {
            let peer = Peer(id: "guest \(number)", name: "")
            _ = host.handle(.multipeerEvent(.peerConnected(peer)), now: .zero)
            _ = host.handle(.command(.kick(peer.id)), now: .zero)
            _ = host.handle(.multipeerEvent(.peerDisconnected(peer)), now: .zero)
        }
        #expect(host.state.banned.count == DJLimits.bannedPeers)
        #expect(!host.state.banned.contains(Example.ana.id))
    }

    @Test("of two guests with one name neither is removed, until the driver chooses one")
    mutating func ambiguous() {
        // A guest may call itself by another's identifier.
        let twin = Peer(id: "b2b2b2b2", name: "Bob"), posing = Peer(id: "c3c3c3c3", name: Example.bob.id)
        for peer in [twin, posing] { _ = host.handle(.multipeerEvent(.peerConnected(peer)), now: .zero) }
        #expect(
            host.handle(.command(.kick("Bob")), now: .zero) == [.notice(Notice(.severalGuests([Example.bob, twin])))])
        #expect(host.handle(.command(.kick(Example.bob.id)), now: .zero) == [.disconnect(Example.bob.id)])
    }

    @Test(
        "a guest is named without capitals and accents, and with any apostrophe",
        arguments: [("jose", "José"), ("JOSÉ", "José"), ("O'Neill", "o’neill"), ("Zoe", "Zoë"), ("Tiến", "tien")])
    func typedNames(typed: String, name: String) {
        let guests = [Peer(id: "0a0a0a0a0a0a0a0a", name: name), Peer(id: "0b0b0b0b0b0b0b0b", name: "Bob")]
        #expect(guests.meant(by: typed) == [guests[0]])
        let twins = guests + [Peer(id: "0c0c0c0c0c0c0c0c", name: name.uppercased())]
        #expect(twins.meant(by: typed).count != 0)
        #expect(twins.meant(by: "0c0c0c0c") == [twins[2]])
        #expect(guests.meant(by: typed + "x").isEmpty)
    }

    @Test("of several guests with similar names the person chooses")
    func rivals() {
        let guests = [Peer(id: "0a0a0a0a0a0a0a0a", name: "José"), Peer(id: "0b0b0b0b0b0b0b0b", name: "JOSÉ")]
        #expect(guests.meant(by: "jose") == guests)
        #expect(guests.meant(by: "José") == [guests[0]])
    }
}
