// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import DemocracyDJ

/// The rules of an order of songs, written in another way than in `PlayOrder`.
struct OrderCheck {
    let host: Peer.ID
    let songsInARow: Int?

    /// A fault of an order of songs that play after these guests' songs. Nil without one.
    func fault(_ songs: [QueuedSong], after askers: [Peer.ID]) -> String? {
        var heard = askers
        for (place, song) in songs.enumerated() {
            let waiting = songs[place...]
            let isRunFull = isRunFull(heard, waiting)
            if isRunFull, song.item.addedBy == heard.last {
                return "too many songs of \(song.item.addedBy) in a row at \(place)"
            }
            let passedOver = waiting.filter {
                isBetter($0, than: song) && !(isRunFull && $0.item.addedBy == heard.last)
            }
            if let better = passedOver.first { return "\(better.item.id) waits behind \(song.item.id)" }
            heard.append(song.item.addedBy)
        }
        return nil
    }

    /// Whether the guest of the last songs has had its turn, and another guest waits.
    private func isRunFull(_ heard: [Peer.ID], _ waiting: ArraySlice<QueuedSong>) -> Bool {
        guard let songsInARow, let last = heard.last, last != host else { return false }
        let isLong =
            heard.suffix(songsInARow).count == songsInARow && heard.suffix(songsInARow).allSatisfy { $0 == last }
        return isLong && waiting.contains { $0.item.addedBy != last && $0.item.addedBy != host }
    }

    private func isBetter(_ one: QueuedSong, than other: QueuedSong) -> Bool {
        one.item.votes > other.item.votes || (one.item.votes == other.item.votes && one.added < other.added)
    }
}

extension HostFeature {
    /// A fault of a host's state. Nil without one.
    var fault: String? {
        let songs = (state.nowPlaying.map { [$0] } ?? []) + state.queue.map(\.item)
        let lists = [songs.map(\.id), state.skipVoters, state.connectedPeers.map(\.id), state.played, state.banned]
        for list in lists + songs.map(\.voters) where Set(list).count != list.count { return "twice in \(list)" }
        if !snapshot.isWithinLimits { return "beyond a limit" }
        if state.banned.count > DJLimits.bannedPeers { return "too many are kept out" }
        if state.lastAskers.count > max(1, fairness.songsInARow ?? 1) {
            return "too long a memory: \(state.lastAskers)"
        }
        if !Set(state.skipVoters).isSubset(of: state.connectedPeers.map(\.id)) { return "who is gone skips" }
        if let limit = fairness.openSuggestions {
            let guests = Dictionary(grouping: state.queue.map(\.item.addedBy).filter { $0 != local.id }) { $0 }
            if guests.values.contains(where: { $0.count > limit }) { return "too many open suggestions" }
        }
        if state.isPlaying, state.nowPlaying == nil { return "nothing plays, and it is said to" }
        return OrderCheck(host: local.id, songsInARow: fairness.songsInARow).fault(state.queue, after: state.lastAskers)
    }
}
