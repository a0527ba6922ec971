// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Messages of browsers in this run of the host that are not acknowledged yet. They have no number on the host's disk.
/// Each write may contain some of them.
struct Spoken {
    private struct Subject: Hashable {
        var guest: Peer.ID
        var song: Song.ID
    }

    private var open: [Peer.ID: [GuestIntent]] = [:]
    /// The number of messages that a guest has sent about a song.
    private var counts: [Subject: Int] = [:]
    /// Messages of people who have left since. A person who comes back does not know these messages.
    private var leftBehind: Set<Subject> = []

    /// All of them, in a fixed order.
    var all: [(guest: Peer.ID, intent: GuestIntent)] {
        open.sorted { $0.key < $1.key }.flatMap { guest, intents in intents.map { (guest, $0) } }
    }

    func contains(_ intent: GuestIntent, by guest: Peer.ID) -> Bool { open[guest]?.contains(intent) == true }

    /// Whether a guest's messages explain that it has a vote for a song, or has none.
    func explains(_ hasVote: Bool, for song: Song.ID, of guest: Peer.ID) -> Bool {
        open[guest]?.contains { $0.songID == song && $0.makesVote == hasVote } == true
    }

    func isLeftBehind(_ song: Song.ID, by guest: Peer.ID) -> Bool {
        leftBehind.contains(Subject(guest: guest, song: song))
    }

    /// A browser has sent a message. Returns the number of its messages about the song.
    mutating func add(_ intent: GuestIntent, by guest: Peer.ID) -> Int {
        open[guest, default: []].append(intent)
        let subject = Subject(guest: guest, song: intent.songID ?? "")
        counts[subject, default: 0] += 1
        return counts[subject] ?? 0
    }

    /// The host has acknowledged a message. Returns whether it was the last about its song.
    mutating func remove(_ intent: GuestIntent, by guest: Peer.ID, count: Int) -> Bool {
        if let first = open[guest]?.firstIndex(of: intent) { open[guest]?.remove(at: first) }
        return counts[Subject(guest: guest, song: intent.songID ?? "")] == count
    }

    /// The person at a browser leaves. Messages that are not on the host's disk are forgotten there.
    mutating func leaves(_ guest: Peer.ID) {
        for intent in open[guest] ?? [] { leftBehind.insert(Subject(guest: guest, song: intent.songID ?? "")) }
    }

    /// A new run of the host has received nothing.
    mutating func hostStarts() { (open, leftBehind) = ([:], []) }
}
