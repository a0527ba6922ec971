// SPDX-License-Identifier: Apache-2.0

/// The complete protocol of a node as one struct: all its links, the conversations that outlive them, and admission.
///
/// Events go in, actions come out, and its owner performs them in order. It reads no clock and draws no random numbers,
/// so a simulator can run a car full of nodes from one seed.
public struct MeshCore: Sendable {
    /// A link's number. The owner assigns it and never uses a number twice.
    public typealias LinkID = Int

    /// The settings of a node. They are fixed before its first link.
    struct Settings: Sendable {
        let local: Peer
        let identity: Identity
        let service: ServiceType
        let holdsUntilStored: Bool
        let silence: Duration
        let relays: Bool
        fileprivate let prologues: [HandshakePacket.Medium: [UInt8]]
        /// Whether circuits may end here.
        fileprivate(set) var takesCircuits = false
    }

    private(set) var settings: Settings
    var links = LinkSlots()
    var peerLinks = PeerLinks()
    var circuitEnds = CircuitEnds()
    var peers: PeerBook
    /// The route that this node has reported to the nodes behind it.
    public internal(set) var route: Route?
    var sharedStates: SharedStates
    var admission = Admission()
    /// Stored secrets of handshakes in circuits, for peers that come back.
    var rejoins = RejoinTable()
    var proofs: Proofs
    /// Limits the handshakes of other nodes.
    var handshakes = HandshakeGate()
    /// Protocol violations, by kind.
    public internal(set) var misbehaviours: [Misbehaviour: Int] = [:]
    /// Time of the last event.
    var now = MeshInstant.zero

    /// A node that knows no peers, or those of `remembered`. It ignores remembered peers that are invalid, belong to
    /// another service, or exceed `Limits.conversations`. With `holdsUntilStored`, a reliable message is sent only
    /// after `stored` has reported that it is on disk; a node without a disk sends messages at once. `silence` is how
    /// long this node may have to be silent.
    public init(
        identity: Identity, name: String, service: ServiceType, remembered: [ConversationKey: Remembered] = [:],
        holdsUntilStored: Bool = false, silence: Duration = Limits.pongTimeout, relays: Bool = false
    ) {
        settings = Settings(
            local: Peer(id: identity.peerID, name: name), identity: identity, service: service,
            holdsUntilStored: holdsUntilStored, silence: silence, relays: relays,
            prologues: [
                .direct: HandshakePacket.prologue(of: service),
                .circuit: HandshakePacket.prologue(of: service, on: .circuit),
            ])
        peers = PeerBook(remembered, of: service, holdsUntilStored: holdsUntilStored)
        sharedStates = SharedStates(service, key: identity.signingKey)
        proofs = Proofs(identity)
    }

    /// This node.
    public var local: Peer { settings.local }

    /// The application of this node.
    public var service: ServiceType { settings.service }

    /// Whether this node is a relay.
    public var relays: Bool { settings.relays }

    /// Whether circuits may end here. True for a host.
    public var takesCircuits: Bool {
        get { settings.takesCircuits }
        set { settings.takesCircuits = newValue }
    }

    /// The proofs that this node requires before it admits a peer.
    public var admissionPolicy: AdmissionPolicy {
        get { proofs.policy }
        _modify { yield &proofs.policy }
    }

    /// The secret that this node can prove when it joins.
    public var secret: JoiningSecret? {
        get { proofs.secret }
        set { proofs.secret = newValue }
    }

    /// How often other nodes could check a guess of the secret.
    public var unanswered: UnansweredProofs {
        get { proofs.unanswered }
        set { proofs.unanswered = newValue }
    }

    /// The link to the host that this node has joined.
    var hostLink: LinkID? { peerLinks.toHost }

    /// Makes all nodes of a simulation share their checked signatures.
    package mutating func share(_ checked: CheckedSignatures) { sharedStates.share(checked) }

    /// The conversation with a known peer.
    public func conversation(_ key: ConversationKey) -> Conversation? { peers[key]?.conversation }

    /// The conversation on a link that is up.
    public func conversation(on id: LinkID) -> Conversation? { key(on: id).flatMap { peers[$0]?.conversation } }

    /// The key of that conversation.
    public func key(on id: LinkID) -> ConversationKey? { links.conversation(on: id) }

    /// The linked peers.
    public var connectedPeers: [Peer.ID] { Array(peerLinks.ofPeer.keys) }

    /// The peer of a link that is up.
    public func peer(on id: LinkID) -> Peer? { links.peer(on: id) }

    /// All links in any state.
    public var allLinks: [LinkID] { links.keys.sorted() }

    /// The link to a peer.
    public func link(to peer: Peer.ID) -> LinkID? { peerLinks.ofPeer[peer] }

    /// The link that carries a conversation. A peer has at most one, in either role.
    private func link(of key: ConversationKey) -> LinkID? {
        peerLinks.ofPeer[key.peer].flatMap { links.conversation(on: $0) == key ? $0 : nil }
    }

    /// Accepted links with an unfinished handshake: those with channels, or those in circuits.
    func halfOpenLinks(inCircuits: Bool = false) -> Int { links.halfOpen(inCircuits: inCircuits) }

    /// Which initiators may begin a handshake on an accepted link.
    private mutating func mayBegin(in place: CircuitPlace?, at entrance: Entrance) -> HandshakeGate.Answer {
        guard let place else {
            return handshakes.opened(at: entrance, halfOpen: links.halfOpen(at: entrance), now: now)
        }
        // One relay must not take the slots of nodes behind another.
        let isFull =
            halfOpenLinks(inCircuits: true) >= Limits.halfOpenCircuits
            || links.halfOpen(over: place.carrier) >= Limits.halfOpenCircuitsOfRelay
        return isFull ? .busy : .open
    }

    // MARK: Links

    /// A channel has opened, or a link must begin in a circuit, at this place. `expected` is the identifier of the
    /// dialled responder, or its head. If the radio has a reason to refuse an initiator, the initiator gets the
    /// `refusal` after its hello. `bearer` is the link's bearer; bytes at a broker cost money. An initiator reports the
    /// host's last `states` that it has, the newest first, so that the host sends only later changes. More than
    /// `framesPerSecond` are not read from the link.
    public mutating func opened(
        _ id: LinkID, as role: LinkRole, sendMTU: Int, expected: Peer.ID? = nil, refusal: RefusalReason? = nil,
        advertised: AdvertisedFlags? = nil, in place: CircuitPlace? = nil, over bearer: BearerKind? = nil,
        showing states: [StateName] = [], framesPerSecond: Int = Limits.framesPerSecond, entropy: Entropy,
        now: MeshInstant
    ) -> [Action] {
        self.now = now
        let isCarrier =
            place == nil && (role == .responder ? relays : advertised?.critical.contains(.circuitsOnly) == true)
        // The key of a relay is not stored: a relay is dialled by its advertisement, and has no conversation of its
        // own.
        let known = isCarrier ? nil : expected.flatMap { onlyJoined(withHead: $0) }
        let keys = LinkMachine.Keys(
            local: settings.identity, prologue: settings.prologues[place == nil ? .direct : .circuit] ?? [],
            ephemeral: entropy.ephemeralKey, expected: expected,
            expectedKey: known.flatMap { peers[key($0, as: .initiator)]?.publicKey },
            rejoin: place == nil ? nil : known.flatMap { rejoins.next(key($0, as: .initiator), now: now) },
            mayRejoin: place != nil,
            joined: isCarrier ? [] : expected.map { joined(withHead: $0) } ?? [],
            heard: role == .initiator && place == nil ? advertised : nil,
            secret: isCarrier ? nil : secret(for: expected),
            proved: isCarrier ? [] : expected.map { joined(withHead: $0) }?.filter { isProved($0) } ?? [])
        let gate = role == .responder ? mayBegin(in: place, at: Entrance(bearer)) : .open
        let time =
            role == .initiator
            ? Limits.answerTimeout : gate == .known ? Limits.knownHelloTimeout : Limits.handshakeTimeout
        let hopTime = min(Limits.hopTime * (place?.hops ?? 0), Limits.longestHopTime)
        links[id] = Link(
            machine: LinkMachine(
                role: role, keys: keys, handshakeTime: time + hopTime, framesPerSecond: framesPerSecond, now: now),
            entropy: entropy,
            expected: expected, refusal: refusal, advertised: advertised, sendMTU: sendMTU,
            circuits: CircuitMux(role), carrier: isCarrier ? Carrier() : nil,
            shown: role == .responder || isCarrier ? [] : shown(states, to: place?.host ?? expected),
            entrance: Entrance(bearer), isMetered: bearer == .broker)
        if let place, !enter(place, id, role) {
            links[id]?.place = place
            return update(id) { $0.end(.circuit(.noRoom)) }
        }
        if place != nil, role == .responder { links[id]?.machine.isBusy = !handshakes.inCircuits.allows(now: now) }
        links[id]?.machine.takesKnownOnly = gate == .known
        let standing = known.flatMap { introduce(to: $0, on: id) }
        return update(id) { machine in
            // The channel is already closed, which is not a violation.
            if sendMTU == 0 { return machine.end(.linkLost) }
            if sendMTU < Limits.leastSDUBytes { return machine.end(.misbehaved(.smallChannel)) }
            return gate == .busy ? machine.turnAway() : machine.opened(as: standing)
        } + (place == nil || role == .initiator ? [] : receiveEarly(on: id))
    }

    /// An SDU has arrived on a link.
    public mutating func received(_ sdu: [UInt8], on id: LinkID, now: MeshInstant) -> [Action] {
        self.now = now
        rejoins.forgetOld(now: now)
        if links[id]?.machine.awaitsKnown == true, case .knownHello? = HandshakePacket(sdu[...]),
            !handshakes.mayRecognise(at: entrance(of: id), now: now)
        {
            links[id]?.machine.isBusy = true
        }
        let actions = update(id) { $0.received(sdu, now: now) }
        guard let carrier = links.carrier(of: id), let greediest = links.greediest(over: carrier) else {
            return actions
        }
        return actions + update(greediest) { $0.end(.misbehaved(.badFragment)) }
    }

    /// A link's channel has closed. The link is removed.
    public mutating func channelClosed(_ id: LinkID) -> [Action] {
        let actions = update(id) { $0.channelClosed() }
        links[id] = nil
        return actions
    }

    /// When `tick` is due for a link.
    public func deadline(of id: LinkID) -> MeshInstant? { links[id]?.deadline }

    /// The earliest deadline of all links.
    public var deadline: MeshInstant? { links.deadline }

    /// The links that `tick` is due for, in order.
    public func due(by now: MeshInstant) -> [LinkID] { links.due(by: now) }

    /// Time has passed for a link.
    public mutating func tick(_ id: LinkID, now: MeshInstant) -> [Action] {
        self.now = max(now, self.now)
        rejoins.forgetOld(now: self.now)
        if let until = links[id]?.lingersUntil {
            return now >= until ? leaveCircuit(id, afterFinalFrame: false) : []
        }
        if let since = links[id]?.waitsSince, now >= since + Limits.circuitPatience {
            links[id]?.waitsSince = nil
            return update(id) { $0.doubt(now: now) }
        }
        return update(id) { $0.tick(now: now) }
    }

    /// Nothing was read from a link until now because this side did not read. So the other side was not silent.
    public mutating func heardNothingByChoice(on id: LinkID, now: MeshInstant) {
        links[id]?.machine.heardNothingByChoice(now: now)
        // The unread data may contain an acknowledgement.
        if links[id]?.waitsSince != nil { links[id]?.waitsSince = now }
    }

    /// Nothing is read from a link at present because the application does not read. A ping shows the peer that this
    /// side is alive.
    public mutating func holdUp(_ id: LinkID, now: MeshInstant) -> [Action] {
        heardNothingByChoice(on: id, now: now)
        return update(id) { $0.showLife(now: now) }
    }

    /// This side leaves a link, with a goodbye that may report the end of its session.
    public mutating func leave(_ id: LinkID, saying reason: GoodbyeReason = .unspecified) -> [Action] {
        sealWhatPasses(id)
        return update(id) { $0.leave(saying: reason) }
    }

    /// Banned peers. This does not affect links that are up; use `sendAway` for those.
    public var banned: Set<Peer.ID> {
        get { admission.banned }
        set { admission.banned = newValue }
    }

    /// The answer to a peer that a bearer vouches for, if the bearer has linked these `connected` peers already.
    public func answer(vouchedFor peer: Peer.ID, connected: some Collection<Peer.ID>) -> Admission.Answer {
        admission.answer(peer, local: local.id, connected: connected, limit: Limits.vouchedGuests)
    }

    /// The responder ends the link of an initiator.
    public mutating func sendAway(_ peer: Peer.ID, _ reason: RefusalReason) -> [Action] {
        guard let id = peerLinks.ofPeer[peer] else { return [] }
        return update(id) { $0.sendAway(reason) }
    }

    /// The next SDU to send on a link, of at most this many bytes, and the actions that follow.
    public mutating func nextSDU(for id: LinkID, limit: Int) -> (sdu: [UInt8], actions: [Action])? {
        // The caller asks until nothing is left.
        guard !links.isSilentCarrier(id, sharedStates.log) else { return nil }
        // Taken out and put back, so that its queues are not copied. No code reads the slot in between.
        guard var link = links.take(id) else { return nil }
        let (key, isCarrier) = (link.conversation, link.carrier != nil)
        var actions: [Action] = []
        let outgoing = link.machine.nextSDU(limit: limit) {
            key.flatMap { peers[$0]?.conversation.nextReliable() }
        } circuits: { room in
            link.circuits.isEmpty
                ? nil : nextFrame(&link.circuits, of: id, room, &actions)
        } latest: {
            isCarrier ? link.carrier?.next(of: sharedStates.log) : key.flatMap { peers[$0]?.conversation.nextLatest() }
        }
        if link.isQuiet, link.waitsSince == nil, key.map({ peers[$0]?.conversation.isUnanswered == true }) == true {
            link.waitsSince = now
        }
        links[id] = consume link
        guard let outgoing else { return nil }
        if outgoing.latestHasLeft, !isCarrier { actions.append(.tell(id, .latestHasLeft)) }
        return (outgoing.sdu, actions)
    }

    /// Adds the first state update of a link to its answer, in reply to `LinkEvent.admitted`. The update is sent right
    /// after the answer in the same burst, encrypted with the initiator's key, and is message number 1 of class latest
    /// on this link. `latestHasLeft` reports it once the link is up. The call has no effect if no answer is in
    /// progress, if the answer has its update already, or if the message is too long. A relay gets a signed update if
    /// it is for the nodes behind it.
    public mutating func welcome(_ body: [UInt8], as sharing: SharedState? = nil, on id: LinkID) -> [Action] {
        guard body.count <= Limits.messageBytes, let link = links[id], link.isAdmitted, !link.isWelcomed, !link.isOver
        else { return [] }
        // A peer that is connected already may have got a later update.
        if let key = link.conversation, peers[key]?.conversation.hasSentLatest != false { return [] }
        let entry = leadsToRelay(id) ? sharing.flatMap { sharedStates.signed(body, as: $0) } : nil
        let unit = MessageUnit(.latest, number: 1, body: (entry?.signed ?? body)[...], sharing: entry?.sharing)
        guard links[id]?.machine.welcome(with: unit) == true else { return [] }
        links[id]?.isWelcomed = true
        if let key = link.conversation { peers[key]?.conversation.countWelcome() }
        return wake(id)
    }

    /// Sends the peer of a link this side's radio note on it. If several wait, only the newest is sent.
    public mutating func note(_ note: AirNote, on id: LinkID) -> [Action] { update(id) { $0.note(note) } }

    // MARK: Messages

    /// Adds a message to a conversation. A reliable one waits for the disk, if this node holds until stored, and for a
    /// link, however long that takes. An update for all guests is signed if a relay gets it.
    public mutating func send(
        _ body: [UInt8], as messageClass: MessageClass, to key: ConversationKey, sharing: SharedState? = nil
    ) -> (Conversation.Sending, [Action]) {
        peers.touch(key)
        guard body.count <= Limits.messageBytes else { return (.tooLong, []) }
        if messageClass == .reliable, unacknowledgedBytes + body.count > Limits.allOutboxBytes { return (.full, []) }
        let isForRelay = sharing != nil && link(of: key).map { leadsToRelay($0) } == true
        let entry = isForRelay ? sharing.flatMap { sharedStates.signed(body, as: $0) } : nil
        let sent = peers[key]?.conversation.send(entry?.signed ?? body, as: messageClass, sharing: entry?.sharing)
        guard let sending = sent else { return (.noLink, []) }
        let isHeld = messageClass == .reliable && settings.holdsUntilStored
        guard case .queued = sending, !isHeld else { return (sending, []) }
        return (sending, wake(key))
    }

    /// Everything up to a number in a conversation is on disk and may be sent. No effect if this is known, or if the
    /// conversation was forgotten.
    public mutating func stored(upTo number: UInt64, for key: ConversationKey) -> [Action] {
        peers[key]?.conversation.stored(upTo: number) == true ? wake(key) : []
    }

    private mutating func wake(_ key: ConversationKey) -> [Action] { link(of: key).map { wake($0) } ?? [] }

    /// The held messages of a conversation could not be stored. They are removed as if `send` had never been called,
    /// and their numbers are free again. A caller that has them in a later write must remove them there too. Returns
    /// how many there were.
    @discardableResult
    public mutating func withdrawHeld(for key: ConversationKey) -> Int {
        peers[key]?.conversation.withdrawHeld() ?? 0
    }

    /// Bytes that wait for all peers together.
    private var unacknowledgedBytes: Int { peers.conversations.reduce(0) { $0 + $1.unacknowledgedBytes } }

    /// The application cannot store a peer's reliable message. It is never acknowledged. It and all later ones come
    /// again with the next link.
    public mutating func decline(_ message: ReceivedMessage) {
        peers[message.conversation]?.conversation.decline(message.number, of: message.epoch)
    }

    /// Whether this reliable message or an earlier one was declined.
    public func hasDeclined(_ message: ReceivedMessage) -> Bool {
        message.messageClass == .reliable
            && peers[message.conversation]?.conversation.hasDeclined(message.number, of: message.epoch) == true
    }

    /// Declined messages can be stored now. This ends the links of their senders, so that they come back with the
    /// messages.
    public mutating func askForDeclined() -> [Action] {
        peers.declining.compactMap { link(of: $0) }.sorted().flatMap { id in
            update(id) { $0.end(.linkLost) }
        }
    }

    /// The application has stored a peer's reliable messages up to this one. They are acknowledged.
    public mutating func accept(upTo message: ReceivedMessage) -> [Action] {
        guard message.messageClass == .reliable,
            let accepted = peers[message.conversation]?.conversation.accept(upTo: message.number, of: message.epoch),
            let id = link(of: message.conversation)
        else { return [] }
        return update(id) { $0.acknowledge(upTo: accepted) }
    }
}
