// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// A guest's wishes, from the person's tap until a snapshot shows the wish or the host rejects it.

extension GuestFeature {
    mutating func cast(_ kind: Wish.Kind, _ songID: Song.ID) -> [Effect] {
        // No host can have such a song, so nothing is sent.
        guard DJLimits.isSongID(songID) else {
            let told = Effect.wishChanged(songID: songID, kind, .rejected(.unknownSong))
            return kind == .suggest ? [told, .notice(Notice(.cannotAdd(songID, .unknownSong)))] : [told]
        }
        // A suggestion of a queued song is a vote.
        if kind == .suggest, state.isCurrent, state.hostSnapshot?.item(songID) != nil { return cast(.vote, songID) }
        var wish = Wish(kind, songID)
        if let place = state.wishes.firstIndex(where: { $0.isAbout(wish.intent) }) {
            let earlier = state.wishes[place]
            // A second tap does no harm. If the transport had no room, it is a retry.
            if earlier.kind == kind { return earlier.progress == .waiting ? handOver(place) : [] }
            // A suggestion that was not sent yet includes the vote: the host counts it as one if the song is queued.
            if earlier.kind == .suggest, kind == .vote, earlier.progress == .waiting {
                return [.wishChanged(songID: songID, .suggest, .queued)] + handOver(place)
            }
            state.wishes.remove(at: place)
            wish.undelivered = earlier.undelivered
            wish.needsDelivery = earlier.needsDelivery || earlier.undelivered > 0 || earlier.progress != .waiting
        } else if let overtaken = state.overtaken[songID] {
            wish.undelivered = overtaken.count
            wish.needsDelivery = overtaken.undoes(kind)
        }
        if let snapshot = state.hostSnapshot, wish.isShown(by: snapshot, to: local.id), !wish.needsDelivery {
            // A state from before the link was lost may be out of date.
            if state.isCurrent { return [.wishChanged(songID: songID, kind, wish.answerAtOnce)] }
            wish.needsDelivery = true
        }
        guard state.wishes.count < DJLimits.pendingVotes else { return [.notice(Notice(.tooManyPendingVotes))] }
        return add(wish)
    }

    private mutating func add(_ new: Wish) -> [Effect] {
        var wish = new
        wish.host = state.known?.id
        state.wishes.append(wish)
        state.overtaken[wish.songID] = nil
        return [.wishChanged(songID: wish.songID, wish.kind, .queued)] + handOver(state.wishes.count - 1)
    }

    /// Passes a wish to the transport, if a host is known.
    private mutating func handOver(_ index: Int) -> [Effect] {
        guard let known = state.known else { return [] }
        let isLinked = state.host != nil
        state.wishes[index].progress = isLinked ? .sent : .handedOver
        let sent = send(index, to: known.id)
        let wish = state.wishes[index]
        return isLinked ? [sent, .wishChanged(songID: wish.songID, wish.kind, .sent)] : [sent]
    }

    mutating func send(_ index: Int, to host: Peer.ID) -> Effect {
        state.wishes[index].undelivered += 1
        state.wishes[index].statesSinceDelivery = 0
        return .send(state.wishes[index].intent, to: host)
    }

    // MARK: Outcomes

    mutating func sendFailed(_ intent: GuestIntent, to peer: Peer.ID) -> [Effect] {
        if intent.isOfTheMoment { return [.notice(Notice(.tooManyPendingVotes))] }
        guard state.known?.id == peer else { return [] }
        guard let index = state.wishes.firstIndex(where: { $0.isAbout(intent) }) else {
            mayHaveCome(intent)
            return []
        }
        guard state.wishes[index].undelivered > 0 else { return [] }
        state.wishes[index].undelivered -= 1
        guard state.wishes[index].intent == intent else { return [] }
        let wasSent = state.wishes[index].progress == .sent
        state.wishes[index].progress = .waiting
        let wish = state.wishes[index]
        return wasSent ? [.wishChanged(songID: wish.songID, wish.kind, .queued)] : []
    }

    mutating func delivered(_ intent: GuestIntent, to peer: Peer.ID) {
        guard state.known?.id == peer else { return }
        // The host handles messages in order.
        state.overtaken = state.overtaken.filter { $0.value.count > 0 }
        guard let index = state.wishes.firstIndex(where: { $0.isAbout(intent) }) else { return hasCome(intent) }
        guard state.wishes[index].undelivered > 0 else { return }
        state.wishes[index].undelivered -= 1
        state.wishes[index].statesSinceDelivery = 0
    }

    /// Counts an acknowledged message about a song for which the guest wants nothing any more.
    private mutating func hasCome(_ intent: GuestIntent) {
        guard let songID = intent.songID, let overtaken = state.overtaken[songID] else { return }
        state.overtaken[songID]?.count -= 1
        if overtaken.count == 1 { state.overtaken[songID] = nil }
    }

    /// Counts a failed message about such a song. No acknowledgement of this message will arrive.
    private mutating func mayHaveCome(_ intent: GuestIntent) {
        guard let songID = intent.songID, var overtaken = state.overtaken[songID] else { return }
        overtaken.count = max(0, overtaken.count - 1)
        state.overtaken[songID] = overtaken
    }

    /// The wish is over, but messages about it may still be under way. The messages of a later wish for the same song
    /// come after these messages.
    private mutating func overtake(_ wish: Wish) {
        guard wish.undelivered > 0 else { return }
        state.overtaken[wish.songID] = Overtaken(wish)
    }

    /// Messages of this guest that may still be under way when the same person's next guest starts. The next guest gets
    /// no acknowledgement for them.
    public var stillComing: [Song.ID: Overtaken] {
        let wishes = state.wishes.map { ($0.songID, Overtaken($0)) }
        return state.overtaken.merging(wishes) { $1 }.mapValues { overtaken in
            Overtaken(asks: overtaken.asks, takesBack: overtaken.takesBack)
        }
    }

    /// Creates the next guest of a person, at the same host.
    public init(local: Peer, of host: Peer.ID, behind stillComing: [Song.ID: Overtaken]) {
        self.init(local: local)
        state.known = KnownHost(id: host)
        state.overtaken = stillComing
    }

    /// Retries a wish as soon as the transport has room, without waiting for the next link.
    mutating func handOverWaiting() -> [Effect] {
        guard state.host != nil, let index = state.wishes.firstIndex(where: { $0.progress == .waiting }) else {
            return []
        }
        return handOver(index)
    }

    mutating func rejected(_ intent: GuestIntent, _ reason: RejectionReason) -> [Effect] {
        guard let index = state.wishes.firstIndex(where: { $0.intent == intent }) else {
            let name = intent.songID.flatMap { title(of: $0) }
            if intent.isOfTheMoment { return [.notice(Notice(.cannotAdd(name ?? intent.songID ?? "", reason)))] }
            // The suggestion was accepted, and the host has now tried to play its song.
            if reason == .cannotBePlayed { return [.notice(Notice(.songFailed(title: name)))] }
            return []
        }
        // The host acknowledges each message before it answers it, so this may answer an earlier message of that kind.
        // `settleUnshown` then asks again.
        guard !state.wishes[index].needsDelivery, state.wishes[index].undelivered == 0 else {
            state.wishes[index].isPerhapsRejected = true
            return []
        }
        let wish = state.wishes.remove(at: index)
        let told = Effect.wishChanged(songID: wish.songID, wish.kind, .rejected(reason))
        guard wish.kind == .suggest else { return [told] }
        let waiting = state.hostSnapshot?.queue.count { $0.addedBy == local.id } ?? 0
        let name = title(of: wish.songID) ?? wish.songID
        return [told, .notice(Notice(.cannotAdd(name, reason, waiting: waiting)))]
    }

    private func title(of songID: Song.ID) -> String? {
        state.hostSnapshot?.item(songID)?.title ?? state.search?.found.first { $0.id == songID }?.title
    }

    /// The host's current state is known. A snapshot clears a vote only if it shows the vote.
    mutating func settleWishes(by snapshot: HostSnapshot) -> [Effect] {
        for index in state.wishes.indices where state.wishes[index].undelivered == 0 {
            state.wishes[index].statesSinceDelivery += 1
        }
        return clearShown(by: snapshot) + settleUnshown()
    }

    private mutating func clearShown(by snapshot: HostSnapshot) -> [Effect] {
        let shown = state.wishes.filter { wish in
            (!wish.needsDelivery || wish.isSettled) && wish.isShown(by: snapshot, to: local.id)
        }
        state.wishes.removeAll { shown.contains($0) }
        for wish in shown { overtake(wish) }
        return shown.map { .wishChanged(songID: $0.songID, $0.kind, .confirmed) }
    }

    /// Settles wishes that the host has handled and does not show: their songs have left the queue. A vote is sent once
    /// more, since only the host knows whether the vote was accepted. A suggestion counts as accepted, unless a
    /// rejection that may belong to it has arrived.
    private mutating func settleUnshown() -> [Effect] {
        guard let host = state.host else { return [] }
        var effects: [Effect] = []
        for index in state.wishes.indices.reversed()
        where state.wishes[index].progress == .sent && state.wishes[index].isSettled {
            if state.wishes[index].kind == .suggest, !state.wishes[index].isPerhapsRejected {
                let wish = state.wishes.remove(at: index)
                effects.append(.wishChanged(songID: wish.songID, .suggest, .confirmed))
            } else {
                state.wishes[index].needsDelivery = false
                state.wishes[index].isPerhapsRejected = false
                effects.append(send(index, to: host.id))
            }
        }
        return effects.reversed()
    }

    /// A restarted host may have lost wishes. Delivered votes that the host does not show are sent once more, and the
    /// outbox still has the undelivered votes. A suggestion is not repeated: it was most likely accepted, and would
    /// count twice.
    mutating func repeatWishes(by snapshot: HostSnapshot) -> [Effect] {
        let confirmed = clearShown(by: snapshot)
        guard let host = state.host else { return confirmed }
        let lost = state.wishes.indices.filter { index in
            let wish = state.wishes[index]
            return wish.progress == .sent && wish.undelivered == 0 && wish.kind != .suggest
        }
        return confirmed + lost.map { send($0, to: host.id) }
    }
}
