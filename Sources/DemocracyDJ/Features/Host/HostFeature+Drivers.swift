// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Co-hosts: devices other than the head unit that have the driver's controls. They are known by their keys.

extension HostFeature {
    /// The linked guests that are co-hosts, in the order of the guests.
    var linkedDrivers: [Peer.ID] { state.connectedPeers.map(\.id).filter(state.drivers.contains) }

    mutating func take(drivers: [Peer.ID], now: MeshInstant) -> [Effect] {
        let before = linkedDrivers
        state.drivers = drivers
        return linkedDrivers == before ? [] : changed(now: now)
    }

    /// Carries out a co-host's command like one of the head unit. It can be undone in the same way.
    mutating func steer(_ wish: SteeringWish, by peer: Peer, now: MeshInstant) -> [Effect] {
        let intent = GuestIntent.steer(wish)
        if let reason = refusal(of: wish, by: peer.id) {
            return [.report(intent, from: peer, rejected: reason), .reject(intent, reason, to: peer.id)]
        }
        let effects =
            switch wish {
            case .skip: playNext(now: now)
            case .remove(let songID): remove(songID, now: now)
            case .move(let songID, let place): move(songID, to: place, now: now)
            case .kick(let guest): kick(guest, now: now)
            }
        return [.report(intent, from: peer, rejected: nil)] + effects
    }

    private func refusal(of wish: SteeringWish, by peer: Peer.ID) -> RejectionReason? {
        guard state.drivers.contains(peer) else { return .driverOnly }
        switch wish {
        case .skip(let songID): return state.nowPlaying?.id == songID ? nil : .notPlaying
        case .remove(let songID), .move(let songID, _): return place(of: songID) == nil ? .notQueued : nil
        case .kick(let guest):
            guard state.connectedPeers.contains(where: { $0.id == guest }) else { return .notHere }
            // Only the head unit decides who is a co-host.
            return state.drivers.contains(guest) ? .driverOnly : nil
        }
    }
}
