// SPDX-License-Identifier: Apache-2.0

/// The whole of a node's protocol as one struct: all its links, the conversations that outlive them, and who is let in.
///
/// Events go in, actions come out; its owner performs them, in order. It reads no clock and draws no random
/// number, so that a simulator can run a car full of nodes from one seed.
public struct MeshCore: Sendable {
    /// A link's number. The owner gives them out and never uses one twice.
    public typealias LinkID = Int

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// A link has something to send: ask `nextSDU` until there is nothing more.
        case wake(LinkID)
        /// Something has happened on a link.
        case tell(LinkID, LinkEvent)
        /// What the radio at the other end of a link knows of it. The owner's radio may make use of it.
        case heed(LinkID, AirNote)
        /// Read no more from a link before this time.
        case holdReading(LinkID, until: MeshInstant)
        /// Close a link's channel; where it has a final frame, when `nextSDU` has nothing more. Nothing follows on it.
        case close(LinkID, afterFinalFrame: Bool)
        /// A conversation is not remembered any more, to make room for another: what is stored of it can go.
        case forgot(ConversationKey)
        /// Somebody wants a circuit that ends here: answer with `opened`, as its responder and in this place.
        case circuitOffered(CircuitPlace)
        /// A link in a circuit is over: nothing of it is left.
        case circuitEnded(LinkID)
    }

    /// The random bytes that a link needs.
    public struct Entropy: Hashable, Sendable {
        /// A private key of 32 bytes, for this link alone.
        public var ephemeralKey: [UInt8] { Array(bytes[..<32]) }
        /// Names a new numbering, not 0.
        public var epoch: UInt32 {
            max(1, bytes[32...].reduce(0) { $0 << 8 | UInt32($1) })
        }

        /// How many random bytes are needed.
        public static let byteCount = 36
        private let bytes: [UInt8]

        /// Entropy from this many random bytes.
        public init(_ bytes: [UInt8]) {
            precondition(bytes.count == Self.byteCount, "the entropy of a link has a fixed size")
            self.bytes = bytes
        }
    }

    /// What is kept of a peer from one run to the next.
    public struct Remembered: Hashable, Sendable, Codable {
        /// Its public key: with it an initiator joins again in one round trip.
        public var publicKey: [UInt8]
        /// What is still to be said, and what was heard.
        public var conversation: Conversation.Durable
        /// Both have proved to one another that they know the same PIN, or invitation: neither asks again.
        public var isProved: Bool

        /// A peer as a store has read it.
        public init(publicKey: [UInt8], conversation: Conversation.Durable, isProved: Bool = false) {
            self.publicKey = publicKey
            self.conversation = conversation
            self.isProved = isProved
        }
    }

    struct Link: Sendable {
        var machine: LinkMachine
        var entropy: Entropy
        /// Whom an initiator has dialled.
        var expected: Peer.ID?
        /// Why nobody is taken in on this link.
        var refusal: RefusalReason?
        /// The invitation that an initiator claims to have.
        var invitation: [UInt8]?
        /// The conversation that it carries, once it is up.
        var conversation: ConversationKey?
        /// How far this side has said that it has got, when it introduced itself.
        var told: UInt64 = 0
        /// The flags that the responder advertises: this side's own, or those that were heard.
        var advertised: AdvertisedFlags?
        /// The owner was told of the answer, which is about to leave.
        var isAdmitted = false
        /// A state update has gone with the answer (`welcome`).
        var isWelcomed = false
        /// Its end was told: nothing follows.
        var isOver = false
        /// Largest SDU that the other side takes.
        var sendMTU: Int
        /// The circuits on it.
        var circuits: CircuitMux
        /// The circuit that it is in; nil for a link with a channel of its own.
        var place: CircuitPlace?
        /// What it is to a relay and to who stands behind it; nil for a link that carries a conversation.
        var carrier: Carrier?
        /// How the peer has introduced itself.
        var hello: Hello?
        /// The last states that an initiator has, the newest first, as it says.
        var shown: [StateName] = []
        /// Since when a reliable message waits to be acknowledged, where silence alone would tell late that nobody is there.
        var waitsSince: MeshInstant?
        /// It is over for this side, which has gone over to a better way. Its circuit stays until the other side, which has not heard
        /// of that yet, closes it; at longest until then.
        var lingersUntil: MeshInstant?
        /// Its entrance.
        var entrance = Entrance.air
        /// Somebody is billed for its bytes.
        var isMetered = false

        /// Both sides are silent for longer than on a link of the air.
        var isQuiet: Bool { place != nil || isMetered }

        /// How long this side may be silent on it at least.
        var leastSilence: Duration {
            if place != nil { return Limits.circuitSilence }
            if isMetered { return Limits.meteredSilence }
            return carrier == nil ? .zero : Limits.carrierSilence
        }

        /// Whether the peer takes circuits, and wants the state signed.
        var leadsToRelay: Bool { hello?.relays == true }

        /// When `tick` is due.
        var deadline: MeshInstant? {
            guard let deadline = machine.deadline else { return lingersUntil }
            return waitsSince.map { min(deadline, $0 + Limits.circuitPatience) } ?? deadline
        }

        /// What is looked at of all links. In its place, since a look at a link that is copied costs more than all else.
        /// Names are written where they change, and not with each SDU.
        mutating func read(_ summary: inout LinkSlots.Summary) {
            (summary.isThere, summary.isOver) = (true, isOver)
            summary.deadline = deadline
            summary.isHalfOpen = machine.isHalfOpen
            summary.isResponder = machine.role == .responder
            summary.carrier = place?.carrier
            summary.entrance = entrance
            summary.unfinished = machine.role == .responder ? machine.unfinishedBytes : 0
            (summary.isCarrier, summary.leadsToRelay) = (carrier != nil, leadsToRelay && place == nil)
            summary.circuits = circuits.count
            if machine.isConnected != (summary.peer != nil) { summary.peer = machine.connectedPeer }
            if summary.conversation == nil { summary.conversation = conversation }
        }

        /// Whether nothing can have to leave on a carrier. In its place, too.
        mutating func hasNothing(_ log: SharedLog) -> Bool {
            machine.hasNothing && circuits.hasNothing && carrier?.hasNothing(of: log) != false
        }
    }

    struct KnownPeer: Sendable {
        var publicKey: [UInt8]
        /// Grows with each use of any, to find the longest unused.
        var lastUse: UInt64
        /// See `Remembered.isProved`.
        var isProved = false
    }

    /// Who this node is.
    public let local: Peer
    let identity: Identity
    /// The application that it speaks for.
    public let service: ServiceType
    private let prologues: [HandshakePacket.Medium: [UInt8]]
    let holdsUntilStored: Bool
    let silence: Duration
    /// Whether circuits may end here: a host's.
    public var takesCircuits = false
    /// Whether this node passes circuits on.
    public let relays: Bool

    var links = LinkSlots()
    /// Which link leads to which connected peer.
    var linkOfPeer: [Peer.ID: LinkID] = [:]
    /// Whom this node has met, and what they have to say to one another: the same keys in both.
    var knownPeers: [ConversationKey: KnownPeer] = [:]
    var conversations: [ConversationKey: Conversation] = [:]
    /// Which link leads to which node behind this one.
    var linkOfChild: [Peer.ID: LinkID] = [:]
    /// The link to the host that this node has joined.
    var hostLink: LinkID?
    /// The links that end in circuits.
    var innerLinks: [CircuitPlace.Circuit: LinkID] = [:]
    /// Circuits that were offered to the owner, and what has come in them since.
    var offered: [CircuitPlace.Circuit: [[UInt8]]] = [:]
    /// The circuits that are passed on, each end with the other one.
    var relayed: [CircuitPlace.Circuit: CircuitPlace.Circuit] = [:]
    /// What those behind this node were told of where circuits lead.
    public internal(set) var route: Route?
    /// The host's state, as it was signed.
    var log = SharedLog()
    var signature: StateSignature
    /// What was signed last: most relays are sent the same.
    var lastSigned: (entry: SharedLog.Entry, body: [UInt8])?
    var admission = Admission()
    /// What is kept of handshakes in circuits, for who comes back.
    var rejoins = RejoinTable()
    /// What others have to prove before they are let in.
    public var door = Door()
    /// What this node can prove where it joins.
    public var secret: JoiningSecret?
    /// How often others could check a guess of it.
    public var unanswered = UnansweredProofs()
    /// When something was last heard of the outside.
    var now = MeshInstant.zero
    /// Grows with each use of a known peer.
    var uses: UInt64 = 0
    /// Handshakes that others have begun.
    var handshakes = HandshakeGate()
    var circuitHandshakes = RateLimit(
        perSecond: Limits.circuitHandshakesPerSecond, burst: Limits.circuitHandshakeBurst, now: .zero)

    /// What went wrong, by kind.
    public internal(set) var misbehaviours: [Misbehaviour: Int] = [:]

    /// A node that knows nobody, or those it has met before. What is remembered and cannot be, or is of another service, is
    /// passed over, as are those beyond `Limits.conversations`. Where it holds until stored, a reliable message leaves only when `stored`
    /// has told that it is on disk; a node without a disk sends them at once. `silence` is how long this node may have
    /// to be silent.
    public init(
        identity: Identity, name: String, service: ServiceType, remembered: [ConversationKey: Remembered] = [:],
        holdsUntilStored: Bool = false, silence: Duration = Limits.pongTimeout, relays: Bool = false
    ) {
        self.holdsUntilStored = holdsUntilStored
        self.identity = identity
        local = Peer(id: identity.peerID, name: name)
        self.service = service
        prologues = [
            .direct: HandshakePacket.prologue(of: service),
            .circuit: HandshakePacket.prologue(of: service, on: .circuit),
        ]
        self.silence = silence
        self.relays = relays
        signature = StateSignature(service)
        for (key, known) in remembered.sorted(by: { $0.key < $1.key })
        where key.service == service && key.peer == Identity.peerID(publicKey: known.publicKey)
            && knownPeers.count < Limits.conversations
        {
            let restored = Conversation(restoring: known.conversation, holdsUntilStored: holdsUntilStored)
            guard let conversation = restored else { continue }
            knownPeers[key] = KnownPeer(publicKey: known.publicKey, lastUse: 0, isProved: known.isProved)
            conversations[key] = conversation
        }
    }

    /// Has signatures checked once for all nodes of a simulation.
    package mutating func share(_ checked: CheckedSignatures) { signature.checked = checked }

    /// The conversation with a peer that was met.
    public func conversation(_ key: ConversationKey) -> Conversation? { conversations[key] }

    /// The conversation on a link that is up.
    public func conversation(on id: LinkID) -> Conversation? { key(on: id).flatMap { conversations[$0] } }

    /// Which one that is.
    public func key(on id: LinkID) -> ConversationKey? { links.conversation(on: id) }

    /// The peers that are linked.
    public var connectedPeers: [Peer.ID] { Array(linkOfPeer.keys) }

    /// The peer of a link that is up.
    public func peer(on id: LinkID) -> Peer? { links.peer(on: id) }

    /// All links, whatever their state.
    public var allLinks: [LinkID] { links.keys.sorted() }

    /// The link to a peer.
    public func link(to peer: Peer.ID) -> LinkID? { linkOfPeer[peer] }

    /// The link that carries a conversation: a peer has one at most, in whichever role.
    private func link(of key: ConversationKey) -> LinkID? {
        linkOfPeer[key.peer].flatMap { links.conversation(on: $0) == key ? $0 : nil }
    }

    /// Links whose handshake is not finished, on the side that accepted them: those with channels, or those in circuits.
    func halfOpenLinks(inCircuits: Bool = false) -> Int { links.halfOpen(inCircuits: inCircuits) }

    /// Which initiators may begin a handshake on an accepted link.
    private mutating func mayBegin(in place: CircuitPlace?, at entrance: Entrance) -> HandshakeGate.Answer {
        guard let place else {
            return handshakes.opened(at: entrance, halfOpen: links.halfOpen(at: entrance), now: now)
        }
        // Nobody's relay takes the places of those who come through another.
        let isFull =
            halfOpenLinks(inCircuits: true) >= Limits.halfOpenCircuits
            || links.halfOpen(over: place.carrier) >= Limits.halfOpenCircuitsOfRelay
        return isFull ? .busy : .open
    }

    // MARK: Links

    /// A channel has opened, or a link is to begin in a circuit, at this place. `expected` is the identifier, or the head of
    /// one, of the responder that was dialled; an initiator that its channel speaks against is told the `refusal` when it has
    /// introduced itself. It uses this `bearer`; bytes at a broker cost money. The host at the other end is told of the
    /// last `states` of its that are here, the newest first: who comes back is sent what has followed.
    public mutating func opened(
        _ id: LinkID, as role: LinkRole, sendMTU: Int, expected: Peer.ID? = nil, refusal: RefusalReason? = nil,
        advertised: AdvertisedFlags? = nil, in place: CircuitPlace? = nil, over bearer: Bearer? = nil,
        showing states: [StateName] = [], entropy: Entropy, now: MeshInstant
    ) -> [Action] {
        self.now = now
        let isCarrier =
            place == nil && (role == .responder ? relays : advertised?.critical.contains(.circuitsOnly) == true)
        // The key of a relay is not kept: it is dialled by its advertisement, and says nothing for itself.
        let known = isCarrier ? nil : expected.flatMap { onlyJoined(withHead: $0) }
        let keys = LinkMachine.Keys(
            local: identity, prologue: prologues[place == nil ? .direct : .circuit] ?? [],
            ephemeral: entropy.ephemeralKey, expected: expected,
            expectedKey: known.flatMap { knownPeers[key($0, as: .initiator)]?.publicKey },
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
            machine: LinkMachine(role: role, keys: keys, handshakeTime: time + hopTime, now: now), entropy: entropy,
            expected: expected, refusal: refusal, advertised: advertised, sendMTU: sendMTU,
            circuits: CircuitMux(role), carrier: isCarrier ? Carrier() : nil,
            shown: role == .responder || isCarrier ? [] : shown(states, to: place?.host ?? expected),
            entrance: Entrance(bearer), isMetered: bearer == .broker)
        if let place, !enter(place, id, role) {
            links[id]?.place = place
            return update(id) { $0.end(.circuit(.noRoom)) }
        }
        if place != nil, role == .responder { links[id]?.machine.isBusy = !circuitHandshakes.allows(now: now) }
        links[id]?.machine.takesKnownOnly = gate == .known
        let standing = known.flatMap { introduce(to: $0, on: id) }
        return update(id) { machine in
            // It is closed already, and that is no misbehaviour.
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

    /// A link's channel is closed: nothing of the link is left.
    public mutating func channelClosed(_ id: LinkID) -> [Action] {
        let actions = update(id) { $0.channelClosed() }
        links[id] = nil
        return actions
    }

    /// When `tick` is due for a link.
    public func deadline(of id: LinkID) -> MeshInstant? { links[id]?.deadline }

    /// When `tick` is due for the first of all links.
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

    /// Nothing was read from a link up to now because this side did not read: the other side was not silent.
    public mutating func heardNothingByChoice(on id: LinkID, now: MeshInstant) {
        links[id]?.machine.heardNothingByChoice(now: now)
        // An acknowledgement may be among what is not read.
        if links[id]?.waitsSince != nil { links[id]?.waitsSince = now }
    }

    /// This side leaves a link, with a goodbye that may say what becomes of its session.
    public mutating func leave(_ id: LinkID, saying reason: GoodbyeReason = .unspecified) -> [Action] {
        sealWhatPasses(id)
        return update(id) { $0.leave(saying: reason) }
    }

    /// Who is kept out. Links that are up are not touched by it: `sendAway`.
    public var banned: Set<Peer.ID> {
        get { admission.banned }
        set { admission.banned = newValue }
    }

    /// What a peer is answered that a bearer vouches for which has linked these `connected` already.
    public func answer(vouchedFor peer: Peer.ID, connected: some Collection<Peer.ID>) -> Admission.Answer {
        admission.answer(peer, local: local.id, connected: connected, limit: Limits.vouchedGuests)
    }

    /// The responder sends an initiator away.
    public mutating func sendAway(_ peer: Peer.ID, _ reason: RefusalReason) -> [Action] {
        guard let id = linkOfPeer[peer] else { return [] }
        return update(id) { $0.sendAway(reason) }
    }

    /// The next SDU that leaves on a link, of at most this many bytes, and what its leaving means.
    public mutating func nextSDU(for id: LinkID, limit: Int) -> (sdu: [UInt8], actions: [Action])? {
        // Asked until there is nothing more.
        guard !links.isSilentCarrier(id, log) else { return nil }
        // Taken out and put back, so that what waits in it is not copied: nothing looks at it after that.
        guard var link = links.take(id) else { return nil }
        let (key, isCarrier) = (link.conversation, link.carrier != nil)
        var actions: [Action] = []
        let outgoing = link.machine.nextSDU(limit: limit) {
            key.flatMap { conversations[$0]?.nextReliable() }
        } circuits: { room in
            link.circuits.isEmpty
                ? nil : nextFrame(&link.circuits, of: id, room, &actions)
        } latest: {
            isCarrier ? link.carrier?.next(of: log) : key.flatMap { conversations[$0]?.nextLatest() }
        }
        if link.isQuiet, link.waitsSince == nil, key.map({ conversations[$0]?.isUnanswered == true }) == true {
            link.waitsSince = now
        }
        links[id] = consume link
        guard let outgoing else { return nil }
        if outgoing.latestHasLeft, !isCarrier { actions.append(.tell(id, .latestHasLeft)) }
        return (outgoing.sdu, actions)
    }

    /// Gives the first state update of a link to its answer, in reply to `LinkEvent.admitted`: it leaves right behind
    /// the answer, in the same burst, sealed to the initiator's key, and is message number 1 of class latest on this
    /// link. `latestHasLeft` is told for it once the link is up. Nothing happens where the answer is not just being
    /// given, where it has its update already, or where the message is too long. A relay gets it signed where it is for those behind it.
    public mutating func welcome(_ body: [UInt8], as sharing: SharedState? = nil, on id: LinkID) -> [Action] {
        guard body.count <= Limits.messageBytes, let link = links[id], link.isAdmitted, !link.isWelcomed, !link.isOver
        else { return [] }
        // Who is connected already may have been told something since.
        if let key = link.conversation, conversations[key]?.hasSentLatest != false { return [] }
        let entry = leadsToRelay(id) ? sharing.flatMap { signed(body, as: $0) } : nil
        let unit = MessageUnit(.latest, number: 1, body: (entry?.signed ?? body)[...], sharing: entry?.sharing)
        guard links[id]?.machine.welcome(with: unit) == true else { return [] }
        links[id]?.isWelcomed = true
        if let key = link.conversation { conversations[key]?.countWelcome() }
        return wake(id)
    }

    /// Tells the peer of a link that is up what this side's radio knows of it. Of several that wait the newest leaves.
    public mutating func note(_ note: AirNote, on id: LinkID) -> [Action] { update(id) { $0.note(note) } }

    // MARK: Messages

    /// Gives a message to a conversation. A reliable one waits for the disk, where this node holds until stored,
    /// and for a link, however long that takes. What is for everybody is signed where a relay gets it.
    public mutating func send(
        _ body: [UInt8], as messageClass: MessageClass, to key: ConversationKey, sharing: SharedState? = nil
    ) -> (Conversation.Sending, [Action]) {
        touch(key)
        if messageClass == .reliable, unacknowledgedBytes + body.count > Limits.allOutboxBytes { return (.full, []) }
        let isForRelay = sharing != nil && link(of: key).map { leadsToRelay($0) } == true
        let entry = isForRelay ? sharing.flatMap { signed(body, as: $0) } : nil
        let sent = conversations[key]?.send(entry?.signed ?? body, as: messageClass, sharing: entry?.sharing)
        guard let sending = sent else { return (.noLink, []) }
        let isHeld = messageClass == .reliable && holdsUntilStored
        guard case .queued = sending, !isHeld else { return (sending, []) }
        return (sending, wake(key))
    }

    /// Everything up to a number that was said in a conversation is on disk: it may leave. Nothing new where it is, or where
    /// the conversation is forgotten.
    public mutating func stored(upTo number: UInt64, for key: ConversationKey) -> [Action] {
        conversations[key]?.stored(upTo: number) == true ? wake(key) : []
    }

    private mutating func wake(_ key: ConversationKey) -> [Action] { link(of: key).map { wake($0) } ?? [] }

    /// What is held in a conversation could not be stored: it is taken back as if `send` had never been called, and its
    /// numbers are free again. Who has it in a write that is still to come takes it out there too. Returns how many
    /// messages that were.
    @discardableResult
    public mutating func withdrawHeld(for key: ConversationKey) -> Int {
        conversations[key]?.withdrawHeld() ?? 0
    }

    /// Bytes that wait for all the peers there are.
    private var unacknowledgedBytes: Int { conversations.values.reduce(0) { $0 + $1.unacknowledgedBytes } }

    /// The application cannot keep a peer's reliable message: it is never acknowledged, and comes again with the next link,
    /// as does what follows it.
    public mutating func decline(_ message: ReceivedMessage) {
        conversations[message.conversation]?.decline(message.number, of: message.epoch)
    }

    /// Whether a reliable message was declined, or one before it.
    public func hasDeclined(_ message: ReceivedMessage) -> Bool {
        message.messageClass == .reliable
            && conversations[message.conversation]?.hasDeclined(message.number, of: message.epoch) == true
    }

    /// What was declined can be kept now: the links of those who have sent it end, so that they come back with it.
    public mutating func askForDeclined() -> [Action] {
        conversations.filter(\.value.isDeclining).keys.compactMap { link(of: $0) }.sorted().flatMap { id in
            update(id) { $0.end(.linkLost) }
        }
    }

    /// The application has made a peer's reliable messages up to this one safe: they are acknowledged.
    public mutating func accept(upTo message: ReceivedMessage) -> [Action] {
        guard message.messageClass == .reliable,
            let accepted = conversations[message.conversation]?.accept(upTo: message.number, of: message.epoch),
            let id = link(of: message.conversation)
        else { return [] }
        return update(id) { $0.acknowledge(upTo: accepted) }
    }
}
