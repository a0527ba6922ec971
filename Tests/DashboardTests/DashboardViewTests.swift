// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import TestSupport
import Testing

@testable import Dashboard
@testable import NodeCore

@Suite("The content of the page")
struct DashboardViewTests {
    private static let ana = Peer(id: "a", name: "Ana"), bob = Peer(id: "b", name: "Bob")

    private func node(_ role: NodeDescription.Role) -> NodeWatch {
        let peer = role == .host ? Car.host : Self.ana
        return NodeWatch(
            NodeDescription(role: role, peer: peer, radio: "virtual car", service: .democracyDJ),
            NodeWatch.Surroundings(pictureAddress: { "/art/" + PercentCoding.encoded($0) }))
    }

    @Test("a typing error at the terminal is not on the page, and what a tap has led to is")
    func typed() async throws {
        let car = try await Car()
        await car.dashboard.take(.notice(Notice(.badCommand("kik Bob", expected: "kick NAME"))))
        await car.dashboard.take(.notice(Notice(.nothingPlays)))
        #expect(await car.dashboard.view.own.notices.current.map(\.code) == ["nothingPlays"])
        try await car.stop()
    }

    private func snapshot(
        playing: QueueItem? = QueueItem(song: Car.songs[0], addedBy: "h0"), queue: [QueueItem] = [],
        peers: [Peer] = [ana, bob], elapsed: Double = 10, isPlaying: Bool = true, skipVoters: [Peer.ID] = []
    ) -> HostSnapshot {
        HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: playing, isPlaying: isPlaying, elapsed: elapsed, queue: queue,
            connectedPeers: peers, skipVoters: skipVoters)
    }

    private func page(_ view: NodeWatch, at seconds: Int = 0, web: Set<Peer.ID> = []) -> NodeView {
        view.page(for: view.own, webGuests: web, version: 7, now: .seconds(seconds))
    }

    @Test("a queue shows votes, the guests that asked and those that voted, even if they have left")
    func queue() throws {
        var view = node(.guest)
        let items = [
            QueueItem(song: Car.songs[1], addedBy: "b", voters: ["b", "a", "x"]),
            QueueItem(song: Car.songs[2], addedBy: "x"),
        ]
        #expect(view.handle(.snapshot(snapshot(queue: items), isStale: false), now: .zero) == .now)
        _ = view.handle(.snapshot(snapshot(queue: items, peers: []), isStale: false), now: .zero)
        let page = page(view)
        let first = try #require(page.queue.first)
        #expect(first.addedByName == "Bob" && first.votes == 3 && first.mine)
        #expect(first.voters.map(\.name) == ["Bob", "Ana", nil])
        #expect(page.queue.map(\.id) == ["s2", "s3"] && page.queue[1].addedByName == nil && !page.queue[1].mine)
        #expect(page.nowPlaying?.id == "s1" && page.guests.isEmpty)
    }

    @Test("a guest that was started for one host says which, until it has joined one")
    func wanted() {
        var description = NodeDescription(role: .guest, peer: Self.ana, radio: "virtual", service: .democracyDJ)
        description.wantedHost = "Nowhere"
        var view = NodeWatch(description, NodeWatch.Surroundings())
        #expect(page(view).wanted == "Nowhere")
        _ = view.handle(.peerConnected(Car.host), now: .zero)
        #expect(page(view).wanted == nil)
        #expect(page(node(.guest)).wanted == nil)
    }

    @Test("without sound the clock stands still, for the driver and for guests")
    func noSound() {
        var (host, guest) = (node(.host), node(.guest))
        var silent = snapshot(isPlaying: false)
        silent.hasSound = false
        for state in [snapshot(), silent] {
            _ = host.handle(.snapshot(state, isStale: false), now: .zero)
            _ = guest.handle(.snapshot(state, isStale: false), now: .zero)
            let heard = Playback(
                song: Car.songs[0], isPlaying: true, hasSound: state.hasSound, elapsed: .seconds(10), next: nil)
            _ = host.handle(.playback(heard), now: .zero)
        }
        #expect(page(host, at: 20).sound == false && page(host, at: 20).elapsed == 10 && page(host).isPlaying)
        #expect(page(guest, at: 20).sound == false && page(guest, at: 20).elapsed == 10 && !page(guest).isPlaying)
        #expect(
            host.handle(
                .playback(
                    Playback(song: Car.songs[0], isPlaying: false, hasSound: false, elapsed: .seconds(10), next: nil)),
                now: .zero) == .now)
        #expect(!page(host).isPlaying)
        _ = guest.handle(.snapshot(snapshot(), isStale: false), now: .seconds(30))
        #expect(page(guest, at: 35).sound == true && page(guest, at: 35).elapsed == 15)
    }

    @Test("the elapsed time of a song advances automatically, until its end and not in a pause")
    func elapsed() {
        var view = node(.guest)
        _ = view.handle(.snapshot(snapshot(), isStale: false), now: .seconds(100))
        #expect(page(view, at: 100).elapsed == 10)
        #expect(page(view, at: 125).elapsed == 35)
        #expect(page(view, at: 1_000).elapsed == 300)
        _ = view.handle(.snapshot(snapshot(isPlaying: false), isStale: false), now: .seconds(200))
        #expect(page(view, at: 300).elapsed == 10)
        _ = view.handle(.snapshot(snapshot(playing: nil), isStale: false), now: .seconds(200))
        #expect(page(view, at: 300).elapsed == 0)
    }

    @Test("the player's report sets the time, and is a change only if it was unexpected")
    func playback() {
        var view = node(.host)
        _ = view.handle(.snapshot(snapshot(), isStale: false), now: .zero)
        func playback(_ song: Int, _ elapsed: Double) -> NodeEvent {
            .playback(Playback(song: Car.songs[song], isPlaying: true, elapsed: .seconds(elapsed), next: nil))
        }
        #expect(view.handle(playback(0, 15.5), now: .seconds(5)) == .none)
        #expect(page(view, at: 5).elapsed == 15.5)
        #expect(view.handle(playback(0, 60), now: .seconds(6)) == .now)
        #expect(page(view, at: 7).elapsed == 61)
        // It is about another song than the shown one.
        #expect(view.handle(playback(3, 0), now: .seconds(8)) == .none)
        #expect(page(view, at: 8).elapsed == 62)
    }

    @Test("a wish is shown at its song until it has a result, and a short time longer")
    func wishes() {
        var view = node(.guest)
        let queue = [QueueItem(song: Car.songs[1], addedBy: "b")]
        _ = view.handle(.snapshot(snapshot(queue: queue), isStale: false), now: .zero)
        _ = view.handle(.wish("s2", .vote, .sent), now: .zero)
        _ = view.handle(.wish("s9", .suggest, .queued), now: .zero)
        #expect(page(view).queue[0].wish?.state == "sent" && page(view).wishes.map(\.songID) == ["s9"])
        #expect(page(view).wishes[0].title == nil)
        // Taking back a vote replaces the state of the same wish.
        _ = view.handle(.wish("s2", .takeBack, .queued), now: .zero)
        #expect(page(view).queue[0].wish?.kind == .takeBack)
        _ = view.handle(.wish("s2", .takeBack, .confirmed), now: .zero)
        _ = view.handle(.wish("s9", .suggest, .rejected(.unknownSong)), now: .seconds(2))
        #expect(page(view).wishes[0].reason == .unknownSong)
        #expect(page(view).wishes[0].sentence == "[s9] is not queued: there is no such song.")
        #expect(view.tick(now: .seconds(4)) == .none)
        #expect(view.tick(now: .seconds(5)) == .now)
        #expect(page(view).queue[0].wish == nil && page(view).wishes.count == 1)
        #expect(view.tick(now: .seconds(7)) == .now)
        #expect(page(view).wishes.isEmpty)
    }

    @Test("connection and radio problems stay at the top until they are over, and others disappear automatically")
    func notices() {
        var view = node(.guest)
        _ = view.handle(.notice(Notice(.connectionLost(host: Car.host))), now: .zero)
        _ = view.handle(.notice(Notice(.radioOff)), now: .zero)
        _ = view.handle(.notice(Notice(.cannotAdd("s9", .queueFull))), now: .zero)
        _ = view.handle(.notice(Notice(.storageFull)), now: .zero)
        let shown = page(view).notices
        #expect(shown.map(\.kind) == [.banner, .banner, .toast, .toast])
        #expect(shown.map(\.id) == [1, 2, 3, 4])
        // A notice that is raised again gets a new id, so that a person who has dismissed it sees it.
        _ = view.handle(.notice(Notice(.radioOff)), now: .seconds(1))
        #expect(page(view).notices.map(\.id) == [1, 3, 4, 5])
        #expect(view.tick(now: .seconds(5)) == .now)
        #expect(page(view).notices.map(\.code) == ["connectionLost", "storageFull", Notice.outageCode])
        #expect(view.handle(.noticeCleared(code: "connectionLost"), now: .seconds(6)) == .now)
        #expect(view.handle(.noticeCleared(code: "connectionLost"), now: .seconds(6)) == .none)
        #expect(page(view).notices.map(\.code) == ["storageFull", Notice.outageCode])
        for problem in CommandProblem.every { _ = view.handle(.notice(Notice(problem)), now: .seconds(7)) }
        #expect(page(view).notices.count == DJLimits.notices)
        #expect(page(view).notices.first?.code == "storageFull")
    }

    @Test("a guest's view in a tunnel shows its hosts, its connection, and that the queue is old")
    func connection() {
        var view = node(.guest)
        #expect(page(view).connection == .connecting && page(view).role == .guest)
        _ = view.handle(.peerDiscovered(HeardNode(Car.host, rssi: -60)), now: .zero)
        #expect(view.handle(.peerDiscovered(HeardNode(Car.host, rssi: -61)), now: .zero) == .soon)
        #expect(page(view).hosts == [.init(id: "h0", name: "Dad's Car", rssi: -61)])
        _ = view.handle(.peerConnected(Car.host), now: .zero)
        _ = view.handle(.connection(.connected), now: .zero)
        _ = view.handle(.snapshot(snapshot(), isStale: false), now: .zero)
        #expect(page(view).host?.name == "Dad's Car" && !page(view).isStale && page(view).hosts.isEmpty)
        _ = view.handle(.peerDisconnected(Car.host, .linkLost), now: .zero)
        _ = view.handle(.connection(.reconnecting(attempt: 2)), now: .zero)
        #expect(page(view).connection == .reconnecting && page(view).attempt == 2 && page(view).isStale)
        _ = view.handle(.connection(.connected), now: .zero)
        #expect(page(view).isStale && page(view).attempt == 0)
        _ = view.handle(.snapshot(snapshot(), isStale: false), now: .zero)
        #expect(!page(view).isStale)
        _ = view.handle(.peerLost(Car.host), now: .zero)
        _ = view.handle(.connection(.failed(.connectionFailed(reason: "x"))), now: .zero)
        #expect(page(view).connection == .failed && page(view).hosts.isEmpty)
    }

    @Test("the page shows who is connected, their signal, and who wants to skip")
    func guests() {
        var view = node(.host)
        view.surroundings.majoritySkip = true
        _ = view.handle(.snapshot(snapshot(skipVoters: ["b"]), isStale: false), now: .zero)
        let report = LinkReport(rssi: -61, roundTrip: .milliseconds(43))
        #expect(view.handle(.link(Self.bob, report), now: .zero) == .soon)
        let page = page(view, web: ["a"])
        #expect(page.role == .host && page.connection == .hosting && page.radio == "virtual")
        #expect(page.guests.map(\.isWeb) == [true, false] && page.guests.map(\.rssi) == [nil, -61])
        #expect(page.guests[1].roundTrip == 43)
        #expect(page.skip == .init(allowed: true, votes: 1, needed: 2, mine: false))
        _ = view.handle(.peerDisconnected(Self.bob, .goodbye), now: .zero)
        #expect(self.page(view).guests[1].rssi == nil)
    }

    @Test("in a crowd a guest sees itself, the guests that the host names, and the number of others")
    func crowd() {
        var (guest, host) = (node(.guest), node(.host))
        var state = snapshot(peers: [Self.bob], skipVoters: ["b"])
        state.unnamedGuests = 212
        _ = guest.handle(.snapshot(state, isStale: false), now: .zero)
        #expect(page(guest).guests.map(\.name) == ["Bob", "Ana"] && page(guest).guests[1].isMe)
        #expect(page(guest).moreGuests == 211)
        #expect(page(guest).skip.needed == 107)
        _ = host.handle(.snapshot(state, isStale: false), now: .zero)
        #expect(page(host).guests.map(\.name) == ["Bob"] && page(host).moreGuests == 212)
        state.unnamedGuests = 0
        _ = guest.handle(.snapshot(state, isStale: false), now: .zero)
        #expect(page(guest).guests.map(\.name) == ["Bob"] && page(guest).moreGuests == 0)
    }

    @Test("a guest that was refused a skip is not offered it again, until it has another host")
    func skipping() {
        var view = node(.guest)
        _ = view.handle(.peerConnected(Car.host), now: .zero)
        #expect(page(view).skip.allowed)
        _ = view.handle(.notice(Notice(.cannotAdd("s1", .skippingNotAllowed))), now: .zero)
        _ = view.handle(.peerConnected(Car.host), now: .zero)
        #expect(!page(view).skip.allowed)
        _ = view.handle(.peerConnected(Self.bob), now: .zero)
        #expect(page(view).skip.allowed)
    }

    @Test("the page shows covers, the library, and the end")
    func theRest() {
        var view = node(.host)
        let odd = Song(id: "a/b c", title: "T\u{202E}\n", artist: "A", duration: 1)
        let item = QueueItem(song: odd, addedBy: "h0")
        _ = view.handle(.snapshot(snapshot(playing: nil, queue: [item]), isStale: false), now: .zero)
        #expect(page(view).queue[0].art == nil && page(view).queue[0].title == "T")
        _ = view.handle(.artwork("a/b c", path: "/x"), now: .zero)
        #expect(page(view).queue[0].art == "/art/a%2fb%20c" && view.picture("a/b c") == "/x")
        #expect(view.take(LibraryCount(songs: 10, scanned: 1, toScan: 9)) == .now)
        #expect(view.take(LibraryCount(songs: 20, scanned: 2, toScan: 9)) == .soon)
        #expect(view.take(LibraryCount(songs: 20, scanned: 2, toScan: 9)) == .none)
        #expect(view.take(LibraryCount(songs: 90)) == .now)
        #expect(view.handle(.bye(.quit), now: .zero) == .now)
        #expect(page(view).ended != nil && page(view).library == LibraryCount(songs: 90))
        #expect(view.end() == .none)
    }

    @Test("a page whose node was stopped by the system shows which node stopped, and what is saved")
    func stopped() {
        for (role, words) in [
            (NodeDescription.Role.host, "The host is off. The queue is saved."),
            (.guest, "This guest is off. Its votes are saved."),
        ] {
            var view = node(role)
            #expect(view.end() == .now)
            #expect(page(view).ended == words)
        }
    }

    @Test("a guest's song continues in a gap, and stops when its host has said goodbye")
    func goodbye() {
        for (reason, elapsed) in [(DisconnectReason.linkLost, 70.0), (.goodbye, 15)] {
            var view = node(.guest)
            _ = view.handle(.peerConnected(Car.host), now: .zero)
            _ = view.handle(.snapshot(snapshot(), isStale: false), now: .zero)
            _ = view.handle(.peerDisconnected(Car.host, reason), now: .seconds(5))
            let shown = page(view, at: 60)
            #expect(shown.elapsed == elapsed && shown.isPlaying == (reason == .linkLost), "\(reason)")
            _ = view.handle(.peerConnected(Car.host), now: .seconds(60))
            #expect(view.isPlaying)
        }
    }

    @Test("after quit the page shows that the queue is saved")
    func ends() {
        var view = node(.host)
        _ = view.handle(.bye(.quit), now: .zero)
        #expect(page(view).ended?.contains("The queue is saved.") == true)
        let passenger = Viewpoint(.webGuest, me: Peer(id: "m", name: "Mia"), connection: .connected)
        let told = view.page(for: passenger, webGuests: [], version: 1, now: .zero).ended
        #expect(told?.contains("The queue is saved.") == true)
    }

    @Test("a missing value is null, as in the contract")
    func nulls() throws {
        let text = String(decoding: try JSONLine.bytes(page(node(.guest))), as: UTF8.self)
        for field in ["host", "nowPlaying", "invitation", "library", "ended"] {
            #expect(text.contains("\"\(field)\":null"), "\(field)")
        }
        #expect(text.contains("\"queue\":[]") && !text.contains("\n"))
    }

    @Test("a host counts once however many relays lead to it, and is in range while it or one of them is heard")
    func relays() {
        var view = node(.guest)
        let far = Peer(id: Car.host.id, name: "Dad's")
        _ = view.handle(.peerDiscovered(HeardNode(far, relay: "r2", hops: 2, rssi: -70, hasRoom: true)), now: .zero)
        #expect(page(view).hosts.first?.hops == 2 && page(view).hosts.first?.name == "Dad's")
        _ = view.handle(.peerDiscovered(HeardNode(far, relay: "r1", hops: 1, rssi: -60, hasRoom: false)), now: .zero)
        _ = view.handle(.peerDiscovered(HeardNode(Car.host, rssi: -50)), now: .zero)
        _ = view.handle(.peerDiscovered(HeardNode(far, relay: "r2", hops: 2, rssi: -71, hasRoom: true)), now: .zero)
        let relays: [NodeView.HeardRelay] = [
            .init(id: "r1", hops: 1, room: false, rssi: -60), .init(id: "r2", hops: 2, room: true, rssi: -71),
        ]
        #expect(page(view).hosts == [.init(id: "h0", name: "Dad's Car", rssi: -50, hops: 0, relays: relays)])
        _ = view.handle(.peerLost(Car.host), now: .zero)
        #expect(page(view).hosts == [.init(id: "h0", name: "Dad's Car", rssi: nil, hops: 1, relays: relays)])
        _ = view.handle(.peerLost(far, via: "r1"), now: .zero)
        #expect(page(view).hosts.first?.hops == 2)
        _ = view.handle(.peerDiscovered(HeardNode(Car.host)), now: .zero)
        _ = view.handle(.peerLost(far, via: "r2"), now: .zero)
        #expect(page(view).hosts == [.init(id: "h0", name: "Dad's Car", rssi: nil)])
        _ = view.handle(.peerLost(Car.host), now: .zero)
        #expect(page(view).hosts.isEmpty)
    }

    private static func link(
        _ rssi: Int? = nil, hops: Int = 0, via: Peer.ID? = nil, circuits: Int? = nil
    ) -> LinkReport {
        var report = LinkReport(rssi: rssi)
        (report.relays, report.via, report.circuits) = (hops, via, circuits)
        return report
    }

    /// The guests in a short notation: "Name<relay hops*carries".
    private func tree(_ view: NodeWatch) -> [String] {
        page(view).guests.map { guest in
            [
                guest.name, guest.via.map { "<\($0.name ?? $0.id)" }, guest.hops.map { " \($0)" },
                guest.carries.map { "*\($0)" },
            ].compactMap(\.self).joined()
        }
    }

    @Test("a host shows the tree: each guest behind its relay, and the number of guests of a relay")
    func tree() {
        var view = node(.host)
        let names = ["Ana", "Bob", "One", "Kim", "Two"]
        let peers = names.map { Peer(id: $0.lowercased() + "0000000000000000", name: $0) }
        _ = view.handle(.snapshot(snapshot(peers: peers), isStale: false), now: .zero)
        _ = view.handle(.link(peers[1], Self.link(-50)), now: .zero)
        #expect(tree(view) == ["Ana", "Bob 0", "One", "Kim", "Two"])
        _ = view.handle(.link(peers[2], Self.link(-70, circuits: 3)), now: .zero)
        _ = view.handle(.link(peers[4], Self.link(hops: 1, via: "one00000")), now: .zero)
        _ = view.handle(.link(peers[0], Self.link(hops: 2, via: "two00000")), now: .zero)
        _ = view.handle(.link(peers[3], Self.link(hops: 1, via: "one00000")), now: .zero)
        #expect(tree(view) == ["Bob 0", "One 0*3", "Kim<One 1", "Two<One 1*1", "Ana<Two 2"])
        #expect(page(view).guests.map(\.rssi) == [-50, -70, nil, nil, nil])
        // A relay that has left, or that is unknown.
        _ = view.handle(.snapshot(snapshot(peers: Array(peers.prefix(4))), isStale: false), now: .zero)
        #expect(tree(view) == ["Ana<two00000 2", "Bob 0", "One 0*1", "Kim<One 1"])
    }

    @Test("relays that claim to be behind each other are shown once each, and no guest is left out")
    func ring() {
        var view = node(.host)
        let peers = ["a", "b", "c", "d"].map { Peer(id: $0 + "0000000000", name: $0) }
        _ = view.handle(.snapshot(snapshot(peers: peers), isStale: false), now: .zero)
        for (peer, via) in zip(peers, ["b0000000", "c0000000", "a0000000", "d0000000"]) {
            _ = view.handle(.link(peer, Self.link(hops: 200, via: via)), now: .zero)
        }
        #expect(page(view).guests.map(\.name).sorted() == ["a", "b", "c", "d"])
    }

    @Test("a guest shows the relay that it joined through, and a relay the guests behind it while they are there")
    func ownWay() {
        var view = node(.guest)
        let (one, kim) = (Peer(id: "one00000beef", name: "One"), Peer(id: "kim00000beef", name: "Kim"))
        _ = view.handle(.snapshot(snapshot(peers: [Self.ana, one, kim]), isStale: false), now: .zero)
        _ = view.handle(.peerConnected(Car.host), now: .zero)
        _ = view.handle(.connection(.connected), now: .zero)
        _ = view.handle(.link(one, Self.link(-64, circuits: 4)), now: .zero)
        _ = view.handle(.link(Car.host, Self.link(hops: 1, via: one.id)), now: .zero)
        #expect(tree(view) == ["Ana<One 1", "One", "Kim"])
        #expect(page(view).guests.map(\.rssi) == [-64, -64, nil])
        _ = view.handle(.link(kim, Self.link(-55, circuits: 3)), now: .zero)
        #expect(tree(view) == ["Ana<One 1*3", "One", "Kim<Ana 2*2"])
        #expect(view.handle(.linkEnded(kim), now: .zero) == .soon)
        #expect(tree(view) == ["Ana<One 1", "One", "Kim"])
        // The guest has moved to the host itself.
        _ = view.handle(.linkEnded(one), now: .zero)
        _ = view.handle(.link(Car.host, Self.link(-58)), now: .zero)
        #expect(tree(view).first == "Ana 0" && page(view).guests.first?.rssi == -58)
    }

    @Test("memory does not grow with passing hosts")
    func bounds() {
        var view = node(.guest)
        for number in 0..<100 {
            _ = view.handle(.peerDiscovered(HeardNode(Car.host, relay: "r\(number)", hops: 1)), now: .zero)
        }
        #expect(page(view).hosts.first?.relays.count == NodeLimits.shownRelays)
        for number in 0..<5_000 {
            let peer = Peer(id: "p\(number)", name: "P")
            _ = view.handle(.peerDiscovered(HeardNode(peer)), now: .zero)
            _ = view.handle(.intent(.vote(songID: "s"), from: peer, rejected: nil), now: .zero)
            _ = view.handle(.wish("s\(number)", .vote, .queued), now: .zero)
            _ = view.handle(.artwork("s\(number)", path: "/p"), now: .zero)
        }
        #expect(page(view).hosts.count == NodeLimits.shownHosts)
        #expect(view.own.wishes.entries.count == DJLimits.pendingVotes)
        #expect(view.names.name("p0") == nil && view.names.name("p4999") == "P")
        #expect(view.picture("s0") == nil && view.picture("s4999") == "/p")
        var table = RecentTable<Int, Int>(limit: 100)
        for number in 0..<1_000 { table[number] = number }
        #expect(table.count <= 100 && table[999] == 999 && table[0] == nil)
    }
}
