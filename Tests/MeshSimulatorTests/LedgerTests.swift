// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshSimulator

@Suite("The ledger of messages")
struct LedgerTests {
    private var ledger = Ledger()
    private var disks: [Peer.ID: StoredNode] = ["ana": StoredNode(), "car": StoredNode()]

    /// Ana's key of her conversation with the car.
    private static let car = ConversationKey("car", as: .initiator, .democracyDJ)

    private static func remembered(_ epoch: UInt32) -> MeshCore.Remembered {
        MeshCore.Remembered(
            publicKey: [],
            conversation: Conversation.Durable(epoch: epoch, lastNumber: 0, outbox: [], theirEpoch: 0, accepted: 0))
    }

    private mutating func write(_ node: Peer.ID, _ fill: (inout StoreBatch) -> Void) throws -> [Invariant] {
        var batch = StoreBatch()
        fill(&batch)
        let before = try #require(disks[node])
        try disks[node]?.apply(batch)
        return ledger.commit(batch, of: node, before: before, disk: { disks[$0] }).map(\.0)
    }

    private mutating func says(_ number: UInt64, _ intent: GuestIntent = .vote(songID: "s1")) throws -> [Invariant] {
        try write("ana") {
            let body = MeshMessage.intent(intent).encoded
            $0.outgoing = [.init(conversation: Self.car, number: number, body: body, remembered: Self.remembered(7))]
        }
    }

    private mutating func hears(_ number: UInt64) throws -> [Invariant] {
        try write("car") {
            $0.receipts = [
                .init(
                    conversation: Self.car.mirrored(for: "ana"), epoch: 7, number: number,
                    remembered: Self.remembered(3))
            ]
        }
    }

    @Test("a message that is sent and written at its receiver violates nothing, and is known by its number")
    mutating func inOrder() throws {
        #expect(try says(1) == [] && says(2, .takeBackVote(songID: "s1")) == [])
        #expect(try hears(1) == [] && hears(2) == [])
        var batch = StoreBatch()
        batch.receipts = [
            .init(conversation: Self.car.mirrored(for: "ana"), epoch: 7, number: 2, remembered: Self.remembered(3))
        ]
        let intents = ledger.intents(in: batch, of: "car")
        #expect(intents.map(\.intent) == [.takeBackVote(songID: "s1")] && intents.map(\.guest) == ["ana"])
        let disk = try #require(disks["car"])
        #expect(ledger.acknowledged(upTo: 2, in: Self.car, from: "ana", epoch: 7, disk: disk) == nil)
        #expect(
            ledger.acknowledged(upTo: 3, in: Self.car, from: "ana", epoch: 7, disk: disk)?.0 == .acknowledgedButLost)
    }

    @Test("a message that is written twice, before an earlier one, or before its sender's disk has it, is reported")
    mutating func outOfOrder() throws {
        _ = try (says(1), says(2), says(3))
        #expect(try hears(1) == [] && hears(1) == [.deliveredTwice])
        #expect(try hears(3) == [.leftOut])
        #expect(try hears(4) == [.toldTooEarly])
    }

    @Test("messages that were lost with a disk are excused, and so are those that it had acknowledged")
    mutating func lostStore() throws {
        _ = try (says(1), says(2), hears(1), hears(2))
        ledger.lostStore("car", try #require(disks["car"]))
        disks["car"] = StoredNode()
        #expect(ledger.acknowledged(upTo: 2, in: Self.car, from: "ana", epoch: 7, disk: StoredNode()) == nil)
        #expect(ledger.acknowledged(upTo: 3, in: Self.car, from: "ana", epoch: 7, disk: StoredNode()) != nil)
        _ = try says(3)
        #expect(try hears(3) == [])
    }

    @Test("a node that has lost its disk numbers its messages under another epoch")
    mutating func newNumbering() throws {
        _ = try says(1)
        ledger.lostStore("ana", try #require(disks["ana"]))
        disks["ana"] = StoredNode()
        #expect(try says(1) == [.epochReused])
    }
}

@Suite("The story of the host's state")
struct StoryTests {
    private var story: Story = {
        var story = Story(Scenario(seed: 1, faults: []))
        story.peers = ["car", "ana", "ben"]
        story.hostStarts(epoch: 5)
        return story
    }()
    private var host = HostRecord(
        epoch: 5, nowPlaying: "s0", isPlaying: true,
        queue: [
            QueuedRecord(songID: "s0", addedBy: "car", added: 0),
            QueuedRecord(songID: "s1", addedBy: "car", added: 1, voters: ["ana"]),
            QueuedRecord(songID: "s2", addedBy: "car", added: 2),
        ])

    /// The findings after the host writes this with these messages.
    private mutating func after(
        _ intents: [(guest: Peer.ID, intent: GuestIntent)] = [], _ change: (inout HostRecord) -> Void
    ) -> Set<Invariant> {
        let before = host
        change(&host)
        return Set(story.committed(before, host, intents, at: .seconds(1)).map(\.0))
    }

    @Test("a vote counts once with its message, and no vote changes without one")
    mutating func votes() {
        #expect(after([("ben", .vote(songID: "s1"))]) { $0.queue[1].voters = ["ana", "ben"] } == [])
        #expect(after([("ben", .takeBackVote(songID: "s1"))]) { $0.queue[1].voters = ["ana"] } == [])
        #expect(after { $0.queue[1].voters = [] } == [.wrongVote])
        #expect(after([("ben", .vote(songID: "s1"))]) { _ in } == [.wrongVote])
        #expect(after { $0.queue[1].voters = ["ana", "ana"] } == [.wrongVote])
        #expect(after { $0.queue[1].voters = ["eve"] } == [.wrongVote])
    }

    @Test("a browser's vote comes with its message, and is on the disk when it is acknowledged")
    mutating func browsers() {
        story.browsers = ["mia"]
        // All of it is queued since then.
        _ = story.committed(nil, host, [], at: .zero)
        #expect(after { $0.queue[2].voters = ["mia"] } == [.wrongVote])
        let count = story.said(.takeBackVote(songID: "s2"), by: "mia")
        func safe(_ isRejected: Bool = false, count: Int, _ disk: HostRecord, _ story: inout Story) -> Invariant? {
            story.acknowledged(
                .takeBackVote(songID: "s2"), of: "mia", at: .seconds(2), count: count, isRejected: isRejected, disk,
                turns: 0, now: .seconds(3))?.0
        }
        #expect(safe(count: count, host, &story) == .acknowledgedButLost)
        #expect(safe(true, count: count, host, &story) == nil)
        #expect(after { $0.queue[2].voters = [] } == [.wrongVote])
        #expect(safe(count: count, host, &story) == nil)
        let again = story.said(.vote(songID: "s2"), by: "mia")
        #expect(again == count + 1)
        #expect(after { $0.queue[2].voters = ["mia"] } == [])
        // It has made another wish since.
        #expect(safe(count: count, host, &story) == nil)
        #expect(story.told(.vote(songID: "s2"), of: "mia") == nil)
        #expect(story.told(.vote(songID: "s1"), of: "mia")?.0 == .forged)
    }

    @Test("of a guest's wishes in one write, the last one counts")
    mutating func lastWish() {
        let wishes: [(guest: Peer.ID, intent: GuestIntent)] = [
            ("ben", .vote(songID: "s1")), ("ben", .takeBackVote(songID: "s1")), ("ben", .suggestSong(songID: "s1")),
        ]
        #expect(after(wishes) { $0.queue[1].voters = ["ana", "ben"] } == [])
        #expect(after(wishes.dropLast()) { _ in } == [.wrongVote])
    }

    @Test("songs change only with a request")
    mutating func queue() {
        let new = QueuedRecord(songID: "s9", addedBy: "ben", added: 9)
        #expect(after([("ben", .suggestSong(songID: "s9"))]) { $0.queue.append(new) } == [])
        #expect(after { $0.queue.removeLast() } == [.wrongQueue])
        #expect(after { $0.queue.append(new) } == [.wrongQueue])
        story.causes = [.host(.remove("s9"))]
        story.beginWrite(0)
        #expect(after { $0.queue.removeLast() } == [])
    }

    @Test("a banned guest stays banned until the session ends")
    mutating func bans() {
        #expect(after { $0.banned = ["ben"] } == [.wrongQueue])
        #expect(after { $0.banned = [] } == [.banForgotten])
        story.causes = [.host(.kick("ben"))]
        story.beginWrite(0)
        #expect(after { $0.banned = ["ben"] } == [])
        #expect(after { $0.banned = [] } == [.banForgotten])
        host.banned = ["ben"]
        story.endings = 1
        #expect(after { $0 = HostRecord(epoch: 6) } == [])
    }

    @Test("a run of the host never has the epoch of an earlier run")
    mutating func epochs() {
        story.hostStarts(epoch: 6)
        #expect(after { $0.epoch = 6 } == [])
        story.hostStarts(epoch: 4)
        #expect(after { $0.epoch = 4 } == [.epochReused])
    }

    @Test("within a run only the end of a session changes the host's epoch, once for each end")
    mutating func sessions() {
        #expect(after { $0.epoch = 6 } == [.wrongQueue])
        story.endings = 1
        // A write before that of the end is checked like any other.
        #expect(after { $0.queue[2].voters = ["ben"] } == [.wrongVote])
        #expect(after { $0 = HostRecord(epoch: 7) } == [])
        #expect(after { $0.epoch = 8 } == [.wrongQueue])
    }

    @Test("the first write of a run may be that of an end")
    mutating func endAtOnce() {
        story.hostStarts(epoch: 9)
        story.endings = 1
        #expect(after { $0 = HostRecord(epoch: 10) } == [])
        #expect(after { $0.epoch = 11 } == [.wrongQueue])
    }

    @Test("a confirmed vote stays until its guest removes it")
    mutating func confirmed() {
        var snapshot = HostSnapshot(
            epoch: 5, revision: 1, nowPlaying: nil, isPlaying: true,
            queue: [QueueItem(song: story.library.songs[0], addedBy: "car", voters: ["ana"])], connectedPeers: [])
        snapshot.queue[0].song.id = "s1"
        _ = after { $0.queue.append(QueuedRecord(songID: "s3", addedBy: "car", added: 3)) }
        story.wished("ana", "s1", at: .zero)
        story.showed(snapshot, isKept: true, at: .seconds(1))
        #expect(story.answered("ana", "s1", .takeBack, .confirmed, seeing: snapshot)?.0 == .falseAnswer)
        #expect(story.answered("ana", "s1", .vote, .confirmed, seeing: snapshot) == nil)
    }
}
