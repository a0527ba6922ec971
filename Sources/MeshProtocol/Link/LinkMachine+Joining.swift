// SPDX-License-Identifier: Apache-2.0

/// Joining (`docs/protocol.md`, "Challenges", "Admission"): the steps between the key agreement and the first message.
/// The initiator has sent its hello, and the responder admits or refuses it.
extension LinkMachine {
    /// The cases are indirect, since a handshake is large and a link lives long.
    indirect enum Phase: Sendable {
        /// Initiator: `unknownHello` is sent. Next: `answering` or `ended`.
        case greeting(NoiseHandshake)
        /// Initiator: the responder is identified, and `present` is due. Next: `answering`.
        case presenting(NoiseHandshake)
        /// Initiator: `knownHello` is sent. Next: `connected` or `ended`.
        case recognising(NoiseHandshake)
        /// Initiator: `rejoinHello` is sent. Next: `connected`, `recognising` or `ended`.
        case rejoining(Hello)
        /// Initiator: all packets are sent, and the responder's answer is due. Next: `connected` or `ended`.
        case answering(Peer.ID)
        /// Responder: the initiator's first packet is due. It is due again if this side cannot use the first one,
        /// because it has stored nothing about the initiator. Next: `identifying`, `admitting` or `ended`.
        case listening(again: Bool)
        /// Responder: `unknownReply` is sent. Next: `admitting` or `ended`.
        case identifying(NoiseHandshake)
        /// Responder: `admit` or `refuse` is due. Next: `confirming`, `connected` or `ended`.
        case admitting(Initiator)
        /// Responder: the answer is sent. Only the initiator's first record proves that its hello was not a replay and
        /// is not late. Next: `connected`.
        case confirming(Initiator)
        /// Responder: a `challenge` is sent, and a `proof` is due. Next: `connected` or `ended`.
        case proving(Initiator, ProofStep)
        case connected(Peer)
        case ended
    }

    /// An initiator with a proved key, and its hello.
    struct Initiator: Sendable {
        var id: Peer.ID
        var hello: Hello
        /// The handshake of the answer, if it is not finished.
        var handshake: NoiseHandshake?
        /// The initiator resumes, and its hello may have been delayed on the route.
        var mayBeLate = false
    }

    /// The data that a link needs of its node, and of the node that it dials.
    struct Keys: Sendable {
        var local: Identity
        var prologue: [UInt8]
        /// A new private key for every link.
        var ephemeral: [UInt8]
        /// The identifier of the dialled responder, or its head. Nil for responders.
        var expected: Peer.ID?
        /// The key of the dialled responder, if it is known.
        var expectedKey: [UInt8]?
        /// The stored secret of the last handshake with the dialled responder.
        var rejoin: Rejoin?
        /// Whether a secret of this handshake is stored.
        var mayRejoin = false
        /// Peers that were joined before and may be the dialled responder. If there are any, no other peer is accepted.
        var joined: [Peer.ID] = []
        /// The flags that the responder was heard to advertise. Nil for responders, and without a scan result.
        var heard: AdvertisedFlags?
        /// The initiator's secret. The secret to prove. An initiator with a secret joins only responders that can prove
        /// the secret as well.
        var secret: JoiningSecret?
        /// The responders that have proved the secret before, and may be the dialled one.
        var proved: [Peer.ID] = []
    }

    // MARK: The responder's side

    /// The responder admits the initiator.
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

    /// The responder refuses the initiator.
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

    /// A frame has arrived before the link is up: the responder's answer, or another frame.
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

    /// The responder has answered, so the initiator is admitted.
    private mutating func accept(_ hello: Hello, of responder: Peer.ID, now: MeshInstant) -> [Action] {
        let hello = keys.rejoin.map { hello.completed(with: $0) } ?? hello
        if hello.unknownPart != nil { return leave(with: .refused(.version)) }
        if let heard = keys.heard, hello.flags.wereStripped(from: heard) {
            return end(.misbehaved(.strippedAdvertisement))
        }
        guard isProof(hello, of: responder) else { return end(.misbehaved(.unprovenHost)) }
        // Send a record at once: a responder that knew this side waits for one, which proves that the hello is not a
        // replay. A side that resumes sends nothing else.
        if keys.rejoin != nil { owesRecord = true } else { control.enqueue(.ping(liveness.ask(now: now))) }
        return connect(to: responder, hello) + [.wake]
    }
}

extension AdvertisedFlags.Critical {
    /// The flags that this version supports.
    public static let known: Self = [.bond, .proof, .circuitsOnly]
}
