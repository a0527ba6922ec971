// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// The head unit's side: what plays, and what the person at it says.

extension HostFeature {
    mutating func handle(_ command: Command, now: MeshInstant) -> [Effect] {
        switch command {
        case .play:
            guard state.nowPlaying != nil else { return playNext(now: now) }
            guard !state.isPlaying else { return [] }
            state.playingSince = now
            return changed()
        case .pause:
            guard state.isPlaying else { return [] }
            state.playedBefore = state.elapsed(now)
            state.playingSince = nil
            return changed()
        case .skip: return playNext(now: now)
        case .add(let songID):
            if let reason = suggest(songID, by: local.id) { return [.notice(.cannotAdd(songID, reason))] }
            return changed()
        case .remove(let songID):
            guard state.queue.contains(where: { $0.item.id == songID }) else {
                return [.notice(.notInQueue(songID))]
            }
            state.queue.removeAll { $0.item.id == songID }
            return changed()
        case .kick(let name): return kick(name)
        }
    }

    /// An identifier goes before a name: a guest may call itself anything.
    private mutating func kick(_ name: String) -> [Effect] {
        let guests = state.connectedPeers
        let named = guests.first { $0.id == name }.map { [$0] } ?? guests.filter { $0.name == name }
        let meant = named.isEmpty ? guests.filter { $0.id.hasPrefix(name) && name.count >= Identity.headDigits } : named
        guard let peer = meant.first else { return [.notice(.noSuchGuest(name))] }
        guard meant.count == 1 else { return [.notice(.severalGuests(meant))] }
        if !state.banned.contains(peer.id) { state.banned.append(peer.id) }
        if state.banned.count > DJLimits.bannedPeers { state.banned.removeFirst() }
        return [.disconnect(peer.id)]
    }

    /// The next song of the queue plays, or pauses; where it is empty, one of the library's: there is no silence.
    mutating func playNext(now: MeshInstant, pauses: Bool = false) -> [Effect] {
        if !state.queue.isEmpty {
            begin(state.queue.removeFirst().item, now: now, pauses: pauses)
        } else if let song = unplayedSong {
            begin(QueueItem(song: song, addedBy: local.id), now: now, pauses: pauses)
        } else {
            state.nowPlaying = nil
            state.playingSince = nil
        }
        return changed()
    }

    /// A song that has not been played; where there is none, the one that was played the longest ago.
    private var unplayedSong: Song? {
        let played = Set(state.played)
        return library.songs.first { !played.contains($0.id) } ?? state.played.lazy.compactMap { library[$0] }.first
    }

    mutating func begin(_ item: QueueItem, now: MeshInstant, pauses: Bool = false) {
        state.nowPlaying = item
        state.playedBefore = .zero
        state.playingSince = pauses ? nil : now
        state.skipVoters = []
        state.played.removeAll { $0 == item.id }
        state.played.append(item.id)
        noteAskers([item.addedBy])
    }
}
