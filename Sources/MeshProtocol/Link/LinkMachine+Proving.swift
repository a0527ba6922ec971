// SPDX-License-Identifier: Apache-2.0

/// The proof before an initiator is admitted (`docs/protocol.md`, "Challenges"): both sides know the same secret, and
/// neither reveals it to the other.
///
///     initiator                                   responder
///     ◄──────────────────────────── challenge 1 ◄─ challenge()
///     proof 1 (share) ────────────────────────────► claimed ──► agree(on:)
///     ◄─────────────────── challenge 2 (share) ◄─
///     proof 2 (its proof) ────────────────────────► proved ──► admit()
///     connected ◄──── selfInfo (its proof too) ◄─
extension LinkMachine {
    /// The step of a proof. A share of the other side costs arithmetic and arrives in a record, so a replayed packet
    /// causes none.
    enum ProofStep: Sendable {
        /// Responder: the initiator's share is due.
        case asked
        /// Responder: the initiator's share has arrived, and the secret to compare is due.
        case claimed(RistrettoElement)
        /// Responder: the initiator's proof is due.
        case agreed(CPace.Agreement)
        /// The right proof has arrived, and this is the answer to it.
        case proved(Hello.Proof)
    }

    // MARK: The responder's side

    /// The responder requests a proof.
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

    /// The responder compares the initiator's claim with this secret.
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

    /// A frame of an initiator that must prove a secret.
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

    /// The responder admits an initiator that has given the requested proof.
    mutating func admitProved(_ initiator: Initiator, _ proof: Hello.Proof, as hello: Hello) -> [Action] {
        var hello = hello
        hello.proof = proof
        control.enqueue(.selfInfo(hello))
        isProved = true
        return connect(initiator) + [.wake]
    }

    // MARK: The initiator's side

    /// The responder requests a proof.
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

    /// The initiator's tag is sent. From now on the responder can check one guess.
    mutating func prove() -> [Action] {
        guard case .answering = phase, let agreement = ownRun?.agreement else { return [] }
        control.enqueue(.proof(kind: Proof.kind, round: 2, data: agreement.initiatorProof))
        return [.wake]
    }

    /// Whether this initiator may join the responder. The responder has proved this side's secret on this link or an
    /// earlier one, or its key is the expected one. This does not depend on its advertisement, nor on whether it has
    /// requested a proof.
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
