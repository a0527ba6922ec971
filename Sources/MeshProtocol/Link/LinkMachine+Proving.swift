// SPDX-License-Identifier: Apache-2.0

/// What is proved before an initiator is let in (`docs/protocol.md`, "Challenges"): both sides know the same secret, and neither
/// tells it to the other.
///
///     initiator                                   responder
///     ◄──────────────────────────── challenge 1 ◄─ challenge()
///     proof 1 (share) ────────────────────────────► claimed ──► agree(on:)
///     ◄─────────────────── challenge 2 (share) ◄─
///     proof 2 (its proof) ────────────────────────► proved ──► admit()
///     connected ◄──── selfInfo (its proof too) ◄─
extension LinkMachine {
    /// How far that has got. A share of the other side's costs arithmetic, and comes in a record: nobody who replays a packet has
    /// this side do any.
    enum ProofStep: Sendable {
        /// Responder: the initiator's share is due.
        case asked
        /// Responder: the initiator's share is there, and the secret it is compared with is due.
        case claimed(RistrettoElement)
        /// Responder: the initiator's proof is due.
        case agreed(CPace.Agreement)
        /// The right one has come, and this is the answer to it.
        case proved(Hello.Proof)
    }

    // MARK: The responder's side

    /// The responder asks for a proof.
    mutating func challenge() -> [Action] {
        guard case .admitting(var initiator) = phase else { return [] }
        let challenge = Frame.challenge(kind: Proof.kind, round: 1, data: [])
        guard initiator.handshake != nil else {
            phase = .proving(initiator, .asked)
            control.enqueue(challenge)
            return [.wake]
        }
        let wake = reply(to: initiator, with: challenge)
        guard !hasEnded else { return wake }
        initiator.handshake = nil
        phase = .proving(initiator, .asked)
        return wake
    }

    /// The responder compares what the initiator claims to know with this secret.
    mutating func agree(on secret: JoiningSecret) -> [Action] {
        guard case .proving(let initiator, .claimed(let share)) = phase, let remoteKey, let handshakeHash else {
            return []
        }
        let run = Proof.run(
            .responder, secret, initiator: remoteKey, responder: keys.local.publicKey, handshakeHash: handshakeHash,
            ephemeral: keys.ephemeral)
        guard let run, let agreement = run.agree(with: share) else { return end(.misbehaved(.badProof)) }
        phase = .proving(initiator, .agreed(agreement))
        control.enqueue(.challenge(kind: Proof.kind, round: 2, data: run.share.bytes))
        return [.wake]
    }

    /// A frame of an initiator that has to prove something.
    mutating func receivedWhileProving(_ frame: Frame, _ initiator: Initiator, _ step: ProofStep) -> [Action] {
        switch (step, frame) {
        case (.asked, .proof(Proof.kind, 1, let data)):
            guard let share = RistrettoElement(encoded: data.prefix(RistrettoElement.byteCount)) else {
                return end(.misbehaved(.malformedFrame))
            }
            phase = .proving(initiator, .claimed(share))
            return [.claimed(initiator.id, invitation: Array(data.dropFirst(RistrettoElement.byteCount)))]
        case (.agreed(let agreement), .proof(Proof.kind, 2, let data)):
            guard isSameProof(data, agreement.initiatorProof) else {
                return [.provedWrong(initiator.id, initiator.hello)]
            }
            phase = .proving(initiator, .proved(Hello.Proof(kind: Proof.kind, data: agreement.responderProof)))
            return [.proved(initiator.id, initiator.hello)]
        case (_, .goodbye(let reason)): return end(.goodbye(reason))
        default: return end(.misbehaved(.unexpectedFrame))
        }
    }

    /// The responder takes an initiator in that has proved what it was asked for.
    mutating func admitProved(_ initiator: Initiator, _ proof: Hello.Proof, as hello: Hello) -> [Action] {
        var hello = hello
        hello.proof = proof
        control.enqueue(.selfInfo(hello))
        isProved = true
        return connect(initiator) + [.wake]
    }

    // MARK: The initiator's side

    /// The responder wants something proved.
    mutating func challenged(by responder: Peer.ID, kind: UInt8, round: UInt8, _ data: [UInt8]) -> [Action] {
        guard kind == Proof.kind, let secret = keys.secret, secret.host.map({ $0 == responder }) != false else {
            return leave(with: .refused(.challenge))
        }
        guard let remoteKey, let handshakeHash else { return end(.misbehaved(.unexpectedFrame)) }
        switch (round, ownRun) {
        case (1, nil):
            let run = Proof.run(
                .initiator, secret, initiator: keys.local.publicKey, responder: remoteKey,
                handshakeHash: handshakeHash, ephemeral: keys.ephemeral)
            guard let run else { return end(.misbehaved(.badProof)) }
            ownRun = (run, nil)
            control.enqueue(.proof(kind: kind, round: 1, data: run.share.bytes + secret.invitation))
            return [.wake]
        case (2, let (run, nil)?):
            guard let share = RistrettoElement(encoded: data.prefix(RistrettoElement.byteCount)) else {
                return end(.misbehaved(.malformedFrame))
            }
            guard let agreement = run.agree(with: share) else { return end(.misbehaved(.badProof)) }
            ownRun = (run, agreement)
            return [.readyToProve]
        default: return end(.misbehaved(.unexpectedFrame))
        }
    }

    /// The initiator's tag leaves. From now on the responder can check one guess.
    mutating func prove() -> [Action] {
        guard case .answering = phase, let agreement = ownRun?.agreement else { return [] }
        control.enqueue(.proof(kind: Proof.kind, round: 2, data: agreement.initiatorProof))
        return [.wake]
    }

    /// Whether the responder is one that this initiator may join: it has proved what this side was told, on this link or on an
    /// earlier one, or its key is the one that this side was told. Whatever it advertises, and whether it has asked or not.
    mutating func isProof(_ hello: Hello, of responder: Peer.ID) -> Bool {
        guard let secret = keys.secret else { return true }
        if let (_, agreement) = ownRun {
            guard let agreement, let proof = hello.proof, proof.kind == Proof.kind else { return false }
            isProved = isSameProof(proof.data, agreement.responderProof)
            return isProved
        }
        return keys.proved.contains(responder) || secret.host == responder
    }
}
