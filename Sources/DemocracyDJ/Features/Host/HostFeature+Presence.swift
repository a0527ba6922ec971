// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Who is there, and when the others are told: in a crowd several at a time, since each change goes over every link.

extension HostFeature {
    mutating func came(_ peer: Peer, now: MeshInstant) -> [Effect] {
        let before = state.connectedPeers
        state.connectedPeers.remove(id: peer.id)
        state.connectedPeers.append(peer)
        return tell(peer.id, now: now, after: DJLimits.gatheredArrivals, since: before)
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
        // Who is lost with a relay is back by another way in a moment.
        let wait = gone.reason == .linkLost ? DJLimits.gatheredDepartures : DJLimits.gatheredArrivals
        return tell(gone.id, now: now, after: wait, since: before)
    }

    /// Everybody is told of a guest: at once, or in a crowd with what else comes within some time.
    private mutating func tell(
        _ guest: Peer.ID, now: MeshInstant, after wait: Duration, since before: [Peer]
    ) -> [Effect] {
        let isCrowd = before.count > DJLimits.guestsToldAtOnce || state.untold != nil
        guard isCrowd, !state.drivers.contains(guest) else { return changed(now: now) }
        let due = now + wait
        state.untold = UntoldGuests(told: state.untold?.told ?? before, due: min(state.untold?.due ?? due, due))
        return []
    }

    /// The time for the guests that have gathered is over. Who has gone and come back is nothing to tell.
    mutating func tellGathered(now: MeshInstant) -> [Effect] {
        guard let untold = state.untold else { return [] }
        settleGuests()
        return state.connectedPeers == untold.told ? [] : changed(now: now)
    }

    /// What is told now tells of all who are there. Who was told of before has its place in the list still: a guest that was away for
    /// a moment is no change.
    mutating func settleGuests() {
        guard let untold = state.untold.take() else { return }
        let present = Dictionary(state.connectedPeers.map { ($0.id, $0) }) { $1 }
        let told = Set(untold.told.map(\.id))
        state.connectedPeers =
            untold.told.compactMap { present[$0.id] } + state.connectedPeers.filter { !told.contains($0.id) }
    }
}
