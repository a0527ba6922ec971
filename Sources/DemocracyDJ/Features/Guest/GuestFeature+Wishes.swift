// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// What a guest wants, from the person's tap until a snapshot shows it or the host says no.

extension GuestFeature {
    mutating func cast(_ kind: Wish.Kind, _ songID: Song.ID) -> [Effect] {
        // What no host can have is not worth the way to it.
        guard DJLimits.isSongID(songID) else {
            let told = Effect.wishChanged(songID: songID, kind, .rejected(.unknownSong))
            return kind == .suggest ? [told, .notice(Notice(.cannotAdd(songID, .unknownSong)))] : [told]
        }
        // What is queued already needs a vote.
        if kind == .suggest, state.isCurrent, state.hostSnapshot?.item(songID) != nil { return cast(.vote, songID) }
        var wish = Wish(kind, songID)
        if let place = state.wishes.firstIndex(where: { $0.isAbout(wish.intent) }) {
            let earlier = state.wishes[place]
            // A second tap does no harm; where the transport had no room, it is tried again.
            if earlier.kind == kind { return earlier.progress == .waiting ? handOver(place) : [] }
            // A suggestion that no host was told of yet asks for all that a vote asks for: it is one where the song is queued.
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
            // What is on view from before a gap may not be so any more.
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

    /// Gives a wish to the transport, where a host is known.
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

    // MARK: What becomes of them

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
        // The host takes what it is told in order.
        state.overtaken = state.overtaken.filter { $0.value.count > 0 }
        guard let index = state.wishes.firstIndex(where: { $0.isAbout(intent) }) else { return hasCome(intent) }
        guard state.wishes[index].undelivered > 0 else { return }
        state.wishes[index].undelivered -= 1
        state.wishes[index].statesSinceDelivery = 0
    }

    /// A message about a song that nothing is wanted of any more.
    private mutating func hasCome(_ intent: GuestIntent) {
        guard let songID = intent.songID, let overtaken = state.overtaken[songID] else { return }
        state.overtaken[songID]?.count -= 1
        if overtaken.count == 1 { state.overtaken[songID] = nil }
    }

    /// A message about a song that nothing is wanted of any more, which nobody will acknowledge.
    private mutating func mayHaveCome(_ intent: GuestIntent) {
        guard let songID = intent.songID, var overtaken = state.overtaken[songID] else { return }
        overtaken.count = max(0, overtaken.count - 1)
        state.overtaken[songID] = overtaken
    }

    /// Its wish is over, and messages about it may still be on their way: a later wish of the song comes behind them.
    private mutating func overtake(_ wish: Wish) {
        guard wish.undelivered > 0 else { return }
        state.overtaken[wish.songID] = Overtaken(wish)
    }

    /// What the same person's next guest comes behind, which has nothing on its way itself.
    public var stillComing: [Song.ID: Overtaken] {
        let wishes = state.wishes.map { ($0.songID, Overtaken($0)) }
        return state.overtaken.merging(wishes) { $1 }.mapValues { overtaken in
            Overtaken(asks: overtaken.asks, takesBack: overtaken.takesBack)
        }
    }

    /// The next guest of a person, at the same host.
    public init(local: Peer, of host: Peer.ID, behind stillComing: [Song.ID: Overtaken]) {
        self.init(local: local)
        state.known = KnownHost(id: host)
        state.overtaken = stillComing
    }

    /// What the transport had no room for goes as soon as there is some, not with the next link.
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
            // It was followed, and its song's turn has come.
            if reason == .cannotBePlayed { return [.notice(Notice(.songFailed(title: name)))] }
            return []
        }
        // The host acknowledges each message before it answers it, so this may be the answer to an earlier one of that kind:
        // `settleUnshown` asks for one that counts.
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

    /// The host's state is known again. A vote is cleared by a snapshot that shows it, never by just any snapshot.
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

    /// The host has a wish, says nothing against it, and does not show it: its song has left the queue meanwhile. A vote is
    /// asked for once more, since only the host can say what became of it. A suggestion was followed, where no rejection
    /// has come that may be its own.
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

    /// A host that was started again may have lost what it had: votes that were delivered and that it does not show are sent
    /// once more. Those that were not are in the outbox. A suggestion was followed most likely, and would be so twice.
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
