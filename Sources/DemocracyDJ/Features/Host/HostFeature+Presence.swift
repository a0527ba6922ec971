// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Linked guests, and when the others are notified of changes. In a crowd, changes are announced in groups, since each
// change crosses every link.

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
        // More than half of the remaining guests may have wanted to skip already.
        if let skipped = skipIfWanted(now: now) { return skipped }
        guard !wantedSkip else { return changed(now: now) }
        return tell(gone.id, now: now, isLost: gone.reason == .linkLost, since: before)
    }

    /// Announces the change of a guest: at once, or in a crowd together with others. A lost guest stays in the
    /// announced list until its delay has passed, whatever else changes: guests that are lost with a relay soon return
    /// by another route.
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

    /// Announces the gathered changes when they are due. A guest that has left and returned is not a change.
    mutating func tellGathered(now: MeshInstant) -> [Effect] {
        guard let told = state.untold?.told else { return [] }
        settleGuests(now: now)
        return (state.untold?.told ?? state.connectedPeers) == told ? [] : changed(now: now)
    }

    /// Prepares the guest list for an announcement. It has all linked guests, and the lost ones until their delay has
    /// passed. Guests of the last announcement keep their position in the list, so that a short absence is not a
    /// change.
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
