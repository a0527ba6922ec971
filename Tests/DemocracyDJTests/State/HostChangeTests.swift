// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("Changes of the host's state")
struct HostChangeTests {
    /// The change as it arrives at a guest.
    private func carried(_ change: HostChange) throws -> HostChange {
        let message = try #require(MeshMessage(encoded: MeshMessage.stateChange(change).encoded))
        guard case .stateChange(let arrived) = message else { throw NotAChange() }
        #expect(arrived == change)
        return arrived
    }

    private struct NotAChange: Error {}

    @Test("a guest that applies every change has the host's exact state", arguments: 0..<20)
    func exact(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        var state = RandomState.any(1, using: &dice)
        for step in 0..<100 {
            // Sometimes everything is different.
            let next =
                step.isMultiple(of: 10)
                ? RandomState.any(state.revision + 1, using: &dice) : RandomState.next(state, using: &dice)
            let change = try carried(try #require(HostChange(from: state, to: next)))
            #expect(state.applying(change) == next)
            state = next
        }
    }

    @Test("a change over many revisions gives the same state as all single ones")
    func addedUp() throws {
        var dice = Dice(seed: 5)
        let first = RandomState.any(1, using: &dice)
        var last = first
        for _ in 0..<50 { last = RandomState.next(last, using: &dice) }
        #expect(first.applying(try #require(HostChange(from: first, to: last))) == last)
    }

    @Test("a change has no effect on a state that it does not build on")
    func otherBase() throws {
        var dice = Dice(seed: 6)
        let state = RandomState.any(4, using: &dice)
        let change = try #require(HostChange(from: state, to: RandomState.any(5, using: &dice)))
        var other = state
        other.revision = 3
        #expect(other.applying(change) == nil)
        other = state
        other.epoch += 1
        #expect(other.applying(change) == nil)
    }

    @Test("no change gives an earlier state or another run of the host")
    func noChange() {
        var dice = Dice(seed: 7)
        let state = RandomState.any(4, using: &dice)
        #expect(HostChange(from: state, to: state) == nil)
        var other = state
        other.revision = 3
        #expect(HostChange(from: state, to: other) == nil)
        other = state
        other.epoch += 1
        other.revision = 9
        #expect(HostChange(from: state, to: other) == nil)
    }

    @Test("a change that would fill the queue beyond its limit is invalid")
    func overfilled() throws {
        let songs = (0...DJLimits.queuedSongs).map { Song(id: "\($0)", title: "", artist: "", duration: 1) }
        let empty = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: [])
        var full = empty
        full.revision = 2
        full.queue = songs.map { QueueItem(song: $0, addedBy: "x") }
        #expect(empty.applying(try #require(HostChange(from: empty, to: full))) == nil)
        full.queue.removeLast()
        #expect(empty.applying(try #require(HostChange(from: empty, to: full))) == full)
    }

    @Test("a change that adds an existing guest or song is invalid", arguments: [0, 1, 20])
    func twice(others: Int) throws {
        var state = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: [])
        for number in 0..<others + 3 {
            state.queue.append(
                QueueItem(song: Song(id: "s\(number)", title: "", artist: "", duration: 1), addedBy: "x"))
            state.connectedPeers.append(Peer(id: "p\(number)", name: ""))
        }
        for place in [0, others + 3] {
            var guests = state
            guests.revision = 2
            guests.connectedPeers.insert(Peer(id: "p1", name: "again"), at: place)
            #expect(state.applying(try #require(HostChange(from: state, to: guests))) == nil)
            guests.connectedPeers[place].id = "new"
            #expect(state.applying(try #require(HostChange(from: state, to: guests))) == guests)
            var songs = state
            songs.revision = 2
            songs.queue.insert(
                QueueItem(song: Song(id: "s1", title: "again", artist: "", duration: 1), addedBy: "y"), at: place)
            #expect(state.applying(try #require(HostChange(from: state, to: songs))) == nil)
        }
    }

    @Test("a change that moves a song to two positions is invalid")
    func movedTwice() throws {
        var state = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: [])
        for number in 0..<5 {
            state.queue.append(
                QueueItem(song: Song(id: "s\(number)", title: "", artist: "", duration: 1), addedBy: "x"))
        }
        var change = HostChange(epoch: 1, base: 1, revision: 2)
        change.queue.inserted = [ListChange.Insertion(at: 0, source: .moved(from: 3))]
        #expect(state.applying(change)?.queue.map(\.song.id) == ["s3", "s0", "s1", "s2", "s4"])
        change.queue.inserted.append(ListChange.Insertion(at: 1, source: .moved(from: 3)))
        #expect(state.applying(change) == nil)
    }

    @Test("a shared change gives the same state for each of its base states, and each has its own time")
    func shared() throws {
        let reading = SharedReading()
        var state = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [],
            connectedPeers: [Peer(id: "p", name: "")])
        var target = state
        (target.revision, target.unnamedGuests) = (2, 3)
        let bytes = MeshMessage.stateChange(try #require(HostChange(from: state, to: target))).encoded
        guard case .stateChange(let change)? = reading.message(bytes) else { throw HostChangeTestsError.noChange }
        for elapsed in [0, 7.5] {
            (state.elapsed, target.elapsed) = (elapsed, elapsed)
            #expect(state.applying(change) == target)
        }
        (state.hasSound, target.hasSound) = (false, false)
        #expect(state.applying(change) == target, "another state of this revision")
        state.revision = 5
        #expect(state.applying(change) == nil)
    }

    private enum HostChangeTestsError: Error { case noChange }

    // MARK: Sizes

    private func size(of event: HostFeature.Event) throws -> Int {
        var host = FullCar.host()
        let before = host.snapshot
        _ = host.handle(event, now: .zero)
        let change = try #require(HostChange(from: before, to: host.snapshot))
        #expect(before.applying(change) == host.snapshot)
        #expect(before.queue.count == 75)
        return MeshMessage.stateChange(change).encoded.count
    }

    @Test("one more vote, which moves its song up a long queue, is small on the air")
    func voteSize() throws {
        let host = FullCar.host()
        let last = try #require(host.snapshot.queue.last)
        let bytes = try size(of: Example.intent(.vote(songID: last.id), from: FullCar.guests[7]))
        #expect(bytes <= 64, "\(bytes) bytes")
    }

    @Test("a joining guest costs little more than its name")
    func joinSize() throws {
        let guest = Peer(id: RandomState.identifier(50), name: "Somebody Else")
        let bytes = try size(of: .multipeerEvent(.peerConnected(guest))) - guest.name.utf8.count
        #expect(bytes <= 40, "\(bytes) bytes")
    }

    @Test("the next song is small on the air")
    func skipSize() throws {
        let bytes = try size(of: .command(.skip))
        #expect(bytes <= 40, "\(bytes) bytes")
    }
}
