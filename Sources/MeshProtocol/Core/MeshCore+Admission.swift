// SPDX-License-Identifier: Apache-2.0

/// The proofs that this node requires from peers, and those that it gives to hosts.
extension MeshCore {
    /// Whether a host that this node has joined has proved this node's secret.
    public func isProved(_ host: Peer.ID) -> Bool { peers[key(host, as: .initiator)]?.isProved == true }

    /// This node's secret for the host that it dials. An invitation is for one host, a PIN for any.
    public func secret(for expected: Peer.ID?) -> JoiningSecret? {
        secret.flatMap { secret in
            secret.host.map { $0.hasPrefix(expected ?? "") } != false ? secret : nil
        }
    }

    /// The hash by which attempts with this node's PIN are counted. Nil for an invitation, since its secret is too long
    /// to guess.
    private func counted(_ secret: JoiningSecret?) -> [UInt8]? {
        secret.flatMap { $0.pin == nil ? nil : $0.hash(keyed: settings.identity) }
    }

    /// Whether this node sends no tag for its PIN until its person allows it: too many hosts got a tag and did not
    /// prove that they know the PIN.
    public var holdsBackProofs: Bool { counted(secret).map { !unanswered.hasRoom(for: $0) } == true }

    /// Whether a host must not be dialled for this reason. A host that has proved a PIN before asks for none.
    public func holdsBack(from host: Peer.ID) -> Bool {
        guard holdsBackProofs, secret(for: host) != nil else { return false }
        return !joined(withHead: Identity.head(of: host)).contains { isProved($0) }
    }

    /// A person allows one more host. Returns whether this changes anything.
    public mutating func allowOneProof() -> Bool { counted(secret).map { unanswered.allowOne($0) } == true }

    /// The tag counts before it is sent. The right answer resets the count.
    mutating func readyToProve(on id: LinkID) -> [Action] {
        guard let counted = counted(links[id]?.machine.keys.secret) else { return update(id) { $0.prove() } }
        guard unanswered.hasRoom(for: counted) else { return update(id) { $0.leave(with: .refused(.challenge)) } }
        unanswered.left(counted)
        return [.tell(id, .unansweredProofs)] + update(id) { $0.prove() }
    }

    /// A host has proved that it knows the secret.
    mutating func answered(_ secret: JoiningSecret?, on id: LinkID) -> [Action] {
        guard let counted = counted(secret), unanswered.answered(counted) else { return [] }
        return [.tell(id, .unansweredProofs)]
    }

    /// A link to a relay alone gives no access: the nodes behind it prove themselves in their circuits.
    func hasToProve(_ peer: Peer.ID, on id: LinkID) -> Bool {
        guard admissionPolicy.isLocked, links[id]?.carrier == nil else { return false }
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
        guard admissionPolicy.hasRoom(at: entrance(of: id), now: now) else {
            return update(id) { $0.refuse(.tooManyGuesses) }
        }
        return update(id) { $0.challenge() }
    }

    mutating func claimed(_ invitation: [UInt8], on id: LinkID) -> [Action] {
        guard invitation.isEmpty else {
            guard let secret = admissionPolicy.secret(ofInvitation: invitation, now: now) else {
                return update(id) { $0.refuse(.invitation) }
            }
            links[id]?.invitation = invitation
            return update(id) { $0.agree(on: secret) }
        }
        guard let pin = admissionPolicy.pin, admissionPolicy.mayGuess(at: entrance(of: id), now: now) else {
            return update(id) { $0.refuse(.tooManyGuesses) }
        }
        return update(id) { $0.agree(on: pin) }
    }

    /// A peer has proved a secret. Another peer may have got the last slot, or used the same invitation, in the
    /// meantime.
    mutating func proved(_ peer: Peer, on id: LinkID) -> [Action] {
        if case .refuse(let reason) = answer(to: peer.id, on: id) { return update(id) { $0.refuse(reason) } }
        guard let invitation = links[id]?.invitation else {
            // Without guesses left even a right proof is refused, so the answer reveals nothing.
            return admissionPolicy.mayGuess(at: entrance(of: id), now: now)
                ? admit(peer, on: id) : update(id) { $0.refuse(.tooManyGuesses) }
        }
        guard admissionPolicy.use(invitation: invitation, now: now) else {
            return update(id) { $0.refuse(.invitation) }
        }
        return [.tell(id, .invitationUsed(peer))] + admit(peer, on: id)
    }

    /// A wrong secret of an invitation does not count as a guess: there are too many possible values.
    mutating func provedWrong(_ peer: Peer, on id: LinkID) -> [Action] {
        guard links[id]?.invitation == nil else { return update(id) { $0.refuse(.invitation) } }
        guard admissionPolicy.mayGuess(at: entrance(of: id), now: now) else {
            return update(id) { $0.refuse(.tooManyGuesses) }
        }
        admissionPolicy.wasWrong(now: now)
        return [.tell(id, .guessedWrong(peer))] + update(id) { $0.refuse(.wrongProof) }
    }

    /// Why a peer that a bearer vouches for is refused with this claim. Nil if the claim is right.
    public mutating func judge(_ claim: JoiningSecret, now: MeshInstant) -> RefusalReason? {
        self.now = max(now, self.now)
        return admissionPolicy.judge(claim, at: .page, now: self.now)
    }

    /// Admits a peer of a vouching bearer by its invitation. False if another peer has used it.
    public mutating func use(_ claim: JoiningSecret) -> Bool {
        admissionPolicy.use(invitation: claim.invitation, now: now)
    }
}
