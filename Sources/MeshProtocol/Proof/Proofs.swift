// SPDX-License-Identifier: Apache-2.0

/// The proofs that a node requires from peers, and those that it gives to hosts.
struct Proofs: Sendable {
    /// The answer to a peer that claims to know a secret.
    enum Answer: Sendable {
        /// Agree on this secret.
        case agree(JoiningSecret)
        case refuse(RefusalReason)
    }

    /// Whether this node's tag may be sent.
    enum Leave: Sendable {
        /// `isCounted`: the count has changed and must be stored.
        case prove(isCounted: Bool)
        /// Too many hosts got a tag and did not prove that they know the PIN.
        case holdBack
    }

    /// The proofs that this node requires before it admits a peer.
    var policy = AdmissionPolicy()
    /// The secret that this node can prove when it joins.
    var secret: JoiningSecret?
    /// How often other nodes could check a guess of the secret.
    var unanswered = UnansweredProofs()
    private let identity: Identity

    init(_ identity: Identity) { self.identity = identity }

    // MARK: Joining

    /// This node's secret for the host that it dials. An invitation is for one host, a PIN for any.
    func secret(for expected: Peer.ID?) -> JoiningSecret? {
        secret.flatMap { secret in
            secret.host.map { $0.hasPrefix(expected ?? "") } != false ? secret : nil
        }
    }

    /// The hash by which attempts with a PIN are counted. Nil for an invitation, since its secret is too long to guess.
    private func counted(_ secret: JoiningSecret?) -> [UInt8]? {
        secret.flatMap { $0.pin == nil ? nil : $0.hash(keyed: identity) }
    }

    /// Whether this node sends no tag for its PIN until its person allows it: too many hosts got a tag and did not
    /// prove that they know the PIN.
    var isHeldBack: Bool { counted(secret).map { !unanswered.hasRoom(for: $0) } == true }

    /// A person allows one more host. Returns whether this changes anything.
    mutating func allowOne() -> Bool { counted(secret).map { unanswered.allowOne($0) } == true }

    /// A tag for a secret is about to be sent. It counts before it is sent, and the right answer resets the count.
    mutating func leaves(_ secret: JoiningSecret?) -> Leave {
        guard let counted = counted(secret) else { return .prove(isCounted: false) }
        guard unanswered.hasRoom(for: counted) else { return .holdBack }
        unanswered.left(counted)
        return .prove(isCounted: true)
    }

    /// A host has proved that it knows a secret. Returns whether the count has changed.
    mutating func answered(_ secret: JoiningSecret?) -> Bool {
        counted(secret).map { unanswered.answered($0) } == true
    }

    // MARK: Admitting

    /// A new peer claims to know the secret of an invitation, or the PIN if `invitation` is empty.
    mutating func claimed(_ invitation: [UInt8], at entrance: Entrance, now: MeshInstant) -> Answer {
        guard invitation.isEmpty else {
            return policy.secret(ofInvitation: invitation, now: now).map { .agree($0) } ?? .refuse(.invitation)
        }
        guard let pin = policy.pin, policy.mayGuess(at: entrance, now: now) else { return .refuse(.tooManyGuesses) }
        return .agree(pin)
    }

    /// A peer has proved the secret of an invitation, or the PIN. Returns why it is refused: another peer may have used
    /// the same invitation in the meantime.
    mutating func proved(_ invitation: [UInt8]?, at entrance: Entrance, now: MeshInstant) -> RefusalReason? {
        guard let invitation else {
            // Without guesses left even a right proof is refused, so the answer reveals nothing.
            return policy.mayGuess(at: entrance, now: now) ? nil : .tooManyGuesses
        }
        return policy.use(invitation: invitation, now: now) ? nil : .invitation
    }

    /// A peer's proof is wrong. A wrong secret of an invitation does not count as a guess: there are too many possible
    /// values.
    mutating func provedWrong(_ invitation: [UInt8]?, at entrance: Entrance, now: MeshInstant) -> RefusalReason {
        guard invitation == nil else { return .invitation }
        guard policy.mayGuess(at: entrance, now: now) else { return .tooManyGuesses }
        policy.wasWrong(now: now)
        return .wrongProof
    }
}
