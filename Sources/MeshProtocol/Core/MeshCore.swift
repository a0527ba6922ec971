// SPDX-License-Identifier: Apache-2.0

/// The complete protocol of a node as one struct: all its links, the conversations that outlive them, and admission.
///
/// Events go in, actions come out, and its owner performs them in order. It reads no clock and draws no random numbers,
/// so a simulator can run a car full of nodes from one seed.
///
/// `MeshLinks` handles what happens on links. `Membership` knows the peers, and decides which ones join.
public struct MeshCore: Sendable {
    /// A link's number. The owner assigns it and never uses a number twice.
    public typealias LinkID = Int

    private let settings: Settings
    private var links: MeshLinks
    private var members: Membership

    /// A node that knows no peers, or those of `remembered`. It ignores remembered peers that are invalid, belong to
    /// another service, or exceed `Limits.conversations`. With `holdsUntilStored`, a reliable message is sent only
    /// after `stored` has reported that it is on disk; a node without a disk sends messages at once. `silence` is how
    /// long this node may have to be silent.
    public init(
        identity: Identity, name: String, service: ServiceType, remembered: [ConversationKey: Remembered] = [:],
        holdsUntilStored: Bool = false, silence: Duration = Limits.pongTimeout, relays: Bool = false
    ) {
        settings = Settings(
            identity, name: name, service, holdsUntilStored: holdsUntilStored, silence: silence, relays: relays)
        links = MeshLinks(settings)
        members = Membership(settings, remembered: remembered)
    }

    /// Whether circuits may end here. True for a host.
    public var takesCircuits: Bool {
        get { links.takesCircuits }
        set { links.takesCircuits = newValue }
    }

    /// The proofs that this node requires before it admits a peer.
    public var admissionPolicy: AdmissionPolicy {
        get { members.proofs.policy }
        _modify { yield &members.proofs.policy }
    }

    /// The secret that this node can prove when it joins.
    public var secret: JoiningSecret? {
        get { members.proofs.secret }
        set { members.proofs.secret = newValue }
    }

    /// How often other nodes could check a guess of the secret.
    public var unanswered: UnansweredProofs {
        get { members.proofs.unanswered }
        set { members.proofs.unanswered = newValue }
    }

    /// Banned peers. This does not affect links that are up; use `sendAway` for those.
    public var banned: Set<Peer.ID> {
        get { members.admission.banned }
        set { members.admission.banned = newValue }
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
        let isCarrier =
            place == nil && (role == .responder ? relays : advertised?.critical.contains(.circuitsOnly) == true)
        let start = members.opened(
            as: role, expected: expected, advertised: advertised, in: place, isCarrier: isCarrier,
            at: Entrance(bearer), ephemeralKey: entropy.ephemeralKey, links.slots, now: now)
        let time = role == .initiator ? Limits.answerTimeout : start.gate.time
        let hopTime = min(Limits.hopTime * (place?.hops ?? 0), Limits.longestHopTime)
        let showsStates = role == .initiator && !isCarrier
        let link = Link(
            machine: LinkMachine(
                role: role, keys: start.keys, handshakeTime: time + hopTime, framesPerSecond: framesPerSecond, now: now),
            entropy: entropy, expected: expected, refusal: refusal, advertised: advertised, sendMTU: sendMTU,
            circuits: CircuitMux(role), carrier: isCarrier ? Carrier() : nil,
            shown: showsStates ? links.states.shown(states, to: place?.host ?? expected) : [],
            entrance: Entrance(bearer), isMetered: bearer == .broker)
        return links.opened(id, link, in: place, start, &members, now: now)
    }

    /// An SDU has arrived on a link.
    public mutating func received(_ sdu: [UInt8], on id: LinkID, now: MeshInstant) -> [Action] {
        members.forgetOld(now: now)
        return links.received(sdu, on: id, &members, now: now)
    }

    /// A link's channel has closed. The link is removed.
    public mutating func channelClosed(_ id: LinkID) -> [Action] { links.channelClosed(id, &members) }

    /// Time has passed for a link.
    public mutating func tick(_ id: LinkID, now: MeshInstant) -> [Action] {
        links.moveClock(to: now)
        members.forgetOld(now: links.now)
        return links.tick(id, &members, now: now)
    }

    /// Nothing was read from a link until now because this side did not read. So the other side was not silent.
    public mutating func heardNothingByChoice(on id: LinkID, now: MeshInstant) {
        links.heardNothingByChoice(on: id, now: now)
    }

    /// Nothing is read from a link at present because the application does not read. A ping shows the peer that this
    /// side is alive.
    public mutating func holdUp(_ id: LinkID, now: MeshInstant) -> [Action] {
        links.heardNothingByChoice(on: id, now: now)
        return change(id) { $0.showLife(now: now) }
    }

    /// Holds back the credits of a link's circuit while this side does not read it.
    public mutating func holdCircuit(of id: LinkID, _ isHeld: Bool) -> [Action] { links.holdCircuit(of: id, isHeld) }

    /// This side leaves a link, with a goodbye that may report the end of its session.
    public mutating func leave(_ id: LinkID, saying reason: GoodbyeReason = .unspecified) -> [Action] {
        links.leave(id, saying: reason, &members)
    }

    /// The responder ends the link of an initiator.
    public mutating func sendAway(_ peer: Peer.ID, _ reason: RefusalReason) -> [Action] {
        guard let id = link(to: peer) else { return [] }
        return change(id) { $0.sendAway(reason) }
    }

    /// Sends the peer of a link this side's radio note on it. If several wait, only the newest is sent.
    public mutating func note(_ note: AirNote, on id: LinkID) -> [Action] {
        change(id) { $0.note(note) }
    }

    /// Asks a node that is not a relay to move behind a relay, if it hears one.
    public mutating func askForRoom(on id: LinkID) -> [Action] { change(id) { $0.askForRoom() } }

    /// Sends the current route of circuits to all nodes behind this one, even if it is the same as before: the route
    /// was lost in between. A nil route ends all relayed circuits.
    public mutating func lead(_ route: Route?) -> [Action] { links.lead(route, &members) }

    /// The next SDU to send on a link, of at most this many bytes, and the actions that follow.
    public mutating func nextSDU(for id: LinkID, limit: Int) -> (sdu: [UInt8], actions: [Action])? {
        links.nextSDU(for: id, limit: limit, &members.peers)
    }

    /// Pings the peer of a link at once. Returns the ping's number, which `LinkEvent.roundTrip` names. The answer to a
    /// later ping also answers this one. Nil if the link is not up.
    public mutating func ping(_ id: LinkID, now: MeshInstant) -> (number: UInt64, actions: [Action])? {
        links.moveClock(to: now)
        return links.ping(id, now: now).map { ($0, [links.wake(id)]) }
    }

    /// Probes a relay: requests a circuit to the host that may pass this many relays, at least one. The last of them
    /// answers that the host is too far, and `LinkEvent.probed` reports it. Returns the probe's number. Nil if the
    /// carrier is not up, or if too many circuits are open on it.
    public mutating func probe(
        relay: Int, towards host: Peer.ID, over carrier: LinkID, now: MeshInstant
    ) -> (number: UInt64, actions: [Action])? {
        links.moveClock(to: now)
        return links.probe(relay: relay, towards: host, over: carrier).map { ($0, [.wake(carrier)]) }
    }

    /// Closes the circuit of a probe that was not answered.
    public mutating func abandonProbe(_ number: UInt64, over carrier: LinkID) -> [Action] {
        links.abandonProbe(number, over: carrier) ? [.wake(carrier)] : []
    }

    /// Changes the machine of a link, and performs what it decides.
    mutating func change(_ id: LinkID, _ change: (inout LinkMachine) -> [LinkMachine.Action]) -> [Action] {
        links.change(id, &members, change)
    }

    // MARK: Proofs

    /// A person allows one more host. Returns whether this changes anything.
    public mutating func allowOneProof() -> Bool { members.proofs.allowOne() }

    /// Why a peer that a bearer vouches for is refused with this claim. Nil if the claim is right.
    public mutating func judge(_ claim: JoiningSecret, now: MeshInstant) -> RefusalReason? {
        links.moveClock(to: now)
        return members.proofs.policy.judge(claim, at: .page, now: links.now)
    }

    /// Admits a peer of a vouching bearer by its invitation. False if another peer has used it.
    public mutating func use(_ claim: JoiningSecret) -> Bool {
        members.proofs.policy.use(invitation: claim.invitation, now: links.now)
    }

    // MARK: Messages

    /// Adds a message to a conversation. A reliable one waits for the disk, if this node holds until stored, and for a
    /// link, however long that takes. An update for all guests is signed if a relay gets it.
    public mutating func send(
        _ body: [UInt8], as messageClass: MessageClass, to key: ConversationKey, sharing: SharedState? = nil
    ) -> (Conversation.Sending, [Action]) {
        members.peers.touch(key)
        guard body.count <= Limits.messageBytes else { return (.tooLong, []) }
        if messageClass == .reliable, members.peers.unacknowledgedBytes + body.count > Limits.allOutboxBytes {
            return (.full, [])
        }
        let isForRelay = sharing != nil && links.link(of: key).map { leadsToRelay($0) } == true
        let entry = isForRelay ? links.signed(body, as: sharing) : nil
        let sent = members.peers[key]?.conversation
            .send(entry?.signed ?? body, as: messageClass, sharing: entry?.sharing)
        guard let sending = sent else { return (.noLink, []) }
        let isHeld = messageClass == .reliable && settings.holdsUntilStored
        guard case .queued = sending, !isHeld else { return (sending, []) }
        return (sending, links.wake(key))
    }

    /// Everything up to a number in a conversation is on disk and may be sent. No effect if this is known, or if the
    /// conversation was forgotten.
    public mutating func stored(upTo number: UInt64, for key: ConversationKey) -> [Action] {
        members.peers[key]?.conversation.stored(upTo: number) == true ? links.wake(key) : []
    }

    /// The held messages of a conversation could not be stored. They are removed as if `send` had never been called,
    /// and their numbers are free again. A caller that has them in a later write must remove them there too. Returns
    /// how many there were.
    @discardableResult
    public mutating func withdrawHeld(for key: ConversationKey) -> Int {
        members.peers[key]?.conversation.withdrawHeld() ?? 0
    }

    /// The application cannot store a peer's reliable message. It is never acknowledged. It and all later ones come
    /// again with the next link.
    public mutating func decline(_ message: ReceivedMessage) {
        members.peers[message.conversation]?.conversation.decline(message.number, of: message.epoch)
    }

    /// Declined messages can be stored now. This ends the links of their senders, so that they come back with the
    /// messages.
    public mutating func askForDeclined() -> [Action] {
        members.peers.declining.compactMap { links.link(of: $0) }.sorted().flatMap {
            links.end($0, .linkLost, &members)
        }
    }

    /// The application has stored a peer's reliable messages up to this one. They are acknowledged.
    public mutating func accept(upTo message: ReceivedMessage) -> [Action] {
        let key = message.conversation
        guard message.messageClass == .reliable,
            let accepted = members.peers[key]?.conversation.accept(upTo: message.number, of: message.epoch),
            let id = links.link(of: key)
        else { return [] }
        return change(id) { $0.acknowledge(upTo: accepted) }
    }

    /// Forgets the peers that this node has joined with this head of an identifier, and the messages to them. They may
    /// have another key now.
    public mutating func forget(withHead head: String) -> [Action] {
        joined(withHead: head).filter { link(to: $0) == nil }.map { peer in
            let key = key(peer, as: .initiator)
            members.forget(key)
            return .forgot(key)
        }
    }

    /// Adds the first state update of a link to its answer, in reply to `LinkEvent.admitted`. The update is sent right
    /// after the answer in the same burst, encrypted with the initiator's key, and is message number 1 of class latest
    /// on this link. `latestHasLeft` reports it once the link is up. The call has no effect if no answer is in
    /// progress, if the answer has its update already, or if the message is too long. A relay gets a signed update if
    /// it is for the nodes behind it.
    public mutating func welcome(_ body: [UInt8], as sharing: SharedState? = nil, on id: LinkID) -> [Action] {
        guard body.count <= Limits.messageBytes, links.mayWelcome(id) else { return [] }
        let key = key(on: id)
        // A peer that is connected already may have got a later update.
        if let key, members.peers[key]?.conversation.hasSentLatest != false { return [] }
        let entry = leadsToRelay(id) ? links.signed(body, as: sharing) : nil
        let unit = MessageUnit(.latest, number: 1, body: (entry?.signed ?? body)[...], sharing: entry?.sharing)
        guard links.welcome(id, with: unit) else { return [] }
        if let key { members.peers[key]?.conversation.countWelcome() }
        return [links.wake(id)]
    }

    // MARK: Questions about peers

    /// This node.
    public var local: Peer { settings.local }
    /// The application of this node.
    public var service: ServiceType { settings.service }
    /// Whether this node is a relay.
    public var relays: Bool { settings.relays }
    /// The key of the conversation with a peer in which this node has the given role.
    public func key(_ peer: Peer.ID, as role: LinkRole) -> ConversationKey { members.key(peer, as: role) }
    /// The conversation with a known peer.
    public func conversation(_ key: ConversationKey) -> Conversation? { members.peers[key]?.conversation }
    /// The conversation with a peer that was used last, in either role.
    public func lastConversation(with peer: Peer.ID) -> ConversationKey? { members.peers.lastConversation(with: peer) }
    /// The state that must survive the process (`Conversation.durable` defines when).
    public var remembered: [ConversationKey: Remembered] { members.peers.remembered }
    /// The state of one conversation that must survive the process.
    public func remembered(_ key: ConversationKey) -> Remembered? { members.peers[key]?.remembered }
    /// The peers that this node has joined with this head of an identifier. Only these can match the head.
    public func joined(withHead head: String) -> [Peer.ID] { members.peers.joined(withHead: head) }
    /// Whether this reliable message or an earlier one was declined.
    public func hasDeclined(_ message: ReceivedMessage) -> Bool { members.peers.hasDeclined(message) }
    /// The answer to a peer that a bearer vouches for, if the bearer has linked these `connected` peers already.
    public func answer(vouchedFor peer: Peer.ID, connected: some Collection<Peer.ID>) -> Admission.Answer {
        members.admission.answer(peer, local: local.id, connected: connected, limit: Limits.vouchedGuests)
    }
    /// Whether a host that this node has joined has proved this node's secret.
    public func isProved(_ host: Peer.ID) -> Bool { members.isProved(host) }
    /// This node's secret for the host that it dials. An invitation is for one host, a PIN for any.
    public func secret(for expected: Peer.ID?) -> JoiningSecret? { members.proofs.secret(for: expected) }
    /// Whether this node sends no tag for its PIN until its person allows it: too many hosts got a tag and did not
    /// prove that they know the PIN.
    public var holdsBackProofs: Bool { members.proofs.isHeldBack }
    /// Whether a host must not be dialled for this reason. A host that has proved a PIN before asks for none.
    public func holdsBack(from host: Peer.ID) -> Bool { members.holdsBack(from: host) }

    // MARK: Questions about links

    /// All links in any state.
    public var allLinks: [LinkID] { links.slots.keys.sorted() }
    /// The peer of a link that is up.
    public func peer(on id: LinkID) -> Peer? { links.slots.peer(on: id) }
    /// The linked peers.
    public var connectedPeers: [Peer.ID] { links.byPeer.peers }
    /// The link to a peer.
    public func link(to peer: Peer.ID) -> LinkID? { links.byPeer.link(to: peer) }
    /// The key of the conversation on a link that is up.
    public func key(on id: LinkID) -> ConversationKey? { links.slots.conversation(on: id) }
    /// The conversation on a link that is up.
    public func conversation(on id: LinkID) -> Conversation? { key(on: id).flatMap { conversation($0) } }
    /// When `tick` is due for a link.
    public func deadline(of id: LinkID) -> MeshInstant? { links.slots[id]?.deadline }
    /// The earliest deadline of all links.
    public var deadline: MeshInstant? { links.slots.deadline }
    /// The links that `tick` is due for, in order.
    public func due(by now: MeshInstant) -> [LinkID] { links.slots.due(by: now) }
    /// Whether the responder of the link to a peer asks for a proof, by its sealed hello.
    public func asksForProof(_ peer: Peer.ID) -> Bool {
        link(to: peer).flatMap { links.slots[$0]?.hello }?.flags.critical.contains(.proof) == true
    }
    /// Protocol violations, by kind.
    public var misbehaviours: [Misbehaviour: Int] { links.misbehaviours }
    /// The current memory use.
    package var footprint: Footprint {
        var footprint = Footprint()
        links.measure(&footprint)
        members.measure(&footprint)
        return footprint
    }

    // MARK: Questions about relays

    /// The route that this node has reported to the nodes behind it.
    public var route: Route? { links.route }
    /// The host that this node is linked to.
    public var host: Peer? { links.byPeer.toHost.flatMap { links.slots.peer(on: $0) } }
    /// The first relay on the route to the host. Nil with a direct channel, or without a host.
    public var parent: (link: LinkID, peer: Peer)? { links.parent }
    /// The nodes behind this one.
    public var children: [Peer] { links.byPeer.toChildren.compactMap { links.slots.peer(on: $0) } }
    /// The linked nodes that have dialled this one, in the order of their links.
    public var neighbours: [Neighbour] { links.neighbours }
    /// The circuit of a link. Nil for a link with a channel of its own.
    public func place(of id: LinkID) -> CircuitPlace? { links.slots[id]?.place }
    /// Number of circuits on a link to or from a relay. Nil on any other link.
    public func circuits(on id: LinkID) -> Int? { links.circuits(on: id) }
    /// Number of relayed circuits.
    public var relayedCircuits: Int { links.circuits.relayedCount }
    /// Whether a link carries circuits of nodes behind this one.
    public func passesCircuits(on id: LinkID) -> Bool { links.circuits.isPassed(on: id) }
    /// Whether a link carries a circuit that this side has left for a better route.
    public func carriesLingering(_ carrier: LinkID) -> Bool { links.circuits.carriesLingering(carrier, links.slots) }
    /// Whether the peer of a link accepts circuits and gets the signed state.
    public func leadsToRelay(_ id: LinkID) -> Bool { links.slots.summary(of: id)?.leadsToRelay == true }
    /// The state that the initiator of a link has reported.
    public func shownState(on id: LinkID) -> StateName? { links.slots[id]?.hello?.shownState }
    /// Whether this node has reported to the host of a link which states it has.
    public func hasShownState(on id: LinkID) -> Bool { links.slots.hasShownState(on: id) }
    /// Whether the relay's updates follow this node's state of the host, so that nothing is repeated.
    public func continuesState(on id: LinkID) -> Bool { links.slots.continuesState(on: id) }
    /// Whether part of an update has arrived from a relay, but not all of it.
    public func isReceivingState(on carrier: LinkID) -> Bool { links.slots.isReceivingState(on: carrier) }

    // MARK: Simulator and tests

    /// Makes all nodes of a simulation share their checked signatures.
    package mutating func share(_ checked: CheckedSignatures) { links.share(checked) }

    /// A link, for tests, which change it as no peer can.
    subscript(link id: LinkID) -> Link? {
        get { links[test: id] }
        _modify { yield &links[test: id] }
    }

    /// The signed states that this node has stored for others, for tests.
    var log: SharedLog { links.states.log }

    /// Changes the stored secrets, the rates of handshakes and the signed states, for tests.
    mutating func change(_ change: (inout RejoinTable, inout HandshakeGate, inout SharedLog) -> Void) {
        members.change { rejoins, gate in links.change { change(&rejoins, &gate, &$0) } }
    }
}
