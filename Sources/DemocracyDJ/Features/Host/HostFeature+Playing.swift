// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// The head unit: playback, and the commands of the person at it.

extension HostFeature {
    mutating func handle(_ command: Command, now: MeshInstant) -> [Effect] {
        switch command {
        case .play:
            guard state.nowPlaying != nil else {
                return hasNext ? playNext(now: now) : [.notice(Notice(.nothingToPlay))]
            }
            guard !state.isPlaying else { return [] }
            state.playingSince = now
            return changed(now: now)
        case .pause:
            guard state.isPlaying else { return [] }
            state.playedBefore = state.elapsed(now)
            state.playingSince = nil
            return changed(now: now)
        case .skip:
            return state.nowPlaying != nil || hasNext ? playNext(now: now) : [.notice(Notice(.nothingPlays))]
        case .search(let query): return search(query)
        case .more:
            guard let query = state.search?.query.next else { return [.notice(Notice(.nothingFoundYet))] }
            return search(query)
        case .add(let songID):
            if let reason = suggest(songID, by: local.id) {
                return [.notice(Notice(.cannotAdd(library[songID]?.title ?? songID, reason)))]
            }
            return changed(now: now)
        case .remove(let songID):
            guard state.queue.contains(where: { $0.item.id == songID }) else {
                return [.notice(Notice(.notInQueue(songID)))]
            }
            return remove(songID, now: now)
        case .kick(let name): return kick(name, now: now)
        case .playNext(let songID): return playNext(songID, now: now)
        case .move(let songID, let place): return move(songID, to: place, now: now)
        case .unpin(let songID): return unpin(songID, now: now)
        case .clear: return clear(now: now)
        case .undo: return undo(now: now)
        case .noteBan(let peer):
            noteStep(.ban(peer), now: now)
            return []
        case .previous: return previous(now: now)
        case .volume(let percent): return setVolume(percent)
        case .duck(let decibels): return duck(decibels)
        case .seek(let seconds): return seek(to: seconds, now: now)
        case .shuffle(let shuffles):
            self.shuffles = shuffles
            chooseSpare()
            return []
        case .choosePlaylist(let name):
            guard name != state.chosenPlaylist else { return [.notice(Notice(.playlistChosen(name)))] }
            state.wantedPlaylist = name
            return []
        case .unban(let peer):
            state.banned.removeAll { $0 == peer }
            return [.admit(peer)]
        }
    }

    private var hasNext: Bool { !state.queue.isEmpty || spare != nil }

    /// The person at the head unit searches. Only the head unit shows the results.
    private mutating func search(_ query: SongQuery) -> [Effect] {
        let request = SearchRequest(number: (state.search?.number ?? 0) &+ 1, query: query)
        guard request.isWithinLimits else { return [.notice(Notice(.searchTooLong))] }
        state.search = request
        return [.search(request, for: local.id)]
    }

    mutating func kick(_ name: String, now: MeshInstant) -> [Effect] {
        let meant = state.connectedPeers.meant(by: name)
        guard let peer = meant.first else { return [.notice(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.notice(Notice(.severalGuests(meant)))] }
        if !state.banned.contains(peer.id) { state.banned.append(peer.id) }
        if state.banned.count > DJLimits.bannedPeers { state.banned.removeFirst() }
        state.bannedNames[peer.id] = peer.name
        state.bannedNames = state.bannedNames.filter { state.banned.contains($0.key) }
        noteStep(.kick(peer), now: now)
        return [.disconnect(peer.id)]
    }

    /// Starts the next song of the queue, paused if `pauses`. If the queue is empty, a song of the library follows, so
    /// the music does not stop.
    mutating func playNext(now: MeshInstant, pauses: Bool = false) -> [Effect] {
        if let item = state.nowPlaying { noteHeard(item.id) }
        if !state.queue.isEmpty {
            begin(state.queue.removeFirst().item, now: now, pauses: pauses)
        } else if let song = spare {
            begin(QueueItem(song: song, addedBy: local.id), now: now, pauses: pauses)
        } else {
            state.nowPlaying = nil
            state.playingSince = nil
        }
        return changed(now: now)
    }

    /// Chooses the song for an empty queue: the next unplayed one in library order or random order, otherwise the one
    /// that was played longest ago. Songs that the player has failed on are excluded.
    mutating func chooseSpare() {
        let passed = Set(state.played + state.unplayable)
        let listed = playlist.compactMap { library[$0] }
        let songs = listed.isEmpty ? library.songs : listed
        let wanted = Set(listed.map(\.id))
        let again = state.played.first {
            library[$0] != nil && !state.unplayable.contains($0) && (wanted.isEmpty || wanted.contains($0))
        }
        let next =
            shuffles
            ? songs.filter { !passed.contains($0.id) }.min { shuffleKey($0.id) < shuffleKey($1.id) }
            : songs.first { !passed.contains($0.id) }
        spare = next ?? again.flatMap { library[$0] }
    }

    mutating func take(playlist songs: [Song.ID]) -> [Effect] {
        playlist = songs
        chooseSpare()
        return []
    }

    /// The playlist that the driver has asked for was found, or not. If not, everything stays as it is.
    mutating func take(_ answer: PlaylistAnswer) -> [Effect] {
        guard answer.asked == state.wantedPlaylist else { return [] }
        state.wantedPlaylist = nil
        guard let name = answer.name else { return [.notice(Notice(.noSuchPlaylist(answer.asked, answer.known)))] }
        state.chosenPlaylist = name
        return take(playlist: answer.songs) + [.notice(Notice(.playlistChosen(name)))]
    }

    /// A song's key in the random order of this run: its identifier and the epoch, mixed with FNV-1a and the finalizer
    /// of SplitMix64.
    private func shuffleKey(_ songID: Song.ID) -> UInt64 {
        var mixed: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(state.epoch)
        for byte in songID.utf8 { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// What the head unit plays, and the song that would follow as of now.
    public func playback(now: MeshInstant) -> Playback {
        Playback(
            song: state.nowPlaying?.song, turn: state.turns, isPlaying: state.isPlaying && !state.waitsForLibrary,
            hasSound: !state.waitsForSound, volume: hasPlayer ? state.volume : nil, ducked: state.ducked,
            canGoBack: canGoBack,
            elapsed: state.elapsed(now), seeks: state.seeks, playlist: state.wantedPlaylist ?? state.chosenPlaylist,
            next: state.queue.first?.item.song ?? spare)
    }

    // MARK: The player

    /// Handles a report of the player. A report about another song than the present one is too late and has no effect.
    mutating func handle(_ report: PlayerReport, now: MeshInstant) -> [Effect] {
        switch report {
        case .elapsed(let songID, let elapsed):
            guard state.nowPlaying?.id == songID else { return [] }
            state.playedBefore = elapsed
            if state.isPlaying { state.playingSince = now }
            guard state.waitsForSound else { return [] }
            state.waitsForSound = false
            return changed(now: now)
        case .waits(let songID, let elapsed):
            guard state.nowPlaying?.id == songID, !state.waitsForSound else { return [] }
            state.playedBefore = elapsed
            state.waitsForSound = true
            return changed(now: now)
        case .ended(let songID):
            guard state.nowPlaying?.id == songID else { return [] }
            return playNext(now: now)
        case .failed(let songID):
            // While no file can be read, a failure says nothing about the song.
            guard let item = state.nowPlaying, item.id == songID, !state.waitsForLibrary else { return [] }
            return giveUp(on: item, now: now)
        }
    }

    /// Skips a song that cannot be played. The guests that wanted it are notified first.
    private mutating func giveUp(on item: QueueItem, now: MeshInstant) -> [Effect] {
        state.unplayable.removeAll { $0 == item.id }
        state.unplayable.append(item.id)
        if state.unplayable.count > DJLimits.unplayableSongs { state.unplayable.removeFirst() }
        chooseSpare()
        let askers = state.connectedPeers.map(\.id).filter { $0 == item.addedBy || item.voters.contains($0) }
        let told = askers.map { Effect.reject(.vote(songID: item.id), .cannotBePlayed, to: $0) }
        return told + [.notice(Notice(.songFailed(title: item.title)))]
            + playNext(now: now, pauses: !state.isPlaying)
    }

    // MARK: The library

    /// Replaces the library. Songs that the library lacks leave the queue. A host that was silent for lack of songs
    /// starts to play.
    mutating func take(_ library: SongLibrary, now: MeshInstant) -> [Effect] {
        let before = state
        self.library = library
        // Their files may have been replaced.
        state.unplayable = []
        state.played.removeAll { library[$0] == nil }
        chooseSpare()
        state.queue = state.queue.compactMap { queued in
            library[queued.item.id].map { song in
                var queued = queued
                queued.item.song = song
                return queued
            }
        }
        guard let playing = state.nowPlaying else { return library.songs.isEmpty ? [] : playNext(now: now) }
        // The present song continues, even if the library lacks it.
        if let song = library[playing.id] { state.nowPlaying?.song = song }
        let isOther = before.nowPlaying != state.nowPlaying || before.queue != state.queue
        return isOther ? changed(now: now) : []
    }

    /// The library's files are gone, or back. The music waits until they are back. A pause by the driver stays a pause.
    mutating func take(libraryAway isAway: Bool, now: MeshInstant) -> [Effect] {
        guard isAway != state.waitsForLibrary else { return [] }
        state.playedBefore = state.elapsed(now)
        if state.isPlaying { state.playingSince = now }
        state.waitsForLibrary = isAway
        return state.isPlaying ? changed(now: now) : []
    }

    mutating func begin(_ item: QueueItem, now: MeshInstant, pauses: Bool = false) {
        state.nowPlaying = item
        state.nowPlaying?.isPinned = false
        state.turns += 1
        state.playedBefore = .zero
        state.playingSince = pauses ? nil : now
        state.skipVoters = []
        state.played.removeAll { $0 == item.id }
        state.played.append(item.id)
        noteAskers([item.addedBy])
        chooseSpare()
    }
}
