// SPDX-License-Identifier: Apache-2.0

/// Decides everything about one link between two nodes: handshake, admission, records, liveness and goodbye.
///
/// Events go in, actions come out. The owner calls `nextSDU` for bytes to send, so they are chosen when there is room
/// for them. Time and keys are arguments. `Conversation` has the state that outlives the link, and `MeshCore` connects
/// the two.
///
///     initiator                                         responder
///     opened ──► knownHello(appStart) ────────────► identified, introduced ──► (admission)
///     connected ◄────────── knownReply(selfInfo) ◄─ admit()
///     ping ───────────────────────────────────────► connected
///
///     opened ──► rejoinHello(appStart) ───────────► returning ──► rejoin(), introduced ──► (admission)
///     connected ◄────────── record(selfInfo) ◄───── admit()
///     ping ───────────────────────────────────────► connected
///
///     opened ──► unknownHello ───────────────────►
///     identified ◄────────────────── unknownReply ◄
///     present() ──► unknownFinish(appStart) ─────► introduced ──► (admission)
///     connected ◄────────────── record(selfInfo) ◄─ admit(), connected
struct LinkMachine: Sendable {
    /// An action for the owner.
    enum Action: Hashable, Sendable {
        /// There are data to send: call `nextSDU`.
        case wake
        /// The responder's identity is proved: answer with `present`. Initiators only.
        case identified(Peer.ID)
        /// The initiator claims that this side has a secret of its last handshake: answer with `rejoin`. Responders
        /// only.
        case returning(RejoinID, attempt: UInt64, record: [UInt8])
        /// The initiator is proved and has sent its hello: answer with `admit`, `challenge` or `refuse`. Responders
        /// only.
        case introduced(Peer.ID, Hello)
        /// The initiator claims to know the secret of this invitation, or the PIN if it is empty: answer with `agree`
        /// or `refuse`. Responders only.
        case claimed(Peer.ID, invitation: [UInt8])
        /// The initiator has proved the claim: answer with `admit` or `refuse`.
        case proved(Peer.ID, Hello)
        /// The initiator's proof is wrong: answer with `refuse`.
        case provedWrong(Peer.ID, Hello)
        /// This side's tag may be sent: answer with `prove` or `leave`. Initiators only.
        case readyToProve
        /// The link is up, with this peer.
        case connected(Peer, Hello)
        /// A message has arrived.
        case received(MessageUnit)
        /// The peer has everything up to this number.
        case acknowledged(UInt64)
        /// The round-trip time of the ping with this number.
        case roundTrip(Duration, ping: UInt64)
        /// The peer has pinged this side, which itself pings less often.
        case asked
        /// A note of the peer's radio about this link.
        case heed(AirNote)
        /// A frame about a circuit on this link.
        case circuit(Frame)
        /// The route of circuits through the responder has changed.
        case route(Route?)
        /// The states that the peer knows.
        case state([StateName])
        /// The responder asks this side to move behind a relay.
        case askedForRoom
        /// Read nothing before this time.
        case holdReading(until: MeshInstant)
        /// Close the channel, with `afterFinalFrame` only after `nextSDU` returns nothing. No further data follow.
        case close(LinkEnd, afterFinalFrame: Bool)
    }

    let role: LinkRole
    var keys: Keys
    var phase: Phase
    var handshakeDeadline: MeshInstant

    /// The peer, once messages flow.
    var peer: Peer?
    /// The peer's public key, once it is proved.
    var remoteKey: [UInt8]?
    /// The hash of the handshake, once it is finished.
    var handshakeHash: [UInt8]?
    /// The secret of the handshake to store, once it is finished.
    var rejoinSecret: RejoinSecret?
    /// A record must be sent next, even an empty one.
    var owesRecord = false
    /// This responder accepts no key agreements at present.
    var isBusy = false
    /// This responder has room for known peers only.
    var takesKnownOnly = false
    /// An initiator's own run of a proof, and its result.
    var ownRun: (run: CPace, agreement: CPace.Agreement?)?
    /// Both sides have proved that they know the same secret, on this link.
    var isProved = false
    /// The two ciphers, once there are keys.
    var sealed: SealedChannel?
    /// Handshake packets to send, before any record.
    var packets: [[UInt8]] = []
    var control = ControlFrames()
    var lanes: [MessageClass: Fragmenter] = [:]
    /// Circuits have filled the last record, so messages of class latest precede them in the next.
    var latestGoesFirst = false
    /// Records that were sent after the answer to a hello that may be a replay.
    var earlyRecords = 0
    /// The state update of the answer was sent before the link was up.
    var hasWelcomeLeft = false
    var reassemblers: [MessageClass: Reassembler] = [.reliable: Reassembler(), .latest: Reassembler()]
    /// The time since which a unit is incomplete.
    var unfinishedSince: MeshInstant?
    var liveness: Liveness
    var rate: RateLimit
    /// Frames and records that arrived before the link was up.
    var framesBeforeAnswer = 0

    /// A link on a new channel.
    init(
        role: LinkRole, keys: Keys, handshakeTime: Duration = Limits.answerTimeout,
        framesPerSecond: Int = Limits.framesPerSecond, now: MeshInstant
    ) {
        self.role = role
        self.keys = keys
        phase = role == .responder ? .listening(again: false) : .ended
        handshakeDeadline = now + handshakeTime
        liveness = Liveness(role, now: now)
        rate = RateLimit(
            perSecond: framesPerSecond, burst: max(Limits.frameBurst, framesPerSecond / Limits.frameBurstsPerSecond),
            now: now)
    }

    /// The peer, once messages flow.
    var connectedPeer: Peer? {
        if case .connected(let peer) = phase { peer } else { nil }
    }

    /// Whether messages flow.
    var isConnected: Bool { if case .connected = phase { true } else { false } }

    /// Whether the peer has answered all pings.
    var isAnswering: Bool { isConnected && liveness.isAnswered }

    /// Whether the handshake is unfinished.
    var isHalfOpen: Bool {
        switch phase {
        case .connected, .ended: false
        default: true
        }
    }

    /// Whether this side waits for the first packet of an initiator that must be known.
    var awaitsKnown: Bool { if case .listening = phase { takesKnownOnly } else { false } }

    /// Bytes of incomplete units.
    var unfinishedBytes: Int { reassemblers.values.reduce(0) { $0 + $1.byteCount } }

    var hasEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    /// Bytes of the smallest SDU that fits the next packet or the answer, neither of which can be split.
    var leastRoom: Int {
        packets.first?.count ?? control.answer.map { $0.byteCount + NoiseCipher.tagBytes } ?? 0
    }

    /// Whether the link itself has nothing to send.
    var hasNothing: Bool { packets.isEmpty && lanes.isEmpty && control.isEmpty && !owesRecord }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        switch phase {
        case .connected: liveness.deadline
        case .ended: nil
        default: handshakeDeadline
        }
    }

    /// Runs a decision in place, so that a link's buffers are not copied.
    mutating func apply(_ decide: (inout LinkMachine) -> [Action]) -> [Action] { decide(&self) }

    // MARK: Events

    /// An SDU has arrived.
    mutating func received(_ sdu: [UInt8], now: MeshInstant) -> [Action] {
        guard !hasEnded else { return [] }
        liveness.heard()
        // An initiator that is no longer known gets an unencrypted answer instead of a sealed one.
        let isPacket = sealed == nil || isRejoining && sdu.count < NoiseCipher.tagBytes
        return isPacket ? receivedPacket(sdu[...], now: now) : receivedRecord(sdu[...], now: now)
    }

    /// Time has passed: see `deadline`.
    mutating func tick(now: MeshInstant) -> [Action] {
        switch phase {
        case .connected: keepAlive(now: now)
        case .ended: []
        default: now >= handshakeDeadline ? end(.handshakeTimeout) : []
        }
    }

    private mutating func keepAlive(now: MeshInstant) -> [Action] {
        // Checked with every ping, which is often enough.
        if role == .responder, let unfinishedSince, now >= unfinishedSince + Limits.unitTimeout {
            return end(.misbehaved(.badFragment))
        }
        switch liveness.tick(now: now) {
        case .nothing: return []
        case .dead: return end(.silent)
        case .ping(let number):
            control.enqueue(.ping(number))
            return [.wake]
        }
    }

    /// Nothing was read from the channel until now because this side did not read. So the other side was not silent.
    mutating func heardNothingByChoice(now: MeshInstant) {
        liveness.excuse(now: now)
    }

    /// Sends a ping whose answer is not expected, since this side does not read.
    mutating func showLife(now: MeshInstant) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.ping(liveness.showLife(now: now)))
        return [.wake]
    }

    /// This side leaves.
    mutating func leave(saying reason: GoodbyeReason = .unspecified) -> [Action] {
        if hasEnded { return [] }
        // Without keys, or with keys that the other side may not have, this side cannot send a goodbye that the peer
        // can verify.
        return sealed == nil || isRejoining ? end(.left) : leave(with: .left, saying: reason)
    }

    /// This side leaves for a reason, and says goodbye.
    mutating func leave(with end: LinkEnd, saying reason: GoodbyeReason = .unspecified) -> [Action] {
        control.enqueue(.goodbye(reason))
        return self.end(end, afterFinalFrame: true)
    }

    /// The responder removes an initiator that it had admitted.
    mutating func sendAway(_ reason: RefusalReason) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.refusal(reason))
        return end(.refused(reason), afterFinalFrame: true)
    }

    /// The channel has failed or was closed.
    mutating func channelClosed() -> [Action] {
        hasEnded ? [] : end(.linkLost)
    }

    /// Ends the link for a reason that is not in the link itself.
    mutating func end(_ reason: LinkEnd, afterFinalFrame: Bool = false) -> [Action] {
        phase = .ended
        return (afterFinalFrame ? [.wake] : []) + [.close(reason, afterFinalFrame: afterFinalFrame)]
    }

    /// Adds a state update to the answer that was just made, to be sent right after it. Returns whether there was an
    /// answer.
    mutating func welcome(with unit: MessageUnit) -> Bool {
        switch phase {
        case .confirming, .connected: break
        default: return false
        }
        guard lanes[.latest] == nil else { return false }
        lanes[.latest] = Fragmenter(unit.bytes, lane: .latest)
        return true
    }

    /// Pings the peer at once, because a message waits for its answer.
    mutating func doubt(now: MeshInstant) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.ping(liveness.doubt(now: now)))
        return [.wake]
    }

    /// Pings the peer at once, to measure the round trip. Returns the ping's number.
    mutating func measure(now: MeshInstant) -> UInt64? {
        guard case .connected = phase else { return nil }
        let number = liveness.ask(now: now)
        control.enqueue(.ping(number))
        return number
    }

    /// Sends the route of circuits to an initiator.
    mutating func tell(_ route: Route?) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.route(route))
        return [.wake]
    }

    /// Reports to the peer the last states of the host that this side has, the newest first, or the state from which
    /// its updates continue.
    mutating func tell(_ names: [StateName]) -> [Action] {
        guard case .connected = phase, !names.isEmpty else { return [] }
        control.enqueue(.state(names))
        return [.wake]
    }

    /// Asks an initiator that is not a relay to move behind a relay, if it hears one.
    mutating func askForRoom() -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.makeRoom)
        return [.wake]
    }

    /// Sends the peer this side's radio note about the link.
    mutating func note(_ note: AirNote) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.air(note))
        return [.wake]
    }

    /// Acknowledges everything up to a number.
    mutating func acknowledge(upTo number: UInt64) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.acknowledgement(number))
        return [.wake]
    }
}
