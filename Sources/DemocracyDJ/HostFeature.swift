// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides everything about the host's music: an event goes in, effects come out. Reads no clock; `now` is an argument.
public struct HostFeature: Sendable {
    /// What happens to a host.
    public enum Event: Hashable, Sendable {
        /// The network says something.
        case multipeer(MultipeerEvent)
        /// The person at the head unit says something.
        case command(Command)
        /// The time of the current song may be over: see `songEnds`.
        case tick
    }

    /// What the person at the head unit can say.
    public enum Command: Hashable, Sendable {
        /// Go on playing.
        case play
        /// Pause.
        case pause
        /// On to the next song.
        case skip
        /// Put a song of the library into the queue.
        case add(Song.ID)
        /// Take a song out of the queue.
        case remove(Song.ID)
        /// Send a guest away.
        case kick(Peer.ID)
    }

    /// What is to be done.
    public enum Effect: Hashable, Sendable {
        /// Bring every guest up to this state, and show it: `StateFeed.Event.stateChanged`.
        case broadcast(HostSnapshot)
        /// Send one guest the whole state: `StateFeed.Event.wholeRequested`.
        case send(HostSnapshot, to: Peer.ID)
        /// Tell a guest that its wish is not followed.
        case reject(GuestIntent, RejectionReason, to: Peer.ID)
        /// Tell the person what a guest wanted and what became of it.
        case report(GuestIntent, from: Peer, rejected: RejectionReason?)
        /// Send a guest away.
        case disconnect(Peer.ID)
        /// Tell the person that a command led to nothing, and why.
        case notice(Notice)
    }

    /// Who hosts.
    public let local: Peer
    /// The songs that can be asked for.
    public let library: [Song.ID: Song]
    /// What guests see.
    public private(set) var snapshot: HostSnapshot

    private var playedBefore: MeshInstant = .zero
    private var playingSince: MeshInstant?

    /// A host that starts to play the first song of its list; the others are queued. Songs that guests cannot be told
    /// of, since they go beyond `DJLimits` or an earlier one has their identifier, are left out.
    public init(local: Peer, songs: [Song], epoch: UInt32, now: MeshInstant) {
        self.local = local
        var known: Set<Song.ID> = []
        let songs = songs.filter { $0.isWithinLimits && known.insert($0.id).inserted }
        library = Dictionary(uniqueKeysWithValues: songs.map { ($0.id, $0) })
        snapshot = HostSnapshot(
            epoch: epoch, revision: 1, nowPlaying: songs.first, isPlaying: !songs.isEmpty,
            queue: songs.dropFirst().prefix(DJLimits.openingSongs).map { QueueItem(song: $0, addedBy: local.id) },
            connectedPeers: [])
        playingSince = songs.isEmpty ? nil : now
    }

    /// When the current song is over, and `tick` is due.
    public var songEnds: MeshInstant? {
        guard let song = snapshot.nowPlaying, let playingSince else { return nil }
        return playingSince + .seconds(song.duration) - playedBefore
    }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Effect] {
        switch event {
        case .multipeer(let event): handle(event)
        case .command(let command): handle(command, now: now)
        case .tick: songEnds.map { $0 <= now } == true ? playNext(now: now) : []
        }
    }

    // MARK: Guests

    private mutating func handle(_ event: MultipeerEvent) -> [Effect] {
        switch event {
        case .peerConnected(let peer):
            snapshot.connectedPeers.removeAll { $0.id == peer.id }
            snapshot.connectedPeers.append(peer)
            return changed()
        case .peerDisconnected(let peer, reason: _):
            guard snapshot.connectedPeers.contains(where: { $0.id == peer.id }) else { return [] }
            snapshot.connectedPeers.removeAll { $0.id == peer.id }
            return changed()
        case .messageReceived(.intent(let intent), from: let peer): return handle(intent, from: peer)
        case .messageReceived(.stateRequest, from: let peer): return [.send(snapshot, to: peer.id)]
        // A host's own kinds of message, sent by a guest, mean nothing here.
        case .messageReceived: return []
        // A state update that did not leave is made up for by the next one.
        case .sendFailed, .peerDiscovered, .peerLost, .networkUnavailable, .sessionInvalidated: return []
        }
    }

    private mutating func handle(_ intent: GuestIntent, from peer: Peer) -> [Effect] {
        let rejection =
            switch intent {
            case .vote(let songID): vote(for: songID, by: peer.id)
            case .suggestSong(let songID): suggest(songID, by: peer.id)
            }
        switch rejection {
        case nil: return [.report(intent, from: peer, rejected: nil)] + changed()
        // The vote stands already, which is what the guest wants to know: it asks because it has not seen it.
        case .alreadyVoted:
            return [.report(intent, from: peer, rejected: .alreadyVoted), .send(snapshot, to: peer.id)]
        case .some(let reason):
            return [.report(intent, from: peer, rejected: reason), .reject(intent, reason, to: peer.id)]
        }
    }

    private mutating func vote(for songID: Song.ID, by peer: Peer.ID) -> RejectionReason? {
        guard let index = snapshot.queue.firstIndex(where: { $0.id == songID }) else {
            if snapshot.nowPlaying?.id == songID { return .alreadyPlaying }
            return library[songID] == nil ? .unknownSong : .notQueued
        }
        guard !snapshot.queue[index].voters.contains(peer) else { return .alreadyVoted }
        guard snapshot.queue[index].votes < DJLimits.votes else { return .queueFull }
        snapshot.queue[index].voters.append(peer)
        moveUp(from: index)
        return nil
    }

    private mutating func suggest(_ songID: Song.ID, by peer: Peer.ID) -> RejectionReason? {
        // What is queued already needs no second place: the wish becomes a vote.
        if snapshot.queue.contains(where: { $0.id == songID }) { return vote(for: songID, by: peer) }
        if snapshot.nowPlaying?.id == songID { return .alreadyPlaying }
        guard let song = library[songID] else { return .unknownSong }
        guard snapshot.queue.count < DJLimits.queuedSongs else { return .queueFull }
        snapshot.queue.append(QueueItem(song: song, addedBy: peer))
        return nil
    }

    /// More votes come first; equal votes keep the order in which the songs were added.
    private mutating func moveUp(from index: Int) {
        let item = snapshot.queue.remove(at: index)
        let place = snapshot.queue[..<index].firstIndex { $0.votes < item.votes } ?? index
        snapshot.queue.insert(item, at: place)
    }

    // MARK: The head unit

    private mutating func handle(_ command: Command, now: MeshInstant) -> [Effect] {
        switch command {
        case .play:
            guard snapshot.nowPlaying != nil else { return playNext(now: now) }
            guard playingSince == nil else { return [] }
            playingSince = now
            snapshot.isPlaying = true
            return changed()
        case .pause:
            guard let since = playingSince else { return [] }
            playedBefore += now - since
            playingSince = nil
            snapshot.isPlaying = false
            return changed()
        case .skip: return playNext(now: now)
        case .add(let songID):
            if let reason = suggest(songID, by: local.id) { return [.notice(.cannotAdd(songID, reason))] }
            return changed()
        case .remove(let songID):
            guard snapshot.queue.contains(where: { $0.id == songID }) else {
                return [.notice(.notInQueue(songID))]
            }
            snapshot.queue.removeAll { $0.id == songID }
            return changed()
        case .kick(let name):
            guard let peer = snapshot.connectedPeers.first(where: { $0.id == name || $0.name == name }) else {
                return [.notice(.noSuchGuest(name))]
            }
            return [.disconnect(peer.id)]
        }
    }

    private mutating func playNext(now: MeshInstant) -> [Effect] {
        snapshot.nowPlaying = snapshot.queue.isEmpty ? nil : snapshot.queue.removeFirst().song
        snapshot.isPlaying = snapshot.nowPlaying != nil
        playedBefore = .zero
        playingSince = snapshot.nowPlaying == nil ? nil : now
        return changed()
    }

    private mutating func changed() -> [Effect] {
        snapshot.revision += 1
        return [.broadcast(snapshot)]
    }
}
