// SPDX-License-Identifier: Apache-2.0

/// The proofs that this node requires from peers, and those that it gives to hosts.
extension MeshCore {
    /// Whether a host that this node has joined has proved this node's secret.
    public func isProved(_ host: Peer.ID) -> Bool { peers[key(host, as: .initiator)]?.isProved == true }

    /// This node's secret for the host that it dials. An invitation is for one host, a PIN for any.
    public func secret(for expected: Peer.ID?) -> JoiningSecret? { proofs.secret(for: expected) }

    /// Whether this node sends no tag for its PIN until its person allows it: too many hosts got a tag and did not
    /// prove that they know the PIN.
    public var holdsBackProofs: Bool { proofs.isHeldBack }

    /// Whether a host must not be dialled for this reason. A host that has proved a PIN before asks for none.
    public func holdsBack(from host: Peer.ID) -> Bool {
        guard holdsBackProofs, secret(for: host) != nil else { return false }
        return !joined(withHead: Identity.head(of: host)).contains { isProved($0) }
    }

    /// A person allows one more host. Returns whether this changes anything.
    public mutating func allowOneProof() -> Bool { proofs.allowOne() }

    mutating func readyToProve(on id: LinkID) -> [Action] {
        switch proofs.leaves(links[id]?.machine.keys.secret) {
        case .holdBack: return update(id) { $0.leave(with: .refused(.challenge)) }
        case .prove(let isCounted): return (isCounted ? [.tell(id, .unansweredProofs)] : []) + update(id) { $0.prove() }
        }
    }

    /// A host has proved that it knows the secret.
    mutating func answered(_ secret: JoiningSecret?, on id: LinkID) -> [Action] {
        proofs.answered(secret) ? [.tell(id, .unansweredProofs)] : []
    }

    /// A link to a relay alone gives no access: the nodes behind it prove themselves in their circuits.
    func hasToProve(_ peer: Peer.ID, on id: LinkID) -> Bool {
        guard proofs.policy.isLocked, links[id]?.carrier == nil else { return false }
        return peers[key(peer, as: .responder)]?.isProved != true
    }

    /// The entrance of a link. A link in a circuit has the entrance of its carrier.
    func entrance(of id: LinkID) -> Entrance {
        guard let link = links[id] else { return .air }
        return link.place.flatMap { links[$0.carrier]?.entrance } ?? link.entrance
    }

    /// Demands a proof from a new peer. After too many wrong guesses the peer is refused before either side computes
    /// anything.
    mutating func challenge(on id: LinkID) -> [Action] {
        let hasRoom = proofs.policy.hasRoom(at: entrance(of: id), now: now)
        return update(id) { hasRoom ? $0.challenge() : $0.refuse(.tooManyGuesses) }
    }

    mutating func claimed(_ invitation: [UInt8], on id: LinkID) -> [Action] {
        switch proofs.claimed(invitation, at: entrance(of: id), now: now) {
        case .agree(let secret):
            if !invitation.isEmpty { links[id]?.invitation = invitation }
            return update(id) { $0.agree(on: secret) }
        case .refuse(let reason): return update(id) { $0.refuse(reason) }
        case .admit: return []
        }
    }

    /// A peer has proved a secret. Another peer may have got the last slot in the meantime.
    mutating func proved(_ peer: Peer, on id: LinkID) -> [Action] {
        if case .refuse(let reason) = answer(to: peer.id, on: id) { return update(id) { $0.refuse(reason) } }
        let invitation = links[id]?.invitation
        if case .refuse(let reason) = proofs.proved(invitation, at: entrance(of: id), now: now) {
            return update(id) { $0.refuse(reason) }
        }
        return (invitation == nil ? [] : [.tell(id, .invitationUsed(peer))]) + admit(peer, on: id)
    }

    mutating func provedWrong(_ peer: Peer, on id: LinkID) -> [Action] {
        let reason = proofs.provedWrong(links[id]?.invitation, at: entrance(of: id), now: now)
        return (reason == .wrongProof ? [.tell(id, .guessedWrong(peer))] : []) + update(id) { $0.refuse(reason) }
    }

    /// Why a peer that a bearer vouches for is refused with this claim. Nil if the claim is right.
    public mutating func judge(_ claim: JoiningSecret, now: MeshInstant) -> RefusalReason? {
        self.now = max(now, self.now)
        return proofs.policy.judge(claim, at: .page, now: self.now)
    }

    /// Admits a peer of a vouching bearer by its invitation. False if another peer has used it.
    public mutating func use(_ claim: JoiningSecret) -> Bool {
        proofs.policy.use(invitation: claim.invitation, now: now)
    }
}
