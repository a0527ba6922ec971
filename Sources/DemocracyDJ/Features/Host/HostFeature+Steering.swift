// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// The driver's control of the queue, and undo.

extension HostFeature {
    /// The controls that the driver can use now.
    public var steering: Steering {
        Steering(
            undo: lastStep.map { Steering.Undo(state.undoable[$0].done) }, steps: state.steps,
            canGoBack: canGoBack, volume: hasPlayer ? state.volume : nil,
            ducked: hasPlayer ? state.ducked : nil, shuffles: shuffles)
    }

    // MARK: Order. A position that the driver sets holds until the song plays or is removed; votes order the others.

    mutating func playNext(_ songID: Song.ID, now: MeshInstant) -> [Effect] {
        guard state.nowPlaying?.id != songID else { return [.notice(Notice(.notInQueue(songID)))] }
        let isNew = place(of: songID) == nil
        if isNew, let reason = suggest(songID, by: local.id) {
            return [.notice(Notice(.cannotAdd(library[songID]?.title ?? songID, reason)))]
        }
        return move(songID, to: 0, isNew: isNew, now: now)
    }

    mutating func move(_ songID: Song.ID, to wanted: Int, isNew: Bool = false, now: MeshInstant) -> [Effect] {
        guard let place = place(of: songID) else { return [.notice(Notice(.notInQueue(songID)))] }
        var song = state.queue.remove(at: place)
        noteStep(.move(song.item, from: isNew ? nil : place, wasHeld: song.isHeld), now: now)
        song.isHeld = true
        state.queue.insert(song, at: min(max(wanted, 0), state.queue.count))
        return changed(now: now)
    }

    mutating func unpin(_ songID: Song.ID, now: MeshInstant) -> [Effect] {
        guard let place = place(of: songID) else { return [.notice(Notice(.notInQueue(songID)))] }
        guard state.queue[place].isHeld else { return [.notice(Notice(.notPinned(state.queue[place].item.title)))] }
        state.queue[place].isHeld = false
        return changed(now: now)
    }

    mutating func remove(_ songID: Song.ID, now: MeshInstant) -> [Effect] {
        guard let place = place(of: songID) else { return [.notice(Notice(.notInQueue(songID)))] }
        noteStep(.remove(state.queue.remove(at: place), at: place), now: now)
        return changed(now: now)
    }

    mutating func clear(now: MeshInstant) -> [Effect] {
        guard !state.queue.isEmpty else { return [.notice(Notice(.emptyQueue))] }
        noteStep(.clear(state.queue), now: now)
        state.queue = []
        return changed(now: now)
    }

    // MARK: Undo

    mutating func noteStep(_ done: UndoStep.Done, now: MeshInstant) {
        forgetOldSteps(now)
        state.steps += 1
        state.undoable.append(UndoStep(done: done, until: now + DJLimits.undoTime))
        state.undoable = state.undoable.suffix(DJLimits.undoSteps)
    }

    mutating func forgetOldSteps(_ now: MeshInstant) { state.undoable.removeAll { $0.until <= now } }

    /// The step that `undo` undoes. A move is skipped if its song has left the queue.
    private var lastStep: Int? {
        state.undoable.lastIndex { step in
            if case .move(let item, _, _) = step.done { place(of: item.id) != nil } else { true }
        }
    }

    mutating func undo(now: MeshInstant) -> [Effect] {
        forgetOldSteps(now)
        guard let last = lastStep else { return [.notice(Notice(.nothingToUndo))] }
        let step = state.undoable[last]
        switch step.done {
        case .remove(let song, let place):
            if let reason = putBack(song, at: place) {
                return [.notice(Notice(.cannotAdd(song.item.title, reason)))]
            }
        case .clear(let songs):
            // Restore all songs or none: an omitted song would be lost.
            let missing = songs.filter { place(of: $0.item.id) == nil && state.nowPlaying?.id != $0.item.id }
            guard state.queue.count + missing.count <= DJLimits.queuedSongs else {
                return [.notice(Notice(.cannotAdd(songs.first?.item.title ?? "", .queueFull)))]
            }
            for (place, song) in songs.enumerated() { _ = putBack(song, at: place) }
        case .move(let item, let place, let wasHeld): putBack(item.id, to: place, isHeld: wasHeld)
        case .kick(let peer): state.banned.removeAll { $0 == peer.id }
        case .ban: break
        }
        state.undoable.removeSubrange(last...)
        switch step.done {
        case .kick(let peer), .ban(let peer): return [.admit(peer.id)]
        case .remove, .clear, .move: return changed(now: now)
        }
    }

    /// Undoes a move. A song that was not queued before is removed, unless other peers have voted for it since.
    private mutating func putBack(_ songID: Song.ID, to place: Int?, isHeld: Bool) {
        guard let present = self.place(of: songID) else { return }
        var song = state.queue.remove(at: present)
        if place == nil, song.item.voters.allSatisfy({ $0 == local.id }) { return }
        song.isHeld = isHeld
        state.queue.insert(song, at: min(place ?? present, state.queue.count))
    }

    /// Undoes a removal: the song returns to its position with its votes. If it is queued or playing again, that item
    /// gets the votes. Returns why the song cannot return, or nil if it can.
    private mutating func putBack(_ song: QueuedSong, at place: Int) -> RejectionReason? {
        if state.nowPlaying?.id == song.item.id {
            state.nowPlaying?.addVoters(of: song.item)
            return nil
        }
        if let place = self.place(of: song.item.id) {
            state.queue[place].item.addVoters(of: song.item)
            return nil
        }
        guard let known = library[song.item.id] else { return .unknownSong }
        guard !state.unplayable.contains(known.id) else { return .cannotBePlayed }
        guard state.queue.count < DJLimits.queuedSongs else { return .queueFull }
        var song = song
        song.item.song = known
        state.queue.insert(song, at: min(place, state.queue.count))
        return nil
    }

    /// A guest has taken back its vote for a removed song. Undo does not restore that vote.
    mutating func forgetVote(of peer: Peer.ID, for songID: Song.ID) {
        for index in state.undoable.indices { state.undoable[index].done.forgetVote(of: peer, for: songID) }
    }

    // MARK: Back

    mutating func noteHeard(_ songID: Song.ID) {
        state.history.append(songID)
        state.history = state.history.suffix(DJLimits.heardSongs)
    }

    /// Songs that this session has played and can play again, most recent first.
    public func heard(from: Int, atMost limit: Int) -> FoundSongs {
        let songs = state.played.reversed().filter { $0 != state.nowPlaying?.id }.compactMap { library[$0] }
        return FoundSongs(Array(songs.dropFirst(from).prefix(limit)), total: songs.count)
    }

    /// The most recent song before the present one that can still be played.
    private var before: Song? {
        state.history.last { library[$0] != nil && !state.unplayable.contains($0) && $0 != state.nowPlaying?.id }
            .flatMap { library[$0] }
    }

    var canGoBack: Bool { state.nowPlaying != nil && before != nil }

    /// Goes back one song. The present song becomes the next one and keeps its votes.
    mutating func previous(now: MeshInstant) -> [Effect] {
        guard let playing = state.nowPlaying, let song = before else { return [.notice(Notice(.nothingBefore))] }
        let queued = place(of: song.id).map { state.queue.remove(at: $0).item }
        guard state.queue.count < DJLimits.queuedSongs else {
            return [.notice(Notice(.cannotAdd(playing.title, .queueFull)))]
        }
        while let last = state.history.popLast(), last != song.id {}
        state.queue.insert(QueuedSong(playing, added: state.added, isHeld: true), at: 0)
        state.added += 1
        begin(queued ?? QueueItem(song: song, addedBy: local.id), now: now, pauses: !state.isPlaying)
        return changed(now: now)
    }

    // MARK: Position in the song

    /// Continues the song at another position, at most at its end.
    mutating func seek(to seconds: Double, now: MeshInstant) -> [Effect] {
        guard let song = state.nowPlaying?.song else { return [.notice(Notice(.nothingPlays))] }
        guard seconds.isFinite else { return [] }
        let end = song.duration > 0 ? song.duration : seconds
        state.playedBefore = .seconds(min(max(seconds, 0), end))
        if state.isPlaying { state.playingSince = now }
        state.seeks += 1
        return changed(now: now)
    }

    // MARK: Volume

    /// The volume is not part of the state that guests see.
    mutating func setVolume(_ percent: Int) -> [Effect] {
        guard hasPlayer else { return [.notice(Notice(.noVolume))] }
        state.volume = min(max(percent, 0), DJLimits.loudest)
        return []
    }

    /// Lowers the music for a while, for example for a phone call. The volume and a pause do not change.
    mutating func duck(_ decibels: Int) -> [Effect] {
        guard hasPlayer else { return [.notice(Notice(.noVolume))] }
        state.ducked = min(max(decibels, 0), DJLimits.deepestDuck)
        return []
    }
}

extension QueueItem {
    fileprivate mutating func addVoters(of other: QueueItem) {
        voters += other.voters.filter { !voters.contains($0) }.prefix(max(DJLimits.votes - votes, 0))
    }
}

extension UndoStep.Done {
    fileprivate mutating func forgetVote(of peer: Peer.ID, for songID: Song.ID) {
        switch self {
        case .remove(var song, let place) where song.item.id == songID:
            song.item.voters.removeAll { $0 == peer }
            self = .remove(song, at: place)
        case .clear(var songs):
            for index in songs.indices where songs[index].item.id == songID {
                songs[index].item.voters.removeAll { $0 == peer }
            }
            self = .clear(songs)
        case .remove, .move, .kick, .ban: break
        }
    }
}

extension Steering.Undo {
    fileprivate init(_ done: UndoStep.Done) {
        switch done {
        case .remove(let song, _): self = .remove(title: song.item.title)
        case .clear: self = .clear
        case .move(let item, _, _): self = .move(title: item.title)
        case .kick(let peer): self = .kick(name: peer.name)
        case .ban(let peer): self = .ban(name: peer.name)
        }
    }
}
