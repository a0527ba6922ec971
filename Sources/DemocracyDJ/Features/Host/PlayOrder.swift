// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A song in the host's queue.
public struct QueuedSong: Hashable, Sendable {
    /// The song, who asked for it, and who voted for it.
    public var item: QueueItem
    /// Its place in the order of adding.
    public var added: Int
    /// The driver has given it its place in the queue, and votes do not move it.
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

/// In which order songs play: more votes first, equal votes in the order in which the songs were added, and no guest's
/// songs all in a row while others wait (`Fairness.songsInARow`). A song that the driver has given a place keeps it, and the
/// others are in this order around it.
struct PlayOrder {
    /// The guest that asked for the songs that have played last, and how many of them there are in a row.
    private var run: (asker: Peer.ID, songs: Int)?
    /// Who has the car: its songs are everybody's.
    private let host: Peer.ID
    private let songsInARow: Int?

    /// An order for what plays after songs that these have asked for, the last of them last.
    init(after askers: [Peer.ID], host: Peer.ID, songsInARow: Int?) {
        self.host = host
        self.songsInARow = songsInARow
        for asker in askers { note(asker) }
    }

    /// The songs in their order.
    mutating func arrange(_ songs: [QueuedSong]) -> [QueuedSong] {
        let order = order(of: songs)
        return order.elementsEqual(songs.indices) ? songs : order.map { songs[$0] }
    }

    /// Where they are among these songs: a song is more to copy than its place, and each vote has the queue arranged.
    private mutating func order(of songs: [QueuedSong]) -> [Int] {
        // What comes next stands last, where taking it out moves nothing.
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
