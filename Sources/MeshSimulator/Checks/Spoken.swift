// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What browsers have said in this run of the host and it has not acknowledged. None of it has a number on the host's disk:
/// each write may have some of it.
struct Spoken {
    private struct Subject: Hashable {
        var guest: Peer.ID
        var song: Song.ID
    }

    private var open: [Peer.ID: [GuestIntent]] = [:]
    /// How often a guest has said something of a song.
    private var counts: [Subject: Int] = [:]
    /// What was said by people who have left since: who comes again knows nothing of it.
    private var leftBehind: Set<Subject> = []

    /// All of it, in an order.
    var all: [(guest: Peer.ID, intent: GuestIntent)] {
        open.sorted { $0.key < $1.key }.flatMap { guest, intents in intents.map { (guest, $0) } }
    }

    func contains(_ intent: GuestIntent, by guest: Peer.ID) -> Bool { open[guest]?.contains(intent) == true }

    /// Whether a guest has a vote for a song, or has none, by what it has said.
    func explains(_ hasVote: Bool, for song: Song.ID, of guest: Peer.ID) -> Bool {
        open[guest]?.contains { $0.songID == song && $0.makesVote == hasVote } == true
    }

    func isLeftBehind(_ song: Song.ID, by guest: Peer.ID) -> Bool {
        leftBehind.contains(Subject(guest: guest, song: song))
    }

    /// A browser has said something. Returns how much it has said about the song by now.
    mutating func add(_ intent: GuestIntent, by guest: Peer.ID) -> Int {
        open[guest, default: []].append(intent)
        let subject = Subject(guest: guest, song: intent.songID ?? "")
        counts[subject, default: 0] += 1
        return counts[subject] ?? 0
    }

    /// The host has acknowledged something. Whether it was the last about its song.
    mutating func remove(_ intent: GuestIntent, by guest: Peer.ID, count: Int) -> Bool {
        if let first = open[guest]?.firstIndex(of: intent) { open[guest]?.remove(at: first) }
        return counts[Subject(guest: guest, song: intent.songID ?? "")] == count
    }

    /// The person at a browser leaves, and what the host has not on its disk is forgotten there.
    mutating func leaves(_ guest: Peer.ID) {
        for intent in open[guest] ?? [] { leftBehind.insert(Subject(guest: guest, song: intent.songID ?? "")) }
    }

    /// Another run of the host has heard nothing.
    mutating func hostStarts() { (open, leftBehind) = ([:], []) }
}
