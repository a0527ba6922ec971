// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Who is there, and when the others are told: in a crowd several at a time, since each change goes over every link.

extension HostFeature {
    mutating func came(_ peer: Peer, now: MeshInstant) -> [Effect] {
        let before = state.connectedPeers
        state.connectedPeers.remove(id: peer.id)
        state.connectedPeers.append(peer)
        return tell(peer.id, now: now, since: before)
    }

    mutating func left(_ gone: DisconnectedPeer, now: MeshInstant) -> [Effect] {
        let before = state.connectedPeers
        guard state.connectedPeers.remove(id: gone.id) != nil else { return [] }
        state.searches[gone.id] = nil
        let wantedSkip = state.skipVoters.contains(gone.id)
        state.skipVoters.removeAll { $0 == gone.id }
        // Of those that are left, more than half may have wanted it already.
        if let skipped = skipIfWanted(now: now) { return skipped }
        guard !wantedSkip else { return changed(now: now) }
        return tell(gone.id, now: now, isLost: gone.reason == .linkLost, since: before)
    }

    /// Everybody is told of a guest: at once, or in a crowd with what else comes within some time. Of one that is lost nobody is told in
    /// the meantime, whoever else comes and goes: who is lost with a relay is back by another way in a moment.
    private mutating func tell(
        _ guest: Peer.ID, now: MeshInstant, isLost: Bool = false, since before: [Peer]
    ) -> [Effect] {
        let isCrowd = before.count > DJLimits.guestsToldAtOnce || state.untold != nil
        guard isCrowd, !state.drivers.contains(guest) else { return changed(now: now) }
        var untold = state.untold ?? UntoldGuests(told: before)
        let isToldLater = isLost && untold.told.contains { $0.id == guest }
        untold.lost[guest] = isToldLater ? now + DJLimits.gatheredDepartures : nil
        if !isLost { untold.due = untold.due ?? now + DJLimits.gatheredArrivals }
        state.untold = untold
        return []
    }

    /// The time for the guests that have gathered is over. Who has gone and come back is nothing to tell.
    mutating func tellGathered(now: MeshInstant) -> [Effect] {
        guard let told = state.untold?.told else { return [] }
        settleGuests(now: now)
        return (state.untold?.told ?? state.connectedPeers) == told ? [] : changed(now: now)
    }

    /// What is told now tells of all who are there, and of those who were lost a moment ago. Who was told of before has its place in the
    /// list still: a guest that was away for a moment is no change.
    mutating func settleGuests(now: MeshInstant) {
        guard let untold = state.untold.take() else { return }
        let present = Dictionary(state.connectedPeers.map { ($0.id, $0) }) { $1 }
        let known = Set(untold.told.map(\.id))
        let new = state.connectedPeers.filter { !known.contains($0.id) }
        state.connectedPeers = untold.told.compactMap { present[$0.id] } + new
        let lost = untold.lost.filter { $0.value > now }
        guard !lost.isEmpty else { return }
        let told = untold.told.compactMap { present[$0.id] ?? (lost[$0.id] == nil ? nil : $0) } + new
        state.untold = UntoldGuests(told: told, due: nil, lost: lost)
    }
}
