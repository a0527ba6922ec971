// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A guest that is sent away")
struct KickTests {
    private var host = Example.hostFeature()

    init() {
        for peer in [Example.ana, Example.bob] { _ = host.handle(.multipeerEvent(.peerConnected(peer)), now: .zero) }
        #expect(host.handle(.command(.kick("Ana")), now: .zero) == [.disconnect(Example.ana.id)])
        _ = host.handle(.multipeerEvent(.peerDisconnected(Example.ana, reason: .refused)), now: .zero)
    }

    @Test("is kept out when it comes back, and nobody is told of it")
    mutating func keptOut() {
        #expect(
            host.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero) == [.disconnect(Example.ana.id)])
        #expect(host.snapshot.connectedPeers == [Example.bob])
    }

    @Test("is kept out by a host that was started anew, too")
    mutating func keptOutAfterResuming() {
        var resumed = HostFeature(
            local: Example.host, library: Example.library, resuming: host.savedSession(now: .zero), epoch: 8, now: .zero
        )
        #expect(
            resumed.handle(.multipeerEvent(.peerConnected(Example.ana)), now: .zero) == [.disconnect(Example.ana.id)])
        #expect(resumed.snapshot.connectedPeers == [])
    }

    @Test("has no say any more, whatever of it is on its way still")
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

    @Test("is kept out once, however often it was sent away, so that others are not forgotten for it")
    mutating func once() {
        _ = host.handle(.command(.kick("Bob")), now: .zero)
        _ = host.handle(.command(.kick("Bob")), now: .zero)
        #expect(host.state.banned == [Example.ana.id, Example.bob.id])
    }

    @Test("is forgotten after so many others that no session has them")
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

    @Test("is the one that was meant: of two with one name neither, until the driver says which")
    mutating func ambiguous() {
        // Somebody may call itself by another's identifier.
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

    @Test("of several that are nearly called so the person chooses")
    func rivals() {
        let guests = [Peer(id: "0a0a0a0a0a0a0a0a", name: "José"), Peer(id: "0b0b0b0b0b0b0b0b", name: "JOSÉ")]
        #expect(guests.meant(by: "jose") == guests)
        #expect(guests.meant(by: "José") == [guests[0]])
    }
}
