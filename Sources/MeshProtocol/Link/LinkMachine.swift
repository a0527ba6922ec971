// SPDX-License-Identifier: Apache-2.0

/// Decides everything about one link between two nodes: handshake, admission, records, liveness, goodbye.
///
/// Events go in, actions come out. Bytes to send are pulled with `nextSDU`, so that what leaves is decided when there
/// is room for it. Time and keys are arguments. What outlives the link is in `Conversation`; `MeshCore` joins the two.
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
    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// There is something to send: `nextSDU`.
        case wake
        /// The responder's identity is proved: answer with `present`. Initiators only.
        case identified(Peer.ID)
        /// The initiator claims that this side has kept something of its last handshake: answer with `rejoin`. Responders only.
        case returning(RejoinID, attempt: UInt64, record: [UInt8])
        /// The initiator is proved and has introduced itself: answer with `admit`, `challenge` or `refuse`. Responders only.
        case introduced(Peer.ID, Hello)
        /// The initiator claims to know the secret of this invitation, or the PIN where that is empty: answer with `agree` or
        /// `refuse`. Responders only.
        case claimed(Peer.ID, invitation: [UInt8])
        /// It has proved that it does: answer with `admit` or `refuse`.
        case proved(Peer.ID, Hello)
        /// It has not: answer with `refuse`.
        case provedWrong(Peer.ID, Hello)
        /// The tag of this side may leave: answer with `prove` or `leave`. Initiators only.
        case readyToProve
        /// The link is up, with this peer.
        case connected(Peer, Hello)
        /// A message has arrived.
        case received(MessageUnit)
        /// The peer has everything up to this number.
        case acknowledged(UInt64)
        /// A ping was answered after this time.
        case roundTrip(Duration)
        /// The peer has asked whether this side is there, which does not ask as often by itself.
        case asked
        /// What the peer's radio knows of this link.
        case heed(AirNote)
        /// Something about a circuit on this link.
        case circuit(Frame)
        /// Where circuits through the responder lead has changed.
        case route(Route?)
        /// What the peer knows of the state.
        case state([StateName])
        /// The responder asks this side to go behind a relay.
        case askedForRoom
        /// Read no more before this time.
        case holdReading(until: MeshInstant)
        /// Close the channel, after what `nextSDU` still has where `afterFinalFrame` says so. Nothing follows.
        case close(LinkEnd, afterFinalFrame: Bool)
    }

    let role: LinkRole
    var keys: Keys
    var phase: Phase
    var handshakeDeadline: MeshInstant

    /// The peer, once messages have flown.
    var peer: Peer?
    /// The peer's public key, once it is proved.
    var remoteKey: [UInt8]?
    /// A hash of everything that was said in the handshake, once it is done.
    var handshakeHash: [UInt8]?
    /// What may be kept of the handshake, once it is done.
    var rejoinSecret: RejoinSecret?
    /// A record leaves next, also where nothing is in it.
    var owesRecord = false
    /// A responder that agrees on keys with nobody at present.
    var isBusy = false
    /// A responder that has room for those it knows only.
    var takesKnownOnly = false
    /// An initiator's own run of a proof, and what it has agreed on.
    var ownRun: (run: CPace, agreement: CPace.Agreement?)?
    /// Both sides have proved to know the same secret, on this link.
    var isProved = false
    /// The two ciphers, once there are keys.
    var sealed: SealedChannel?
    /// Handshake packets that wait to leave, before any record.
    var packets: [[UInt8]] = []
    var control = ControlFrames()
    var lanes: [MessageClass: Fragmenter] = [:]
    /// Circuits have filled the last record: what is of class latest goes before them in the next.
    var latestGoesFirst = false
    /// Records that have left behind the answer to a hello that may be a replay.
    var earlyRecords = 0
    /// The state that went with the answer has left, before the link was up.
    var hasWelcomeLeft = false
    var reassemblers: [MessageClass: Reassembler] = [.reliable: Reassembler(), .latest: Reassembler()]
    /// Since when a unit is being put together.
    var unfinishedSince: MeshInstant?
    var liveness: Liveness
    var rate: RateLimit
    /// Frames and records that have come before the link was up.
    var framesBeforeAnswer = 0

    /// A link whose channel has just opened.
    init(role: LinkRole, keys: Keys, handshakeTime: Duration = Limits.answerTimeout, now: MeshInstant) {
        self.role = role
        self.keys = keys
        phase = role == .responder ? .listening(again: false) : .ended
        handshakeDeadline = now + handshakeTime
        liveness = Liveness(role, now: now)
        rate = RateLimit(perSecond: Limits.framesPerSecond, burst: Limits.frameBurst, now: now)
    }

    /// The peer, once messages flow.
    var connectedPeer: Peer? {
        if case .connected(let peer) = phase { peer } else { nil }
    }

    /// Whether messages flow.
    var isConnected: Bool { if case .connected = phase { true } else { false } }

    /// Whether the peer has answered everything that it was asked.
    var isAnswering: Bool { isConnected && liveness.isAnswered }

    /// Whether the handshake is still under way.
    var isHalfOpen: Bool {
        switch phase {
        case .connected, .ended: false
        default: true
        }
    }

    /// Whether the first packet of an initiator is due that this side has to know.
    var awaitsKnown: Bool { if case .listening = phase { takesKnownOnly } else { false } }

    /// Bytes of units that are being put together.
    var unfinishedBytes: Int { reassemblers.values.reduce(0) { $0 + $1.byteCount } }

    var hasEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    /// Bytes of the smallest SDU that holds what leaves next, where that cannot be cut: a packet, or the answer.
    var leastRoom: Int {
        packets.first?.count ?? control.answer.map { $0.byteCount + NoiseCipher.tagBytes } ?? 0
    }

    /// Whether nothing of its own can have to leave.
    var hasNothing: Bool { packets.isEmpty && lanes.isEmpty && control.isEmpty && !owesRecord }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        switch phase {
        case .connected: liveness.deadline
        case .ended: nil
        default: handshakeDeadline
        }
    }

    /// Decides something. In place: a link's buffers are not copied.
    mutating func apply(_ decide: (inout LinkMachine) -> [Action]) -> [Action] { decide(&self) }

    // MARK: Events

    /// An SDU has arrived.
    mutating func received(_ sdu: [UInt8], now: MeshInstant) -> [Action] {
        guard !hasEnded else { return [] }
        liveness.heard()
        // Who is not known any more is told so in the clear, where an answer was to be sealed.
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
        // Looked at with every ping, which is soon enough.
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

    /// Nothing was read from the channel up to now because this side did not read: the other side was not silent.
    mutating func heardNothingByChoice(now: MeshInstant) {
        liveness.excuse(now: now)
    }

    /// This side leaves.
    mutating func leave(saying reason: GoodbyeReason = .unspecified) -> [Action] {
        if hasEnded { return [] }
        // Who has no keys yet, or keys that the other side may not have, can say nothing that would be believed.
        return sealed == nil || isRejoining ? end(.left) : leave(with: .left, saying: reason)
    }

    /// This side leaves for a reason, and says goodbye.
    mutating func leave(with end: LinkEnd, saying reason: GoodbyeReason = .unspecified) -> [Action] {
        control.enqueue(.goodbye(reason))
        return self.end(end, afterFinalFrame: true)
    }

    /// The responder sends an initiator away that it had taken in.
    mutating func sendAway(_ reason: RefusalReason) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.refusal(reason))
        return end(.refused(reason), afterFinalFrame: true)
    }

    /// The channel has failed or was closed under us.
    mutating func channelClosed() -> [Action] {
        hasEnded ? [] : end(.linkLost)
    }

    /// The link is over for another reason than its own.
    mutating func end(_ reason: LinkEnd, afterFinalFrame: Bool = false) -> [Action] {
        phase = .ended
        return (afterFinalFrame ? [.wake] : []) + [.close(reason, afterFinalFrame: afterFinalFrame)]
    }

    /// Gives a state update to the answer that has just been made: it leaves right behind it. Whether there was one.
    mutating func welcome(with unit: MessageUnit) -> Bool {
        switch phase {
        case .confirming, .connected: break
        default: return false
        }
        guard lanes[.latest] == nil else { return false }
        lanes[.latest] = Fragmenter(unit.bytes, lane: .latest)
        return true
    }

    /// Asks at once whether the peer is there: something waits for its answer.
    mutating func doubt(now: MeshInstant) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.ping(liveness.doubt(now: now)))
        return [.wake]
    }

    /// Tells an initiator where circuits lead.
    mutating func tell(_ route: Route?) -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.route(route))
        return [.wake]
    }

    /// Tells the peer which states of the host's are the last that this side has, the newest first, or on which one follows what it gets.
    mutating func tell(_ names: [StateName]) -> [Action] {
        guard case .connected = phase, !names.isEmpty else { return [] }
        control.enqueue(.state(names))
        return [.wake]
    }

    /// Asks an initiator that relays nothing to go behind a relay, where it hears one.
    mutating func askForRoom() -> [Action] {
        guard case .connected = phase else { return [] }
        control.enqueue(.makeRoom)
        return [.wake]
    }

    /// Tells the peer what this side's radio knows of the link.
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
