// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSimulator

/// The same numbers in every run.
typealias Dice = SeededGenerator

/// States that a host could have, and some that it never has but that are valid.
enum RandomState {
    static let songs = (0..<40).map {
        Song(
            id: "song-\($0)", title: "Title \($0) ä", artist: "Artist", duration: Double($0) * 1.5,
            albumArtURL: $0.isMultiple(of: 5) ? "https://example.org/\($0)" : nil)
    }
    static let peers = (0..<20).map { number in
        // Identifiers in our form, and others, which are sent as text.
        let id = number.isMultiple(of: 7) ? "Somebody \(number)" : identifier(number)
        return Peer(id: id, name: "Guest \(number % 3)")
    }

    /// An identifier of 32 hexadecimal digits.
    static func identifier(_ number: Int) -> Peer.ID {
        var dice = Dice(seed: UInt64(number))
        return Hex.text((0..<16).map { _ in UInt8.random(in: 0...255, using: &dice) })
    }

    /// A random state.
    static func any(_ revision: UInt64, using dice: inout Dice) -> HostSnapshot {
        let queued = songs.shuffled(using: &dice).prefix(Int.random(in: 0...songs.count, using: &dice))
        var queue = queued.compactMap { item([$0], using: &dice) }
        for place in queue.indices where Int.random(in: 0..<4, using: &dice) == 0 { queue[place].isPinned = true }
        let guests = peers.shuffled(using: &dice).prefix(Int.random(in: 0...peers.count, using: &dice))
        return HostSnapshot(
            epoch: 7, revision: revision,
            nowPlaying: Bool.random(using: &dice) ? item(songs, using: &dice) : nil,
            isPlaying: Bool.random(using: &dice), hasSound: Bool.random(using: &dice), queue: queue,
            connectedPeers: Array(guests), unnamedGuests: Int.random(in: 0...2, using: &dice),
            skipVoters: some(using: &dice))
    }

    /// A state that differs little from another.
    static func next(_ state: HostSnapshot, using dice: inout Dice) -> HostSnapshot {
        var next = state
        next.revision += UInt64.random(in: 1...3, using: &dice)
        for _ in 0..<Int.random(in: 0...5, using: &dice) {
            switch Int.random(in: 0..<11, using: &dice) {
            case 0:
                next.nowPlaying = next.queue.isEmpty ? nil : next.queue.removeFirst()
                next.nowPlaying?.isPinned = false
                next.skipVoters = []
            case 1: next.isPlaying.toggle()
            case 2:
                if let song = next.queue.indices.randomElement(using: &dice) {
                    next.queue.swapAt(0, song)
                    next.queue[song].isPinned.toggle()
                }
            case 3: if let song = next.queue.indices.randomElement(using: &dice) { next.queue.remove(at: song) }
            case 4:
                if let song = next.queue.indices.randomElement(using: &dice) {
                    next.queue[song].voters = some(using: &dice)
                }
            case 5:
                if let song = next.queue.indices.randomElement(using: &dice) { vote(&next.queue[song], using: &dice) }
            case 6:
                if var item = next.nowPlaying {
                    vote(&item, using: &dice)
                    next.nowPlaying = item
                }
            case 7: next.skipVoters = some(using: &dice)
            case 8: next.connectedPeers = Array(next.connectedPeers.dropFirst())
            case 9: next.unnamedGuests = Int.random(in: 0...3, using: &dice)
            default:
                let absent = peers.first { peer in !next.connectedPeers.contains { $0.id == peer.id } }
                if let absent { next.connectedPeers.append(absent) }
            }
        }
        return next
    }

    private static func item(_ songs: [Song], using dice: inout Dice) -> QueueItem? {
        songs.randomElement(using: &dice).map { song in
            QueueItem(song: song, addedBy: peers.randomElement(using: &dice)?.id ?? "x", voters: some(using: &dice))
        }
    }

    /// A guest votes, or takes back a vote at any position.
    private static func vote(_ item: inout QueueItem, using dice: inout Dice) {
        guard let voter = peers.randomElement(using: &dice)?.id else { return }
        if let place = item.voters.firstIndex(of: voter) {
            item.voters.remove(at: place)
        } else {
            item.voters.append(voter)
        }
    }

    private static func some(using dice: inout Dice) -> [Peer.ID] {
        Array(peers.map(\.id).shuffled(using: &dice).prefix(Int.random(in: 0...6, using: &dice)))
    }
}

/// A full car: 75 songs in the queue, eight guests and their votes.
enum FullCar {
    static let guests = (0..<8).map { Peer(id: RandomState.identifier($0), name: "Passenger \($0)") }

    static func host() -> HostFeature {
        let songs = (0..<76).map {
            Song(
                id: Hex.text([UInt8](repeating: UInt8($0), count: 8)), title: "A song of the usual length \($0)",
                artist: "Some band", duration: 200 + Double($0))
        }
        let local = Peer(id: RandomState.identifier(99), name: "Dad's Car")
        var host = HostFeature(local: local, library: SongLibrary(songs), epoch: 1_795_256_326, now: .zero)
        for guest in guests { _ = host.handle(.multipeerEvent(.peerConnected(guest)), now: .zero) }
        for number in 0..<120 {
            let songID = songs[1 + number * 7 % 50].id
            _ = host.handle(Example.intent(.vote(songID: songID), from: guests[number % 7]), now: .zero)
        }
        return host
    }
}

/// A full bus: a hundred songs in the queue, each with votes of nearly all past guests.
enum FullBus {
    static let people = (0..<262).map { Peer(id: RandomState.identifier(200 + $0), name: "Passenger \($0)") }
    static let guests = Array(people.prefix(16))

    static func host() -> HostFeature {
        let songs = (0...DJLimits.queuedSongs).map {
            Song(
                id: Hex.text([UInt8](repeating: UInt8($0), count: 8)), title: "A song of the usual length \($0)",
                artist: "Some band", duration: 200 + Double($0))
        }
        let items = songs.enumerated().map { place, song in
            SavedSession.Item(
                songID: song.id, addedBy: people[place].id, added: place,
                voters: (0..<249).map { people[(7 * place + $0) % people.count].id })
        }
        let saved = SavedSession(
            nowPlaying: items[0], isPlaying: false, elapsed: .zero, queue: Array(items.dropFirst()), played: [],
            lastAskers: [], banned: [])
        var host = HostFeature(
            local: Peer(id: RandomState.identifier(99), name: "Bus"), library: SongLibrary(songs), resuming: saved,
            epoch: 1_795_256_326, now: .zero)
        for guest in guests { _ = host.handle(.multipeerEvent(.peerConnected(guest)), now: .zero) }
        return host
    }
}
