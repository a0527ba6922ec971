// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import MeshSimulator
import TestSupport
import Testing

@testable import NodeCore
@testable import NodeStore

/// All tests of the store, one after another. Each blocks a thread on the disk, and tests of radios need those threads
/// in time.
@Suite("The store", .serialized)
enum StoreTests {}

/// The same numbers in every run.
typealias Dice = SeededGenerator

/// A test's own folder and its store, which is opened again as after a power cut.
struct Shelf {
    let folder: String
    static let now = Date(timeIntervalSince1970: 1_767_323_045)

    init(_ folder: String = newFolder()) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    var path: String { folder + "/" + NodeStore.fileName }

    func open() throws -> NodeStore { try opened().store }

    func opened() throws -> NodeStore.Opened { try NodeStore.open(folder: folder, now: Self.now) }

    func clear() { try? FileManager.default.removeItem(atPath: folder) }
}

/// Peers and records for tests.
enum Sample {
    static func peer(_ number: Int) -> (id: Peer.ID, key: [UInt8]) {
        let key = (0..<32).map { $0 == 1 ? UInt8(number) : 7 }
        return (Identity.peerID(publicKey: key), key)
    }

    static func key(_ number: Int) -> ConversationKey {
        ConversationKey(peer(number).id, as: .initiator, .democracyDJ)
    }

    static func remembered(_ number: Int, _ conversation: Conversation) -> MeshCore.Remembered {
        MeshCore.Remembered(publicKey: peer(number).key, conversation: conversation.durable)
    }

    /// A queue with this many songs, each with this many votes.
    static func host(songs: Int, votes: Int) -> HostRecord {
        let queue = (0..<songs).map { song in
            QueuedRecord(
                songID: "song-\(song)", addedBy: peer(song % 16).id, added: Int64(song),
                voters: (0..<votes).map { peer($0).id })
        }
        return HostRecord(epoch: 3, nowPlaying: "now", isPlaying: true, elapsedMilliseconds: 1_000, queue: queue)
    }

    private static let songs = (0..<30).map { "song-\($0)" }
    private static let peers = (0..<20).map { peer($0).id }

    private static func some<Element>(_ elements: [Element], _ dice: inout Dice) -> [Element] {
        Array(elements.shuffled(using: &dice).prefix(dice.below(elements.count + 1)))
    }

    /// A random state of a host.
    static func anyHost(_ dice: inout Dice) -> HostRecord {
        let queue = some(songs, &dice).map { song in
            QueuedRecord(
                songID: song, addedBy: dice.pick(peers) ?? "", added: Int64(dice.below(1_000)),
                voters: some(peers, &dice))
        }
        return HostRecord(
            epoch: UInt32(truncatingIfNeeded: dice.next()), nowPlaying: dice.chance(70) ? dice.pick(songs) : nil,
            isPlaying: dice.chance(50),
            elapsedMilliseconds: Int64(dice.below(1 << 40)), queue: queue,
            played: (0..<dice.below(20)).map { _ in songs[dice.below(8)] }, lastAskers: some(peers, &dice),
            banned: some(peers, &dice))
    }

    /// The next state of a host.
    static func next(_ host: HostRecord, _ dice: inout Dice) -> HostRecord {
        var host = host
        for _ in 0...dice.below(3) {
            switch dice.below(7) {
            case 0 where !host.queue.isEmpty:
                let song = dice.below(host.queue.count)
                host.queue[song].voters.append(peer(100 + dice.below(100)).id)
                // It overtakes other songs.
                host.queue.insert(host.queue.remove(at: song), at: dice.below(song + 1))
            case 1 where !host.queue.isEmpty:
                let song = host.queue.removeFirst()
                host.nowPlaying = song.songID
                host.played.append(song.songID)
                if host.played.count > 10 { host.played.removeFirst() }
            case 2:
                let song = "new-\(dice.below(1_000))"
                guard !host.queue.contains(where: { $0.songID == song }) else { continue }
                host.queue.append(QueuedRecord(songID: song, addedBy: peer(1).id, added: Int64(dice.below(1_000))))
            case 3: host.lastAskers = some(host.lastAskers, &dice) + [peer(dice.below(40)).id]
            case 4: host.banned.append(peer(40 + dice.below(40)).id)
            case 5: return anyHost(&dice)
            default:
                host.isPlaying.toggle()
                host.elapsedMilliseconds += 1_234
            }
        }
        return host
    }

    /// A random state of a guest.
    static func anyGuest(_ dice: inout Dice) -> GuestRecord {
        GuestRecord(
            host: dice.chance(60) ? dice.pick(peers) : nil,
            hostEpoch: dice.chance(60) ? UInt32(truncatingIfNeeded: dice.next()) : nil,
            wishes: (0..<dice.below(12)).map { _ in
                WishRecord(
                    songID: songs[dice.below(6)], kind: dice.chance(50) ? "vote" : "suggestSong",
                    handedTo: dice.chance(50) ? dice.pick(peers) : nil,
                    meantFor: dice.chance(50) ? dice.pick(peers) : nil)
            }, snapshot: dice.chance(60) ? dice.bytes(dice.below(3_000)) : nil)
    }
}

extension StoreBatch {
    /// A batch with one or a few entries.
    static func with(_ fill: (inout StoreBatch) -> Void) -> StoreBatch {
        var batch = StoreBatch()
        fill(&batch)
        return batch
    }
}
