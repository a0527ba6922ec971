// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Guests: their links and their wishes.

extension HostFeature {
    mutating func handle(_ event: MultipeerEvent, now: MeshInstant) -> [Effect] {
        switch event {
        case .peerConnected(let peer):
            guard !state.banned.contains(peer.id) else { return [.disconnect(peer.id)] }
            return came(peer, now: now)
        case .peerDisconnected(let gone): return left(gone, now: now)
        case .messageReceived(.intent(let intent), from: let peer): return handle(intent, from: peer, now: now)
        case .messageReceived(.stateRequest, from: let peer): return [.send(snapshot, to: peer.id)]
        case .messageReceived(.search(let request), from: let peer): return answer(request, from: peer, now: now)
        // Ignore messages that only hosts send.
        case .messageReceived: return []
        // The next state update replaces one that was not sent.
        case .sendFailed, .messageDelivered, .peerDiscovered, .peerLost, .networkUnavailable, .sessionInvalidated:
            return []
        }
    }

    /// A search reads the full library, so the rate per guest is limited. No person types as fast as the limit.
    private mutating func answer(_ request: SearchRequest, from peer: Peer, now: MeshInstant) -> [Effect] {
        let whole: [Effect] = request.asksForState ? [.send(snapshot, to: peer.id)] : []
        let none = RateLimit(perSecond: DJLimits.searchesPerSecond, burst: DJLimits.searchBurst, now: now)
        guard state.searches[peer.id, default: none].allows(now: now) else {
            return whole + [.refuseSearch(SearchResults(number: request.number, songs: [], refused: .tooFast), peer.id)]
        }
        return whole + [.search(request, for: peer.id)]
    }

    private mutating func handle(_ intent: GuestIntent, from peer: Peer, now: MeshInstant) -> [Effect] {
        // Messages of a removed guest may still have been under way.
        guard !state.banned.contains(peer.id) else { return [] }
        // Only the guest learns this. Rejected wishes are not reported to the person, since a flood of them would fill
        // the screen.
        guard mayWish(peer.id, now: now) else { return [.reject(intent, .tooFast, to: peer.id)] }
        let rejection: RejectionReason?
        switch intent {
        case .vote(let songID): rejection = vote(for: songID, by: peer.id)
        case .takeBackVote(let songID): rejection = takeBackVote(for: songID, by: peer.id)
        case .suggestSong(let songID): rejection = suggest(songID, by: peer.id)
        case .skip(let songID): rejection = skip(songID, by: peer.id)
        case .steer(let wish): return steer(wish, by: peer, now: now)
        }
        switch rejection {
        case nil:
            return [.report(intent, from: peer, rejected: nil)] + (skipIfWanted(now: now) ?? changed(now: now))
        // The state already has the guest's wish. The guest has sent it because it has not seen that state.
        case .alreadyVoted, .notVoted:
            return [.report(intent, from: peer, rejected: rejection), .send(snapshot, to: peer.id)]
        case .some(let reason):
            return [.report(intent, from: peer, rejected: reason), .reject(intent, reason, to: peer.id)]
        }
    }

    /// A wish costs an update for every guest, so the rate per guest is limited. No person taps as fast as the limit.
    private mutating func mayWish(_ peer: Peer.ID, now: MeshInstant) -> Bool {
        if wishes[peer] == nil, wishes.count >= DJLimits.countedGuests {
            let linked = Set(state.connectedPeers.map(\.id))
            wishes = wishes.filter { linked.contains($0.key) }
        }
        let none = RateLimit(perSecond: DJLimits.wishesPerSecond, burst: DJLimits.wishBurst, now: now)
        return wishes[peer, default: none].allows(now: now)
    }

    // MARK: Wishes. Each function returns the reason of a rejection, or nil.

    private mutating func vote(for songID: Song.ID, by peer: Peer.ID) -> RejectionReason? {
        // A vote counts even if its song has begun while the vote was under way.
        if state.nowPlaying?.id == songID { return state.nowPlaying?.take(voteOf: peer) }
        if let place = place(of: songID) { return state.queue[place].item.take(voteOf: peer) }
        if state.played.contains(songID) { return .alreadyPlayed }
        return library[songID] == nil ? .unknownSong : .notQueued
    }

    private mutating func takeBackVote(for songID: Song.ID, by peer: Peer.ID) -> RejectionReason? {
        // A removed song that undo can restore may also have the vote.
        forgetVote(of: peer, for: songID)
        if state.nowPlaying?.id == songID { return state.nowPlaying?.giveBack(voteOf: peer) }
        guard let place = place(of: songID) else { return .notVoted }
        return state.queue[place].item.giveBack(voteOf: peer)
    }

    /// A suggestion of a song that plays or is queued becomes a vote.
    mutating func suggest(_ songID: Song.ID, by peer: Peer.ID) -> RejectionReason? {
        if snapshotHas(songID) { return vote(for: songID, by: peer) }
        if peer != local.id, fairness.voteOnly { return .votingOnly }
        guard let song = library[songID] else { return .unknownSong }
        guard !state.unplayable.contains(songID) else { return .cannotBePlayed }
        guard state.queue.count < DJLimits.queuedSongs else { return .queueFull }
        if peer != local.id, let limit = fairness.openSuggestions,
            state.queue.count(where: { $0.item.addedBy == peer }) >= limit
        {
            return .tooManySuggestions
        }
        state.queue.append(QueuedSong(QueueItem(song: song, addedBy: peer), added: state.added))
        state.added += 1
        return nil
    }

    private mutating func skip(_ songID: Song.ID, by peer: Peer.ID) -> RejectionReason? {
        guard fairness.majoritySkip else { return .skippingNotAllowed }
        guard state.nowPlaying?.id == songID else { return .notPlaying }
        guard state.connectedPeers.contains(where: { $0.id == peer }), !state.skipVoters.contains(peer) else {
            return .alreadyVoted
        }
        state.skipVoters.append(peer)
        return nil
    }

    /// Nil if too few guests want to skip. While the music is paused, the next song starts paused: guests cannot end
    /// the driver's pause.
    mutating func skipIfWanted(now: MeshInstant) -> [Effect]? {
        guard fairness.majoritySkip, !state.skipVoters.isEmpty,
            2 * state.skipVoters.count > state.connectedPeers.count
        else { return nil }
        return playNext(now: now, pauses: !state.isPlaying)
    }

    func place(of songID: Song.ID) -> Int? { state.queue.firstIndex { $0.item.id == songID } }

    private func snapshotHas(_ songID: Song.ID) -> Bool {
        state.nowPlaying?.id == songID || place(of: songID) != nil
    }
}

extension QueueItem {
    fileprivate mutating func take(voteOf peer: Peer.ID) -> RejectionReason? {
        guard !voters.contains(peer) else { return .alreadyVoted }
        guard votes < DJLimits.votes else { return .queueFull }
        voters.append(peer)
        return nil
    }

    fileprivate mutating func giveBack(voteOf peer: Peer.ID) -> RejectionReason? {
        guard let place = voters.firstIndex(of: peer) else { return .notVoted }
        voters.remove(at: place)
        return nil
    }
}
