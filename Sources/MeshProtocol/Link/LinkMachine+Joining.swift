// SPDX-License-Identifier: Apache-2.0

/// Joining (`docs/protocol.md`, "Challenges", "Admission"): what is said between the keys and the first message, and how
/// far that has got. The initiator has introduced itself, and the responder takes it in, or does not.
extension LinkMachine {
    /// Indirect, since a handshake is large and a link lives long.
    indirect enum Phase: Sendable {
        /// Initiator: `unknownHello` is out. To `answering`, or to the end.
        case greeting(NoiseHandshake)
        /// Initiator: the responder is identified, `present` is due. To `answering`.
        case presenting(NoiseHandshake)
        /// Initiator: `knownHello` is out. To `connected` or the end.
        case recognising(NoiseHandshake)
        /// Initiator: `rejoinHello` is out. To `connected`, `recognising` or the end.
        case rejoining(Hello)
        /// Initiator: everything is said, and the responder's answer is due. To `connected` or the end.
        case answering(Peer.ID)
        /// Responder: the initiator's first packet is due, perhaps again since nothing is kept of it. To `identifying`, `admitting` or the
        /// end.
        case listening(again: Bool)
        /// Responder: `unknownReply` is out. To `admitting` or the end.
        case identifying(NoiseHandshake)
        /// Responder: `admit` or `refuse` is due. To `confirming`, `connected` or the end.
        case admitting(Initiator)
        /// Responder: the answer is out; only the initiator's first record proves that its hello was no replay, and has not come
        /// late. To `connected`.
        case confirming(Initiator)
        /// Responder: a `challenge` is out, and a `proof` is due. To `connected` or the end.
        case proving(Initiator, ProofStep)
        case connected(Peer)
        case ended
    }

    /// An initiator that a responder knows the key of, and what it said.
    struct Initiator: Sendable {
        var id: Peer.ID
        var hello: Hello
        /// The handshake that the answer belongs into, where it is not finished.
        var handshake: NoiseHandshake?
        /// It has come back, and what it said may have been kept back on the way.
        var mayBeLate = false
    }

    /// What a link needs to know of its node, and of the node it dials.
    struct Keys: Sendable {
        var local: Identity
        var prologue: [UInt8]
        /// A new private key for every link.
        var ephemeral: [UInt8]
        /// The identifier, or the head of it, of the responder that was dialled. Nil for responders.
        var expected: Peer.ID?
        /// The key of the responder that was dialled, where it is known.
        var expectedKey: [UInt8]?
        /// What is kept of the last handshake with the responder that was dialled.
        var rejoin: Rejoin?
        /// Something of this handshake is kept.
        var mayRejoin = false
        /// Those who were joined before and may be the responder that was dialled: nobody else is then.
        var joined: [Peer.ID] = []
        /// The flags that the responder was heard to advertise. Nil for responders, and where nothing was heard.
        var heard: AdvertisedFlags?
        /// What an initiator can prove: then it joins nobody who cannot prove that as well.
        var secret: JoiningSecret?
        /// The responders that have proved it before, and may be the one that was dialled.
        var proved: [Peer.ID] = []
    }

    // MARK: The responder's side

    /// The responder takes the initiator in.
    mutating func admit(as hello: Hello) -> [Action] {
        if case .proving(let initiator, .proved(let proof)) = phase { return admitProved(initiator, proof, as: hello) }
        guard case .admitting(let initiator) = phase else { return [] }
        guard initiator.handshake != nil else {
            control.enqueue(.selfInfo(initiator.mayBeLate ? hello.brief : hello))
            guard initiator.mayBeLate else { return connect(initiator) + [.wake] }
            phase = .confirming(initiator)
            return [.wake]
        }
        phase = .confirming(initiator)
        return reply(to: initiator, with: .selfInfo(hello))
    }

    /// The responder does not take the initiator in.
    mutating func refuse(_ reason: RefusalReason) -> [Action] {
        let initiator: Initiator
        switch phase {
        case .admitting(let it), .proving(let it, _): initiator = it
        default: return []
        }
        if initiator.handshake == nil {
            control.enqueue(.refusal(reason))
        } else {
            _ = reply(to: initiator, with: .refusal(reason))
        }
        return end(.refused(reason), afterFinalFrame: true)
    }

    // MARK: The initiator's side

    /// A frame has arrived before the link is up: the responder's answer, or something else.
    mutating func receivedWhileJoining(_ frame: Frame, now: MeshInstant) -> [Action] {
        switch (phase, frame) {
        case (.answering(let responder), .selfInfo(let hello)): accept(hello, of: responder, now: now)
        case (.answering, .refusal(let reason)): end(.refused(reason))
        case (.answering(let responder), .challenge(let kind, let round, let data)):
            challenged(by: responder, kind: kind, round: round, data)
        case (.proving(let initiator, let step), _): receivedWhileProving(frame, initiator, step)
        case (_, .goodbye(let reason)): end(.goodbye(reason))
        default: end(.misbehaved(.unexpectedFrame))
        }
    }

    /// The responder has answered: the initiator is in.
    private mutating func accept(_ hello: Hello, of responder: Peer.ID, now: MeshInstant) -> [Action] {
        let hello = keys.rejoin.map { hello.completed(with: $0) } ?? hello
        if hello.unknownPart != nil { return leave(with: .refused(.version)) }
        if let heard = keys.heard, hello.flags.wereStripped(from: heard) {
            return end(.misbehaved(.strippedAdvertisement))
        }
        guard isProof(hello, of: responder) else { return end(.misbehaved(.unprovenHost)) }
        // At once: a responder that knew us waits for a record to be sure that we are no replay, and are there. Who has come back says no
        // more than that.
        if keys.rejoin != nil { owesRecord = true } else { control.enqueue(.ping(liveness.ask(now: now))) }
        return connect(to: responder, hello) + [.wake]
    }
}

extension AdvertisedFlags.Critical {
    /// Those that this version can meet.
    public static let known: Self = [.bond, .proof, .circuitsOnly]
}
