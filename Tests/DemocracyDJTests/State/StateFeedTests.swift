// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("The states that each guest gets")
struct StateFeedTests {
    private var host = FullCar.host()
    private var feed: StateFeed
    private let ana = FullCar.guests[0].id
    private let bob = FullCar.guests[1].id

    init() {
        feed = StateFeed(host.snapshot)
    }

    private var whole: MeshMessage { .stateUpdate(host.snapshot) }

    private mutating func change() {
        _ = host.handle(.command(host.snapshot.isPlaying ? .pause : .play), now: .zero)
    }

    private func changeSince(_ state: HostSnapshot) throws -> MeshMessage {
        .stateChange(try #require(HostChange(from: state, to: host.snapshot)))
    }

    @Test("a guest gets the full state first, and then changes")
    mutating func wholeThenChanges() throws {
        #expect(feed.handle(.guestConnected(ana)) == [.send(whole, to: ana)])
        #expect(feed.handle(.updateHasLeft(ana)) == [])
        for _ in 0..<3 {
            let before = host.snapshot
            change()
            #expect(feed.handle(.stateChanged(host.snapshot)) == [.send(try changeSince(before), to: ana)])
            #expect(feed.handle(.updateHasLeft(ana)) == [])
        }
    }

    @Test("a guest that comes back gets the changes since its reported state, or a message that there are none")
    mutating func comesBack() throws {
        let had = host.snapshot
        let name = StateName(of: had)
        var (message, state) = feed.welcome(having: name, now: .zero)
        #expect(message == .stateHeartbeat(epoch: had.epoch, revision: had.revision, elapsed: had.elapsed))
        #expect(StateName(of: state) == name)
        change()
        _ = feed.handle(.stateChanged(host.snapshot))
        (message, state) = feed.welcome(having: name, now: .zero)
        guard case .stateChange(let change) = message else {
            Issue.record("it was sent \(message)")
            return
        }
        #expect(had.applying(change) == host.snapshot && state == host.snapshot)
        #expect(feed.handle(.guestConnected(ana, has: state)) == [])
        #expect(message.encoded.count * 20 < whole.encoded.count)
    }

    @Test("a guest that reports no state, an unknown one or an old one gets the full state")
    mutating func comesBackLate() {
        let name = StateName(of: host.snapshot)
        let other = StateName(epoch: host.snapshot.epoch + 1, revision: host.snapshot.revision)
        for unknown in [nil, other] { #expect(feed.welcome(having: unknown, now: .zero).message == whole) }
        for _ in 0..<20 {
            change()
            _ = feed.handle(.stateChanged(host.snapshot))
        }
        #expect(feed.welcome(having: name, now: .zero).message == whole)
    }

    @Test("a relay gets full states for later nodes, at most one byte of them for four of changes")
    mutating func checkpoints() throws {
        #expect(feed.handle(.guestConnected(ana, served: .forOthers)) == [.send(whole, to: ana)])
        var actions = feed.handle(.updateHasLeft(ana))
        var (changes, wholes, checkpoints) = (0, 0, 0)
        while checkpoints < 3 {
            try #require(changes < 100_000, "no checkpoint has come")
            for action in actions {
                switch action {
                case .send(let message, to: _): changes += message.encoded.count
                case .checkpoint(let message, to: _):
                    checkpoints += 1
                    wholes += message.encoded.count
                    #expect(message == whole)
                    #expect(changes >= DJLimits.changesPerCheckpoint * wholes)
                }
            }
            if actions.isEmpty {
                change()
                actions = feed.handle(.stateChanged(host.snapshot))
            } else {
                actions = feed.handle(.updateHasLeft(ana))
            }
        }
        #expect(changes < (DJLimits.changesPerCheckpoint + 1) * wholes)
    }

    @Test("of the guests behind relays that request the full state, some are answered at a time, in their order")
    mutating func crowdThatAsks() {
        let crowd = (0..<10).map { "guest \($0)" }
        for guest in crowd {
            _ = feed.handle(.guestConnected(guest, served: .byRelay))
            _ = feed.handle(.updateHasLeft(guest))
        }
        for (place, guest) in crowd.enumerated() {
            let isAnswered = place < DJLimits.answeredAtOnce
            #expect(feed.handle(.wholeRequested(guest)) == (isAnswered ? [.send(whole, to: guest)] : []))
            #expect(feed.handle(.wholeRequested(guest)) == [])
        }
        #expect(feed.handle(.updateHasLeft(crowd[2])) == [.send(whole, to: crowd[4])])
        #expect(feed.handle(.guestGone(crowd[5])) == [])
        #expect(feed.handle(.guestGone(crowd[0])) == [.send(whole, to: crowd[6])])
        change()
        #expect(feed.handle(.stateChanged(host.snapshot)) == [])
        #expect(feed.handle(.updateHasLeft(crowd[6])) == [.send(whole, to: crowd[7])])
    }

    @Test("of many guests behind relays some get a heartbeat at a time, in turn; near guests get each one")
    mutating func crowdIsTold() {
        let crowd = (0..<3 * DJLimits.heartbeatsAtOnce - 5).map { "guest \($0)" }
        _ = feed.handle(.guestConnected(ana))
        for guest in crowd { _ = feed.handle(.guestConnected(guest, served: .byRelay)) }
        var told: [Peer.ID: Int] = [:]
        for _ in 0..<6 {
            for guest in [ana] + crowd { _ = feed.handle(.updateHasLeft(guest)) }
            let beats = feed.handle(.heartbeat)
            #expect(beats.count <= DJLimits.heartbeatsAtOnce + 1)
            for case .send(.stateHeartbeat, to: let guest) in beats { told[guest, default: 0] += 1 }
        }
        #expect(told[ana] == 6 && crowd.allSatisfy { told[$0] == 2 })
    }

    @Test("while an update waits to be sent, changes are combined into one")
    mutating func slowLink() throws {
        _ = feed.handle(.guestConnected(ana))
        let sent = host.snapshot
        for _ in 0..<5 {
            change()
            #expect(feed.handle(.stateChanged(host.snapshot)) == [])
        }
        #expect(feed.handle(.updateHasLeft(ana)) == [.send(try changeSince(sent), to: ana)])
        #expect(feed.handle(.updateHasLeft(ana)) == [])
    }

    @Test(
        "a guest with paid traffic gets two heartbeats a minute, and the others one every five seconds"
    )
    mutating func metered() {
        _ = feed.handle(.guestConnected(ana, isMetered: true))
        _ = feed.handle(.guestConnected(bob))
        for guest in [ana, bob] { _ = feed.handle(.updateHasLeft(guest)) }
        var beats: [Peer.ID: Int] = [:]
        for _ in 0..<12 {
            for case .send(.stateHeartbeat, let guest) in feed.handle(.heartbeat) {
                beats[guest, default: 0] += 1
                _ = feed.handle(.updateHasLeft(guest))
            }
        }
        #expect(beats == [ana: 2, bob: 12])
    }

    @Test("a slow guest does not delay a fast one")
    mutating func twoSpeeds() throws {
        for guest in [ana, bob] { _ = feed.handle(.guestConnected(guest)) }
        _ = feed.handle(.updateHasLeft(bob))
        let before = host.snapshot
        change()
        #expect(feed.handle(.stateChanged(host.snapshot)) == [.send(try changeSince(before), to: bob)])
    }

    @Test("a new link begins with the full state, even if the old one had an update in transit")
    mutating func newLink() {
        _ = feed.handle(.guestConnected(ana))
        #expect(feed.handle(.guestConnected(ana)) == [.send(whole, to: ana)])
        #expect(feed.handle(.guestGone(ana)) == [])
        change()
        #expect(feed.handle(.stateChanged(host.snapshot)) == [])
        #expect(feed.handle(.updateHasLeft(ana)) == [])
        #expect(feed.handle(.guestConnected(ana)) == [.send(whole, to: ana)])
    }

    @Test("a guest that requests the full state gets it, after the data in transit")
    mutating func asked() {
        _ = feed.handle(.guestConnected(ana))
        // The full state in transit is the answer.
        #expect(feed.handle(.wholeRequested(ana)) == [])
        #expect(feed.handle(.updateHasLeft(ana)) == [])
        #expect(feed.handle(.wholeRequested(ana)) == [.send(whole, to: ana)])
        _ = feed.handle(.updateHasLeft(ana))
        change()
        _ = feed.handle(.stateChanged(host.snapshot))
        #expect(feed.handle(.wholeRequested(ana)) == [])
        #expect(feed.handle(.updateHasLeft(ana)) == [.send(whole, to: ana)])
        #expect(feed.handle(.wholeRequested(bob)) == [])
    }

    @Test("a heartbeat goes to guests that have everything; others learn more from the update in transit")
    mutating func heartbeat() {
        for guest in [ana, bob] { _ = feed.handle(.guestConnected(guest)) }
        _ = feed.handle(.updateHasLeft(ana))
        let beat = MeshMessage.stateHeartbeat(
            epoch: host.snapshot.epoch, revision: host.snapshot.revision, elapsed: 0)
        #expect(feed.handle(.heartbeat) == [.send(beat, to: ana)])
        #expect(feed.handle(.heartbeat) == [], "the last one has not left")
        #expect(feed.handle(.updateHasLeft(ana)) == [])
        #expect(feed.handle(.heartbeat) == [.send(beat, to: ana)])
    }

    @Test("a search result comes after the missing state, and only the last result is sent")
    mutating func answers() throws {
        _ = feed.handle(.guestConnected(ana))
        let sent = host.snapshot
        let answers = (1...2).map { SearchResults(number: $0, songs: []) }
        for answer in answers { #expect(feed.handle(.answered(answer, for: ana)) == []) }
        change()
        _ = feed.handle(.stateChanged(host.snapshot))
        #expect(feed.handle(.updateHasLeft(ana)) == [.send(try changeSince(sent), to: ana)])
        #expect(feed.handle(.updateHasLeft(ana)) == [.send(.searchResults(answers[1]), to: ana)])
        #expect(feed.handle(.updateHasLeft(ana)) == [])
        #expect(feed.handle(.answered(answers[0], for: "nobody")) == [])
    }

    @Test("a change that is larger than the full state is sent as the full state")
    mutating func largeChange() {
        _ = feed.handle(.guestConnected(ana))
        _ = feed.handle(.updateHasLeft(ana))
        // The queue is emptied except for a song: naming the removed songs takes more bytes than naming the rest.
        var state = host.snapshot
        state.revision += 1
        state.nowPlaying = nil
        state.connectedPeers = []
        state.queue = []
        #expect(feed.handle(.stateChanged(state)) == [.send(.stateUpdate(state), to: ana)])
    }

    @Test("in a full bus a vote is sent to each guest once, in a few bytes, however many votes there are")
    mutating func fullBus() throws {
        host = FullBus.host()
        feed = StateFeed(host.snapshot)
        for guest in FullBus.guests {
            #expect(feed.handle(.guestConnected(guest.id)).count == 1)
            _ = feed.handle(.updateHasLeft(guest.id))
        }
        #expect(whole.encoded.count > DJLimits.messageBytes / 2)
        for _ in 0..<3 {
            let before = host.snapshot
            let song = try #require(before.queue.last)
            let voter = try #require(FullBus.people.first { !song.voters.contains($0.id) })
            _ = host.handle(Example.intent(.vote(songID: song.id), from: voter), now: .zero)
            #expect(host.snapshot.queue.first?.id == song.id, "it is the one with the most votes")
            let change = try changeSince(before)
            #expect(change.encoded.count <= 64, "\(change.encoded.count) bytes")
            let actions = feed.handle(.stateChanged(host.snapshot))
            #expect(actions == FullBus.guests.map { StateFeed.Action.send(change, to: $0.id) })
            for guest in FullBus.guests { #expect(feed.handle(.updateHasLeft(guest.id)) == []) }
        }
    }

    @Test("another run of the host is sent as a full state")
    mutating func otherEpoch() {
        _ = feed.handle(.guestConnected(ana))
        _ = feed.handle(.updateHasLeft(ana))
        var state = host.snapshot
        state.epoch += 1
        #expect(feed.handle(.stateChanged(state)) == [.send(.stateUpdate(state), to: ana)])
    }

    @Test("data beyond a message's size are left out, and later changes still fit")
    mutating func hugeStates() throws {
        let text = String(repeating: "x", count: DJLimits.songTextBytes)
        let art = String(repeating: "x", count: DJLimits.albumArtURLBytes)
        var state = host.snapshot
        state.queue = (0..<DJLimits.queuedSongs).map {
            let song = Song(id: "\($0)", title: text, artist: text, duration: 1, albumArtURL: art)
            return QueueItem(song: song, addedBy: ana)
        }
        feed = StateFeed(state)
        var guest = GuestFeature(local: FullCar.guests[0])
        _ = guest.handle(.multipeerEvent(.peerConnected(host.local)))
        var actions = feed.handle(.guestConnected(ana))
        for _ in 0..<20 {
            for case .send(let message, _) in actions {
                let arrived = try #require(MeshMessage(encoded: message.encoded))
                let effects = guest.handle(.multipeerEvent(.messageReceived(arrived, from: host.local)))
                #expect(effects.count == 1, "it is shown, and nothing is asked for")
            }
            _ = feed.handle(.updateHasLeft(ana))
            state.queue.removeFirst()
            state.revision += 1
            actions = feed.handle(.stateChanged(state))
        }
        #expect(guest.state.hostSnapshot?.queue.first?.id == "19")
    }
}

@Suite("Guests of different speeds")
struct SpeedTests {
    /// A guest whose updates take this many turns to send.
    private struct Passenger {
        let peer: Peer
        let turns: Int
        var feature: GuestFeature
        var underWay: (message: MeshMessage, turnsLeft: Int)?
        var updates = 0
    }

    @Test("eight guests, from a fast link to a very slow one, end with the same state", arguments: 0..<3)
    func eightGuests(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        var host = FullCar.host()
        var feed = StateFeed(host.snapshot)
        var passengers = zip(FullCar.guests, [1, 1, 2, 3, 5, 8, 20, 50]).map { peer, turns in
            Passenger(peer: peer, turns: turns, feature: GuestFeature(local: peer))
        }
        for index in passengers.indices {
            _ = passengers[index].feature.handle(.multipeerEvent(.peerConnected(host.local)))
            let actions = feed.handle(.guestConnected(passengers[index].peer.id))
            carryOut(actions, &passengers)
        }
        for turn in 0..<300 {
            if turn < 200, let state = happen(&host, using: &dice) {
                carryOut(feed.handle(.stateChanged(state)), &passengers)
            }
            for index in passengers.indices { try step(index, &passengers, &feed, host.local) }
        }
        for passenger in passengers { #expect(passenger.feature.state.hostSnapshot == host.snapshot) }
        let updates = passengers.map(\.updates)
        #expect(updates == updates.sorted(by: >), "the slower the link, the fewer updates")
    }

    private func happen(_ host: inout HostFeature, using dice: inout Dice) -> HostSnapshot? {
        let before = host.snapshot.revision
        let guest = FullCar.guests.randomElement(using: &dice) ?? host.local
        switch Int.random(in: 0..<20, using: &dice) {
        case 0: _ = host.handle(.command(.skip), now: .zero)
        case 1: _ = host.handle(.multipeerEvent(.peerDisconnected(guest)), now: .zero)
        case 2: _ = host.handle(.multipeerEvent(.peerConnected(guest)), now: .zero)
        default:
            let songID = host.library.songs.randomElement(using: &dice)?.id ?? ""
            _ = host.handle(Example.intent(.suggestSong(songID: songID), from: guest), now: .zero)
        }
        return host.snapshot.revision > before ? host.snapshot : nil
    }

    private func carryOut(_ actions: [StateFeed.Action], _ passengers: inout [Passenger]) {
        for case .send(let message, let id) in actions {
            guard let index = passengers.firstIndex(where: { $0.peer.id == id }) else { continue }
            #expect(passengers[index].underWay == nil, "one update a guest is under way")
            passengers[index].underWay = (message, passengers[index].turns)
        }
    }

    private func step(
        _ index: Int, _ passengers: inout [Passenger], _ feed: inout StateFeed, _ host: Peer
    ) throws {
        guard let (message, turnsLeft) = passengers[index].underWay else { return }
        passengers[index].underWay = (message, turnsLeft - 1)
        guard turnsLeft == 1 else { return }
        passengers[index].underWay = nil
        passengers[index].updates += 1
        let arrived = try #require(MeshMessage(encoded: message.encoded))
        let effects = passengers[index].feature.handle(.multipeerEvent(.messageReceived(arrived, from: host)))
        #expect(!effects.contains(.request(.stateRequest, from: host.id)))
        carryOut(feed.handle(.updateHasLeft(passengers[index].peer.id)), &passengers)
    }
}
