// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A song in the host's queue.
public struct QueuedSong: Hashable, Sendable {
    /// The song, the peer that suggested it, and its voters.
    public var item: QueueItem
    /// The song's number in the order of adding.
    public var added: Int
    /// The driver has fixed its position in the queue, and votes do not move it.
    public var isHeld: Bool {
        get { item.isPinned }
        set { item.isPinned = newValue }
    }

    /// A queued song.
    public init(_ item: QueueItem, added: Int, isHeld: Bool = false) {
        self.item = item
        self.added = added
        self.item.isPinned = isHeld
    }
}

/// The order in which songs play: more votes first, equal votes in the order in which the songs were added. No guest's
/// songs play all in a row while other guests wait (`Fairness.songsInARow`). Pinned songs keep their position, and the
/// others are in this order around them.
struct PlayOrder {
    /// The peer that asked for the last songs, and how many of its songs have played in a row.
    private var run: (asker: Peer.ID, songs: Int)?
    /// The host. The driver's songs never count as taking a turn from a guest.
    private let host: Peer.ID
    private let songsInARow: Int?

    /// Creates the order of the songs that follow. `askers` are the peers that asked for the songs so far, most recent
    /// last.
    init(after askers: [Peer.ID], host: Peer.ID, songsInARow: Int?) {
        self.host = host
        self.songsInARow = songsInARow
        for asker in askers { note(asker) }
    }

    /// Returns the songs in the order in which they play.
    mutating func arrange(_ songs: [QueuedSong]) -> [QueuedSong] {
        let order = order(of: songs)
        return order.elementsEqual(songs.indices) ? songs : order.map { songs[$0] }
    }

    /// The order as indices into `songs`. Each vote rearranges the queue, and an index is cheaper to copy than a song.
    private mutating func order(of songs: [QueuedSong]) -> [Int] {
        // The next song is the last element, so removing it moves nothing.
        var waiting = songs.indices.filter { !songs[$0].isHeld }.sorted {
            (songs[$0].item.votes, songs[$1].added) < (songs[$1].item.votes, songs[$0].added)
        }
        guard songsInARow != nil || waiting.count < songs.count else { return waiting.reversed() }
        return songs.indices.map { index in
            let next = songs[index].isHeld ? index : waiting.remove(at: placeOfNext(waiting, songs))
            note(songs[next].item.addedBy)
            return next
        }
    }

    private func placeOfNext(_ waiting: [Int], _ songs: [QueuedSong]) -> Int {
        guard let songsInARow, let run, run.asker != host, run.songs >= songsInARow,
            waiting.contains(where: { songs[$0].item.addedBy != run.asker && songs[$0].item.addedBy != host })
        else { return waiting.count - 1 }
        return waiting.lastIndex { songs[$0].item.addedBy != run.asker } ?? waiting.count - 1
    }

    private mutating func note(_ asker: Peer.ID) {
        run = (asker, run?.asker == asker ? (run?.songs ?? 0) + 1 : 1)
    }
}
