// SPDX-License-Identifier: Apache-2.0

import NodeCore
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

    /// Mia is connected with link 1.
    private func joined() -> WebGuests {
        var guests = WebGuests(host: Car.host)
        #expect(guests.linked(mia, by: 1, snapshot(1), now: .zero) == [.changed("m")])
        #expect(guests.joined(mia, session: "x") == [])
        return guests
    }

    private func vote(_ number: UInt64, on link: MeshCore.LinkID = 1) -> WebGuests.Action {
        .say(WebGuest.Said(message: .intent(.vote(songID: "s1")), number: number), on: link)
    }

    private func state(_ revision: UInt64, voters: [Peer.ID] = []) -> LocalLink.Event {
        .message(.stateUpdate(snapshot(revision, voters: voters)))
    }

    private func wants(_ event: GuestFeature.Event, _ guests: inout WebGuests) -> [WebGuests.Action] {
        guests.want(event, by: "m", now: .zero)?.actions ?? []
    }

    private func wish(_ guests: WebGuests) -> String? {
        guests.viewpoint("m")?.wishes.entry("s1")?.state.name
    }

    @Test("guests are present while a page is open and half a minute longer, and keep their slot after that")
    func presence() throws {
        var guests = joined()
        #expect(guests.present == ["m"] && guests.guest(session: "x") == "m" && guests.guest(session: "y") == nil)
        #expect(guests.unlinked("m") == nil)
        guests.opened("m")
        guests.opened("m")
        guests.closed("m", now: .seconds(10))
        #expect(guests.tick(now: .seconds(100)) == [])
        guests.closed("m", now: .seconds(100))
        #expect(guests.tick(now: .seconds(129)) == [])
        guests.opened("m")
        guests.closed("m", now: .seconds(130))
        #expect(guests.tick(now: .seconds(160)) == [.leave(1, .linkLost), .changed("m")])
        #expect(guests.tick(now: .seconds(200)) == [] && guests.present == [])
        // Its slot and its session stay, while no other guest needs them.
        #expect(guests.guest(session: "x") == "m" && guests.unlinked("m") == mia)
        #expect(guests.linked(mia, by: 2, nil, now: .seconds(201)) == [.changed("m")])
        #expect(guests.linked(mia, by: 3, nil, now: .seconds(201)) == [.leave(3, .goodbye())])
    }

    @Test("guests of one phone leave slots to other phones, however many names it has")
    func share() {
        func fill(_ guests: inout WebGuests, _ address: String, _ keys: Range<Int>) -> [Peer] {
            keys.compactMap { number -> Peer? in
                let peer = Peer(id: "\(address) \(number)", name: "Mia")
                guard guests.begins(peer.id, from: address) else { return nil }
                _ = guests.linked(peer, by: number, nil, now: .zero)
                guests.hasCome(peer.id)
                _ = guests.joined(peer, session: peer.id, from: address)
                return peer
            }
        }
        var guests = WebGuests(host: Car.host)
        let own = fill(&guests, "192.168.4.9", 0..<100)
        #expect(own.count == 24)
        let second = fill(&guests, "192.168.4.10", 100..<102), third = fill(&guests, "192.168.4.11", 200..<202)
        #expect(second.count == 2 && third.count == 2)
        // A guest that was away counts like a new one.
        _ = guests.handle(.ended(.linkLost), on: 0, of: own[0].id, now: .zero)
        let isBack = guests.begins(own[0].id)
        #expect(!isBack, "others have come since")
        // Guests that wait for the node count too.
        var waiting = WebGuests(host: Car.host)
        let begun = (0..<100).filter { waiting.begins("\($0)", from: "192.168.4.9") }
        #expect(begun.count == 24)
        let other = waiting.begins("other", from: "192.168.4.10")
        // A proxy or tunnel on this device can serve many phones.
        let here = (0..<32).filter { waiting.begins("here \($0)", from: "127.0.0.1") }
        #expect(other && here.count == 32)
    }

    @Test("guests vote, and see the state of the vote until the host shows it")
    func voting() throws {
        var guests = joined()
        #expect(wants(.vote("s1"), &guests) == [vote(1), .changed("m")] && wish(guests) == "sent")
        // A second tap is harmless, and waits for the same number.
        let asked = guests.want(.vote("s1"), by: "m", now: .zero)
        let again = try #require(asked)
        #expect(again.tapped == .said([], until: 1) && again.actions == [])
        #expect(guests.handle(state(2, voters: ["m"]), on: 1, of: "m", now: .zero) == [.changed("m")])
        #expect(wish(guests) == "confirmed")
        #expect(guests.handle(.acknowledged(1), on: 1, of: "m", now: .zero) == [])
        #expect(guests.tick(now: .seconds(5)) == [.changed("m")] && wish(guests) == nil)
    }

    @Test("guests see why a wish is rejected, and at once if it cannot be sent")
    func rejection() throws {
        var guests = joined()
        _ = wants(.suggest("s9"), &guests)
        _ = guests.handle(.acknowledged(1), on: 1, of: "m", now: .zero)
        _ = guests.handle(.message(.rejection(.suggestSong(songID: "s9"), .queueFull)), on: 1, of: "m", now: .zero)
        let viewpoint = try #require(guests.viewpoint("m"))
        #expect(viewpoint.wishes.entry("s9")?.state == .rejected(.queueFull))
        #expect(viewpoint.notices.current.map(\.code) == ["queueFull"])
        // No song is playing.
        let asked = guests.want(.skip, by: "m", now: .zero)
        let skip = try #require(asked)
        #expect(skip.tapped == .refused(Notice(.nothingPlays)) && skip.actions == [])
    }

    @Test("a guest's vote is sent once more if its song has left the queue before the vote was shown")
    func unshown() throws {
        var guests = joined()
        _ = wants(.vote("s1"), &guests)
        _ = guests.handle(.acknowledged(1), on: 1, of: "m", now: .zero)
        let heartbeat = LocalLink.Event.message(.stateHeartbeat(epoch: 1, revision: 1))
        #expect(guests.handle(heartbeat, on: 1, of: "m", now: .seconds(5)) == [])
        #expect(guests.handle(heartbeat, on: 1, of: "m", now: .seconds(10)) == [vote(2)])
        _ = guests.handle(.acknowledged(2), on: 1, of: "m", now: .seconds(10))
        _ = guests.handle(
            .message(.rejection(.vote(songID: "s1"), .alreadyPlayed)), on: 1, of: "m", now: .seconds(10))
        #expect(wish(guests) == "rejected")
    }

    @Test("guests keep their link until their messages are stored, and send again what was lost with a link")
    func safety() throws {
        var guests = joined()
        _ = wants(.vote("s1"), &guests)
        #expect(guests.tick(now: .seconds(60)) == [], "the disk has not answered")
        #expect(guests.handle(.ended(.linkLost), on: 1, of: "m", now: .seconds(61)) == [.changed("m")])
        #expect(wish(guests) == "queued" && guests.present == [])
        #expect(guests.linked(mia, by: 2, snapshot(1), now: .seconds(62)) == [vote(2, on: 2), .changed("m")])
        // The rest of the old link is not read.
        #expect(guests.handle(.acknowledged(2), on: 1, of: "m", now: .seconds(62)) == [])
        _ = guests.handle(.acknowledged(2), on: 2, of: "m", now: .seconds(62))
        #expect(guests.tick(now: .seconds(92)).first == .leave(2, .linkLost))
    }

    @Test("guests that the driver removes are notified, and nothing of them is accepted")
    func banned() throws {
        var guests = joined()
        #expect(guests.handle(.ended(.refused(.banned)), on: 1, of: "m", now: .zero) == [.changed("m")])
        #expect(guests.viewpoint("m")?.ended != nil && guests.present == [] && guests.unlinked("m") == nil)
        let heard = guests.want(.vote("s1"), by: "m", now: .zero)
        #expect(heard == nil)
        #expect(guests.guest(session: "x") == "m", "it keeps its session, so that it can be notified")
    }

    @Test("guests are notified of the end of the session, and are in the next one by a new link")
    func nextSession() throws {
        var guests = joined()
        #expect(guests.handle(.ended(.goodbye(.ended)), on: 1, of: "m", now: .zero) == [.changed("m")])
        #expect(guests.viewpoint("m")?.notices.current.map(\.code) == ["hostEnded"])
        let mia = try #require(guests.unlinked("m"))
        _ = guests.linked(mia, by: 2, nil, now: .zero)
        #expect(guests.present == ["m"] && guests.viewpoint("m")?.connection == .connected)
        #expect(guests.guest(session: "x") == "m", "its page goes on")
        #expect(guests.viewpoint("m")?.notices.current.map(\.code) == ["hostEnded"], "it stays until it was seen")
        #expect(guests.retried("m") == [.changed("m")])
        #expect(guests.viewpoint("m")?.notices.current.isEmpty == true)
    }

    @Test("guests that leave are gone at once, with their session")
    func leaving() throws {
        var guests = joined()
        #expect(guests.leave("m") == [.leave(1, .goodbye())])
        #expect(guests.guest(session: "x") == nil && guests.viewpoint("m") == nil)
        guests.closed("m", now: .zero)
    }

    @Test("guests with a new name or a new cookie are the same guests")
    func again() throws {
        var guests = joined()
        let renamed = Peer(id: "m", name: "Mia M.")
        #expect(guests.joined(renamed, session: "y") == [.rename(1, renamed), .changed("m")])
        #expect(guests.guest(session: "x") == "m" && guests.guest(session: "y") == "m")
        for number in 0..<10 { _ = guests.joined(renamed, session: "s\(number)") }
        #expect(guests.guest(session: "x") == nil && guests.guest(session: "s9") == "m")
    }

    @Test("a new guest gets the slot of the guest that was away for longest, and never that of one with an open page")
    func full() throws {
        var guests = WebGuests(host: Car.host)
        let all = (0..<DashboardLimits.webGuests).map { Peer(id: "p\($0)", name: "P") }
        for (number, peer) in all.enumerated() {
            _ = guests.linked(peer, by: number, nil, now: .seconds(number))
            _ = guests.joined(peer, session: peer.id)
            guests.opened(peer.id)
        }
        #expect(guests.makeRoom(for: "m") == [] && guests.present.count == all.count)
        guests.closed("p5", now: .seconds(100))
        guests.closed("p4", now: .seconds(101))
        #expect(guests.makeRoom(for: "p4") == [], "it has a place")
        #expect(guests.makeRoom(for: "m") == [.leave(5, .linkLost)])
        #expect(guests.guest(session: "p5") == nil && guests.guest(session: "p4") == "p4")
    }
}
