// SPDX-License-Identifier: Apache-2.0

/// The peers of a node: which ones it knows, which ones may join it, and what both sides must prove.
struct Membership: Sendable {
    typealias LinkID = MeshCore.LinkID

    /// What a new link begins with.
    struct Start: Sendable {
        var keys: LinkMachine.Keys
        /// Which initiators may begin a handshake on it.
        var gate: HandshakeGate.Answer
        /// The dialled responder, if it is known.
        var known: Peer.ID?
    }

    /// The data of the node with which a peer joins.
    struct Surroundings: Sendable {
        var peerLinks: PeerLinks
        var states: SharedStates
        /// The route that this node has reported to the nodes behind it.
        var route: Route?
        /// Whether there are many links in circuits. Such links ping each other less often.
        var isCrowded: Bool
        var now: MeshInstant
    }

    /// What follows for a link.
    struct Answer: Sendable {
        /// To be reported to the owner.
        var events: [LinkEvent] = []
        /// What the link's machine has decided on the answer.
        var decided: [LinkMachine.Action]?
    }

    private let settings: MeshCore.Settings
    /// The peers that this node has met, and the conversations with them.
    var peers: PeerBook
    /// The bans and slots.
    var admission = Admission()
    /// The proofs that this node requires from peers, and those that it gives to hosts.
    var proofs: Proofs
    /// Stored secrets of handshakes in circuits, for peers that come back.
    private(set) var rejoins = RejoinTable()
    /// Limits the handshakes of other nodes.
    private var handshakes = HandshakeGate()

    init(_ settings: MeshCore.Settings, remembered: [ConversationKey: MeshCore.Remembered]) {
        self.settings = settings
        peers = PeerBook(remembered, of: settings.service, holdsUntilStored: settings.holdsUntilStored)
        proofs = Proofs(settings.identity)
    }

    /// The key of the conversation with a peer in which this node has the given role.
    func key(_ peer: Peer.ID, as role: LinkRole) -> ConversationKey {
        ConversationKey(peer, as: role, settings.service)
    }

    /// Whether a host that this node has joined has proved this node's secret.
    func isProved(_ host: Peer.ID) -> Bool { peers[key(host, as: .initiator)]?.isProved == true }

    /// Whether a host must not be dialled, because this node holds back its proofs. A host that has proved a PIN before
    /// asks for none.
    func holdsBack(from host: Peer.ID) -> Bool {
        guard proofs.isHeldBack, proofs.secret(for: host) != nil else { return false }
        return !peers.joined(withHead: Identity.head(of: host)).contains { isProved($0) }
    }

    /// Adds the memory use of all peers.
    func measure(_ footprint: inout Footprint) {
        peers.measure(&footprint)
        footprint.rejoins = rejoins.count
    }

    // MARK: A new link

    /// A link begins. `expected` is the dialled responder, or its head.
    mutating func opened(
        as role: LinkRole, expected: Peer.ID?, advertised: AdvertisedFlags?, in place: CircuitPlace?, isCarrier: Bool,
        at entrance: Entrance, ephemeralKey: [UInt8], _ links: LinkSlots, now: MeshInstant
    ) -> Start {
        // The key of a relay is not stored: a relay is dialled by its advertisement, and has no conversation of its
        // own.
        let joined = isCarrier ? [] : expected.map { peers.joined(withHead: $0) } ?? []
        let known = joined.count == 1 ? joined.first : nil
        let keys = LinkMachine.Keys(
            local: settings.identity, prologue: settings.prologue(inCircuit: place != nil), ephemeral: ephemeralKey,
            expected: expected, expectedKey: known.flatMap { peers[key($0, as: .initiator)]?.publicKey },
            rejoin: place == nil ? nil : known.flatMap { rejoins.next(key($0, as: .initiator), now: now) },
            mayRejoin: place != nil, joined: joined, heard: role == .initiator && place == nil ? advertised : nil,
            secret: isCarrier ? nil : proofs.secret(for: expected), proved: joined.filter { isProved($0) })
        let gate = role == .responder ? handshakes.opened(in: place, at: entrance, links, now: now) : .open
        return Start(keys: keys, gate: gate, known: known)
    }

    /// Whether a key agreement is allowed on a link in a circuit.
    mutating func mayAgreeInCircuit(now: MeshInstant) -> Bool { handshakes.mayAgreeInCircuit(now: now) }

    /// Whether a key agreement is allowed for the first packet on a link for known initiators.
    mutating func mayRecognise(at entrance: Entrance, now: MeshInstant) -> Bool {
        handshakes.mayRecognise(at: entrance, now: now)
    }

    /// Time has passed.
    mutating func forgetOld(now: MeshInstant) { rejoins.forgetOld(now: now) }

    // MARK: Joining

    /// This node's hello for a peer on a link.
    func introduce(
        to peer: Peer.ID, on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Hello? {
        guard let link = links[id] else { return nil }
        let isResponder = link.machine.role == .responder
        let known = link.carrier == nil ? peers[key(peer, as: link.machine.role)]?.conversation : nil
        let resumption = (known ?? peers.newConversation(epoch: link.entropy.epoch)).resumption
        links[id]?.told = resumption.delivered
        let isCrowded = around.isCrowded && link.place != nil
        // This node's own radio is not heard in a circuit.
        let ownFlags = AdvertisedFlags(critical: proofs.policy.isLocked ? .proof : [])
        var hello = Hello(
            name: settings.local.name, resumption: resumption,
            silence: max(settings.silence, isCrowded ? Limits.crowdedSilence : link.leastSilence),
            flags: isResponder ? link.advertised ?? ownFlags : AdvertisedFlags())
        if isResponder, link.carrier != nil {
            hello.route = .some(around.route)
        } else if isResponder {
            hello.signingKey = link.place != nil || link.leadsToRelay ? around.states.publicKey : nil
            hello.rejoins = link.place != nil
        } else {
            hello.relays = settings.relays && link.place == nil
            hello.shownState = link.place == nil ? link.shown.first : nil
        }
        return hello
    }

    /// A dialled responder has proved its identity.
    func identified(
        _ peer: Peer.ID, on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Answer {
        let hello = introduce(to: peer, on: id, &links, around)
        return Answer(decided: hello.flatMap { links[id]?.machine.present(as: $0) })
    }

    /// A peer claims that this node has a secret of its last handshake. Checking this costs almost nothing.
    mutating func returned(
        _ kept: RejoinID, _ attempt: UInt64, _ record: [UInt8], on id: LinkID, _ links: inout LinkSlots,
        _ around: Surroundings
    ) -> Answer {
        let isInCircuit = links.carrier(of: id) != nil
        let rejoined = isInCircuit ? rejoins.open(kept, attempt: attempt, record[...], now: around.now) : nil
        if rejoined != nil, links[id]?.machine.isBusy == false { handshakes.giveBackInCircuit() }
        return Answer(decided: links[id]?.machine.rejoin(rejoined))
    }

    /// A peer has proved its identity.
    func introduced(
        _ peer: Peer.ID, _ hello: Hello, on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Answer {
        links[id]?.hello = hello
        let known = peers[key(peer, as: .responder)].map(\.isProved)
        if links[id]?.machine.takesKnownOnly == true, known == nil {
            return Answer(decided: links[id]?.machine.turnAway())
        }
        let refusal = links[id]?.refusal ?? refusal(of: peer, on: id, links, around)
        if let refusal { return Answer(decided: links[id]?.machine.refuse(refusal)) }
        // A link to a relay alone gives no access: the nodes behind it prove themselves in their circuits.
        guard proofs.policy.isLocked, known != true, !links.isCarrier(id) else {
            return admit(Peer(id: peer, name: hello.name), on: id, &links, around)
        }
        // After too many wrong guesses the peer is refused before either side computes anything.
        let hasRoom = proofs.policy.hasRoom(at: links.entrance(of: id), now: around.now)
        return Answer(decided: hasRoom ? links[id]?.machine.challenge() : links[id]?.machine.refuse(.tooManyGuesses))
    }

    /// Why a peer gets no slot.
    func refusal(of peer: Peer.ID, on id: LinkID, _ links: LinkSlots, _ around: Surroundings) -> RefusalReason? {
        let local = settings.local.id
        let answer = admission.answer(peer, local: local, on: id, links, around.peerLinks, now: around.now)
        if case .refuse(let reason) = answer { return reason } else { return nil }
    }

    private func admit(
        _ peer: Peer, on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Answer {
        guard let hello = introduce(to: peer.id, on: id, &links, around) else { return Answer() }
        guard !links.isCarrier(id) else { return Answer(decided: links[id]?.machine.admit(as: hello)) }
        links[id]?.isAdmitted = true
        return Answer(events: [.admitted(peer)], decided: links[id]?.machine.admit(as: hello))
    }

    // MARK: Proofs

    /// A peer claims to know the secret of an invitation, or the PIN if `invitation` is empty.
    mutating func claimed(
        _ invitation: [UInt8], on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Answer {
        switch proofs.claimed(invitation, at: links.entrance(of: id), now: around.now) {
        case .agree(let secret):
            if !invitation.isEmpty { links[id]?.invitation = invitation }
            return Answer(decided: links[id]?.machine.agree(on: secret))
        case .refuse(let reason): return Answer(decided: links[id]?.machine.refuse(reason))
        }
    }

    /// This node's tag could be sent to the host.
    mutating func readyToProve(on id: LinkID, _ links: inout LinkSlots) -> Answer {
        switch proofs.leaves(links[id]?.machine.keys.secret) {
        case .holdBack: return Answer(decided: links[id]?.machine.leave(with: .refused(.challenge)))
        case .prove(let isCounted):
            return Answer(events: isCounted ? [.unansweredProofs] : [], decided: links[id]?.machine.prove())
        }
    }

    /// A peer has proved a secret. Another peer may have got the last slot in the meantime.
    mutating func proved(
        _ peer: Peer.ID, _ hello: Hello, on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Answer {
        let invitation = links[id]?.invitation
        let refusal =
            refusal(of: peer, on: id, links, around)
            ?? proofs.proved(invitation, at: links.entrance(of: id), now: around.now)
        if let refusal { return Answer(decided: links[id]?.machine.refuse(refusal)) }
        let peer = Peer(id: peer, name: hello.name)
        var answer = admit(peer, on: id, &links, around)
        if invitation != nil { answer.events.insert(.invitationUsed(peer), at: 0) }
        return answer
    }

    /// A peer's proof is wrong.
    mutating func provedWrong(
        _ peer: Peer.ID, _ hello: Hello, on id: LinkID, _ links: inout LinkSlots, _ around: Surroundings
    ) -> Answer {
        let entrance = links.entrance(of: id)
        let reason = proofs.provedWrong(links[id]?.invitation, at: entrance, now: around.now)
        let events: [LinkEvent] = reason == .wrongProof ? [.guessedWrong(Peer(id: peer, name: hello.name))] : []
        return Answer(events: events, decided: links[id]?.machine.refuse(reason))
    }

    // MARK: Links that are up

    /// A link to a peer is up. Returns the conversation that was forgotten to make room: one without a link.
    mutating func connected(
        _ peer: Peer, _ publicKey: [UInt8], on link: MeshCore.Link, _ peerLinks: PeerLinks, now: MeshInstant
    ) -> ConversationKey? {
        let key = key(peer.id, as: link.machine.role)
        let forgotten = peers.meet(key, publicKey: publicKey, epoch: link.entropy.epoch) {
            peerLinks.link(to: $0) != nil
        }
        if let forgotten { rejoins.forget(forgotten) }
        if link.machine.isProved { peers[key]?.isProved = true }
        if let kept = link.rejoin(of: peer, publicKey) { rejoins.keep(kept, for: key, now: now) }
        return forgotten
    }

    /// Forgets a peer, and the messages to it.
    mutating func forget(_ key: ConversationKey) {
        peers.forget(key)
        rejoins.forget(key)
    }

    /// Changes the stored secrets and the rates of handshakes, for tests.
    mutating func change(_ change: (inout RejoinTable, inout HandshakeGate) -> Void) { change(&rejoins, &handshakes) }
}
