// SPDX-License-Identifier: Apache-2.0

/// What has to be proved at this node's door, and what it proves at others'.
extension MeshCore {
    /// Whether a host that this node has joined has proved what this node was told.
    public func isProved(_ host: Peer.ID) -> Bool { knownPeers[key(host, as: .initiator)]?.isProved == true }

    /// A link to a relay is no way in by itself: who stands behind one proves itself in its circuit.
    func hasToProve(_ peer: Peer.ID, on id: LinkID) -> Bool {
        guard door.isLocked, links[id]?.carrier == nil else { return false }
        return knownPeers[key(peer, as: .responder)]?.isProved != true
    }

    /// Somebody new has to prove something. Where too many have guessed it is told so before anybody computes anything.
    mutating func challenge(on id: LinkID) -> [Action] {
        guard door.hasRoom(now: now) else { return update(id) { $0.refuse(.tooManyGuesses) } }
        return update(id) { $0.challenge() }
    }

    mutating func claimed(_ invitation: [UInt8], on id: LinkID) -> [Action] {
        guard invitation.isEmpty else { return update(id) { $0.refuse(.invitation) } }
        guard let secret = door.begin(on: id, now: now) else { return update(id) { $0.refuse(.tooManyGuesses) } }
        return update(id) { $0.agree(on: secret) }
    }

    /// Somebody may have taken the last place since it was asked.
    mutating func proved(_ peer: Peer, on id: LinkID) -> [Action] {
        door.end(on: id)
        switch answer(to: peer.id, on: id) {
        case .refuse(let reason): return update(id) { $0.refuse(reason) }
        case .admit: return admit(peer, on: id)
        }
    }

    mutating func provedWrong(_ peer: Peer, on id: LinkID) -> [Action] {
        door.wasWrong(on: id, now: now)
        return [.tell(id, .guessedWrong(peer))] + update(id) { $0.refuse(.wrongProof) }
    }
}
