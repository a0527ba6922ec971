// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import Testing

@testable import Dashboard

@Suite("Passengers with browsers")
struct WebGuestsTests {
    private let mia = Peer(id: "m", name: "Mia")

    private func snapshot(_ revision: UInt64, voters: [Peer.ID] = []) -> HostSnapshot {
        HostSnapshot(
            epoch: 1, revision: revision, nowPlaying: nil, isPlaying: false,
            queue: [QueueItem(song: Car.songs[0], addedBy: "h0", voters: voters)], connectedPeers: [mia])
    }

    private func joined() throws -> WebGuests {
        var guests = WebGuests(host: Car.host)
        _ = guests.handle(.snapshot(snapshot(1), isStale: false), now: .zero)
        #expect(try guests.join(mia, session: "x", now: .zero) == [])
        return guests
    }

    private func vote(_ peer: Peer) -> WebGuests.Action {
        .send(.messageReceived(.intent(.vote(songID: "s1")), from: peer))
    }

    private func wish(_ guests: WebGuests) -> String? {
        guests.viewpoint("m")?.wishes.entry("s1")?.state.name
    }

    @Test("are there from their first page on, and gone half a minute after the last")
    func presence() throws {
        var guests = try joined()
        #expect(guests.present == [] && guests.guest(session: "x") == "m" && guests.guest(session: "y") == nil)
        #expect(guests.opened("m", now: .seconds(1)) == [.send(.peerConnected(mia)), .changed("m")])
        #expect(guests.present == ["m"])
        #expect(guests.opened("m", now: .seconds(1)) == [])
        guests.closed("m", now: .seconds(10))
        #expect(guests.tick(now: .seconds(100)) == [])
        guests.closed("m", now: .seconds(100))
        #expect(guests.tick(now: .seconds(129)) == [])
        #expect(guests.opened("m", now: .seconds(129)) == [])
        guests.closed("m", now: .seconds(130))
        #expect(guests.tick(now: .seconds(160)) == [.send(.peerDisconnected(mia, reason: .linkLost))])
        #expect(guests.tick(now: .seconds(200)) == [] && guests.present == [])
        // Its place and its session are kept, as long as nobody else needs them.
        #expect(guests.guest(session: "x") == "m")
        #expect(guests.opened("m", now: .seconds(201)).first == .send(.peerConnected(mia)))
    }

    @Test("vote, and see where the vote is until the host shows it")
    func voting() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        #expect(guests.want(.vote("s1"), by: "m", now: .zero) == [vote(mia), .changed("m")])
        #expect(wish(guests) == "sent")
        // A second tap does no harm.
        #expect(guests.want(.vote("s1"), by: "m", now: .zero) == [.changed("m")])
        #expect(
            guests.handle(.intent(.vote(songID: "s1"), from: mia, rejected: nil), now: .zero) == [.changed("m")])
        #expect(wish(guests) == "sent")
        #expect(guests.handle(.snapshot(snapshot(2, voters: ["m"]), isStale: false), now: .zero) == [])
        #expect(wish(guests) == "confirmed")
        #expect(guests.tick(now: .seconds(5)) == [.changed("m")] && wish(guests) == nil)
    }

    @Test("are told why a wish is not followed")
    func rejection() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        _ = guests.want(.suggest("s9"), by: "m", now: .zero)
        _ = guests.handle(.intent(.suggestSong(songID: "s9"), from: mia, rejected: .queueFull), now: .zero)
        let viewpoint = try #require(guests.viewpoint("m"))
        #expect(viewpoint.wishes.entry("s9")?.state == .rejected(.queueFull))
        #expect(viewpoint.notices.current.map(\.code) == ["queueFull"])
    }

    @Test("have their vote asked for once more where its song has left the queue before it was seen")
    func unshown() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        _ = guests.want(.vote("s1"), by: "m", now: .zero)
        _ = guests.handle(.intent(.vote(songID: "s1"), from: mia, rejected: nil), now: .zero)
        #expect(guests.tick(now: .seconds(5)) == [.changed("m")])
        #expect(guests.tick(now: .seconds(10)) == [vote(mia), .changed("m")])
        _ = guests.handle(.intent(.vote(songID: "s1"), from: mia, rejected: .alreadyPlayed), now: .seconds(10))
        #expect(wish(guests) == "rejected")
    }

    @Test("that only send are there as well, for as long")
    func sendingOnly() throws {
        var guests = try joined()
        #expect(guests.want(.vote("s1"), by: "m", now: .seconds(50)).first == .send(.peerConnected(mia)))
        #expect(guests.tick(now: .seconds(80)).contains(.send(.peerDisconnected(mia, reason: .linkLost))))
    }

    @Test("keep what they wanted through an absence")
    func absence() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        guests.closed("m", now: .zero)
        _ = guests.want(.vote("s1"), by: "m", now: .seconds(1))
        _ = guests.tick(now: .seconds(30))
        #expect(wish(guests) == "queued")
        _ = guests.handle(.intent(.vote(songID: "s1"), from: mia, rejected: nil), now: .seconds(31))
        _ = guests.handle(.snapshot(snapshot(2, voters: ["m"]), isStale: false), now: .seconds(31))
        _ = guests.opened("m", now: .seconds(40))
        #expect(wish(guests) == "confirmed")
    }

    @Test("that the driver sends away are told so, and are not let in again with that key")
    func banned() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        #expect(
            guests.handle(.sentAway("m"), now: .zero) == [
                .send(.peerDisconnected(mia, reason: .refused)), .changed("m"),
            ])
        #expect(guests.viewpoint("m")?.ended != nil && guests.present == [])
        #expect(guests.want(.vote("s1"), by: "m", now: .zero) == [])
        #expect(guests.opened("m", now: .zero) == [])
        #expect(throws: WebGuests.Refusal.banned) { try guests.join(mia, session: "z", now: .zero) }
        // One that was sent away by an earlier run of the host learns it when it comes.
        _ = guests.handle(.sentAway("n"), now: .zero)
        #expect(throws: WebGuests.Refusal.banned) {
            try guests.join(Peer(id: "n", name: "N"), session: "n", now: .zero)
        }
    }

    @Test("that leave are gone at once, with their session")
    func leaving() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        #expect(guests.leave("m", now: .zero) == [.send(.peerDisconnected(mia, reason: .goodbye))])
        #expect(guests.guest(session: "x") == nil && guests.viewpoint("m") == nil)
        guests.closed("m", now: .zero)
    }

    @Test("come with a new name or a new cookie and are the same guest")
    func again() throws {
        var guests = try joined()
        _ = guests.opened("m", now: .zero)
        let renamed = Peer(id: "m", name: "Mia M.")
        #expect(try guests.join(renamed, session: "y", now: .zero) == [.send(.peerConnected(renamed)), .changed("m")])
        #expect(guests.guest(session: "x") == "m" && guests.guest(session: "y") == "m")
        #expect(guests.want(.vote("s1"), by: "m", now: .zero).first == vote(renamed))
        for number in 0..<10 { _ = try guests.join(renamed, session: "s\(number)", now: .zero) }
        #expect(guests.guest(session: "x") == nil && guests.guest(session: "s9") == "m")
    }

    @Test("find no room where all places are taken by those who look, and that of the longest absent otherwise")
    func full() throws {
        var guests = WebGuests(host: Car.host)
        let all = (0..<DashboardLimits.webGuests).map { Peer(id: "p\($0)", name: "P") }
        for (number, peer) in all.enumerated() {
            _ = try guests.join(peer, session: peer.id, now: .seconds(number))
            _ = guests.opened(peer.id, now: .seconds(number))
        }
        #expect(throws: WebGuests.Refusal.full) { try guests.join(mia, session: "x", now: .seconds(99)) }
        guests.closed("p5", now: .seconds(100))
        guests.closed("p4", now: .seconds(101))
        #expect(
            try guests.join(mia, session: "x", now: .seconds(102)) == [
                .send(.peerDisconnected(all[5], reason: .linkLost))
            ])
        #expect(guests.guest(session: "p5") == nil && guests.guest(session: "p4") == "p4")
    }
}
