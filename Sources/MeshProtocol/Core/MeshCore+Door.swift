// SPDX-License-Identifier: Apache-2.0

/// What has to be proved at this node's door, and what it proves at others'.
extension MeshCore {
    /// Whether a host that this node has joined has proved what this node was told.
    public func isProved(_ host: Peer.ID) -> Bool { knownPeers[key(host, as: .initiator)]?.isProved == true }

    /// What this node was told for the host that it dials: an invitation is for one, a PIN for any.
    public func secret(for expected: Peer.ID?) -> JoiningSecret? {
        secret.flatMap { secret in
            secret.host.map { $0.hasPrefix(expected ?? "") } != false ? secret : nil
        }
    }

    /// The hash under which this node's PIN is counted; nil for an invitation, whose secret is too long to guess.
    private func counted(_ secret: JoiningSecret?) -> [UInt8]? {
        secret.flatMap { $0.pin == nil ? nil : $0.hash(keyed: identity) }
    }

    /// Whether this node sends no tag for its PIN until its person says so: too many got one and did not prove to know it.
    public var holdsBackProofs: Bool { counted(secret).map { !unanswered.hasRoom(for: $0) } == true }

    /// Whether a host is not to be dialled because of that. One that has proved a PIN before asks for none.
    public func holdsBack(from host: Peer.ID) -> Bool {
        guard holdsBackProofs, secret(for: host) != nil else { return false }
        return !joined(withHead: Identity.head(of: host)).contains { isProved($0) }
    }

    /// A person says that one more host may be tried. Whether that changes anything.
    public mutating func allowOneProof() -> Bool { counted(secret).map { unanswered.allowOne($0) } == true }

    /// Counted before the tag leaves, and until the right one has come back.
    mutating func readyToProve(on id: LinkID) -> [Action] {
        guard let counted = counted(links[id]?.machine.keys.secret) else { return update(id) { $0.prove() } }
        guard unanswered.hasRoom(for: counted) else { return update(id) { $0.leave(with: .refused(.challenge)) } }
        unanswered.left(counted)
        return [.tell(id, .unansweredProofs)] + update(id) { $0.prove() }
    }

    /// A host has proved to know the secret.
    mutating func answered(_ secret: JoiningSecret?, on id: LinkID) -> [Action] {
        guard let counted = counted(secret), unanswered.answered(counted) else { return [] }
        return [.tell(id, .unansweredProofs)]
    }

    /// A link to a relay is no way in by itself: who stands behind one proves itself in its circuit.
    func hasToProve(_ peer: Peer.ID, on id: LinkID) -> Bool {
        guard door.isLocked, links[id]?.carrier == nil else { return false }
        return knownPeers[key(peer, as: .responder)]?.isProved != true
    }

    /// The entrance of a link; a link in a circuit has the one of its carrier.
    func entrance(of id: LinkID) -> Entrance {
        guard let link = links[id] else { return .air }
        return link.place.flatMap { links[$0.carrier]?.entrance } ?? link.entrance
    }

    /// Somebody new has to prove something. Where too many have guessed it is told so before anybody computes anything.
    mutating func challenge(on id: LinkID) -> [Action] {
        guard door.hasRoom(at: entrance(of: id), now: now) else { return update(id) { $0.refuse(.tooManyGuesses) } }
        return update(id) { $0.challenge() }
    }

    mutating func claimed(_ invitation: [UInt8], on id: LinkID) -> [Action] {
        guard invitation.isEmpty else {
            guard let secret = door.secret(ofInvitation: invitation, now: now) else {
                return update(id) { $0.refuse(.invitation) }
            }
            links[id]?.invitation = invitation
            return update(id) { $0.agree(on: secret) }
        }
        guard let pin = door.pin, door.mayGuess(at: entrance(of: id), now: now) else {
            return update(id) { $0.refuse(.tooManyGuesses) }
        }
        return update(id) { $0.agree(on: pin) }
    }

    /// Somebody may have taken the last place since it was asked, or used the same invitation.
    mutating func proved(_ peer: Peer, on id: LinkID) -> [Action] {
        if case .refuse(let reason) = answer(to: peer.id, on: id) { return update(id) { $0.refuse(reason) } }
        guard let invitation = links[id]?.invitation else {
            // Without guesses left even a right proof is refused, so the answer shows nothing.
            return door.mayGuess(at: entrance(of: id), now: now)
                ? admit(peer, on: id) : update(id) { $0.refuse(.tooManyGuesses) }
        }
        guard door.use(invitation: invitation, now: now) else { return update(id) { $0.refuse(.invitation) } }
        return [.tell(id, .invitationUsed(peer))] + admit(peer, on: id)
    }

    /// A wrong secret of an invitation is no guess: there are too many.
    mutating func provedWrong(_ peer: Peer, on id: LinkID) -> [Action] {
        guard links[id]?.invitation == nil else { return update(id) { $0.refuse(.invitation) } }
        guard door.mayGuess(at: entrance(of: id), now: now) else { return update(id) { $0.refuse(.tooManyGuesses) } }
        door.wasWrong(now: now)
        return [.tell(id, .guessedWrong(peer))] + update(id) { $0.refuse(.wrongProof) }
    }

    /// Why a peer that a bearer vouches for is refused with this claim; nil if the claim is right.
    public mutating func judge(_ claim: JoiningSecret, now: MeshInstant) -> RefusalReason? {
        self.now = max(now, self.now)
        return door.judge(claim, at: .page, now: self.now)
    }

    /// Such a peer is let in by its invitation. False where somebody else has used it.
    public mutating func use(_ claim: JoiningSecret) -> Bool { door.use(invitation: claim.invitation, now: now) }
}
