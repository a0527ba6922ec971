// SPDX-License-Identifier: Apache-2.0

/// The peers that a node has met, and what it remembers of them.
extension MeshCore {
    /// The state that must survive the process (`Conversation.durable` defines when).
    public var remembered: [ConversationKey: Remembered] { peers.remembered }

    /// The state of one conversation that must survive the process.
    public func remembered(_ key: ConversationKey) -> Remembered? { peers[key]?.remembered }

    /// The key of the conversation with a peer in which this node has the given role.
    public func key(_ peer: Peer.ID, as role: LinkRole) -> ConversationKey { ConversationKey(peer, as: role, service) }

    /// The conversation with a peer that was used last, in either role.
    public func lastConversation(with peer: Peer.ID) -> ConversationKey? { peers.lastConversation(with: peer) }

    /// The only peer that this node has joined with this head of an identifier. A peer that was only admitted is not a
    /// known responder: its key must not be used instead of the right one.
    func onlyJoined(withHead head: String) -> Peer.ID? {
        let found = joined(withHead: head)
        return found.count == 1 ? found.first : nil
    }

    /// The peers that this node has joined with this head of an identifier. Only these can match the head.
    public func joined(withHead head: String) -> [Peer.ID] { peers.joined(withHead: head) }

    /// Forgets the peers that this node has joined with this head of an identifier, and the messages to them. They may
    /// have another key now.
    public mutating func forget(withHead head: String) -> [Action] {
        joined(withHead: head).filter { peerLinks.ofPeer[$0] == nil }.map { peer in
            let key = key(peer, as: .initiator)
            forget(key)
            return .forgot(key)
        }
    }

    /// This node's hello for a peer on a link.
    mutating func introduce(to peer: Peer.ID, on id: LinkID) -> Hello? {
        guard let link = links[id] else { return nil }
        let isResponder = link.machine.role == .responder
        let known = link.carrier == nil ? peers[key(peer, as: link.machine.role)]?.conversation : nil
        let resumption = (known ?? peers.newConversation(epoch: link.entropy.epoch)).resumption
        links[id]?.told = resumption.delivered
        var hello = Hello(
            name: local.name, resumption: resumption,
            silence: max(settings.silence, isCrowded(link) ? Limits.crowdedSilence : link.leastSilence),
            flags: isResponder ? link.advertised ?? ownFlags : AdvertisedFlags())
        if isResponder, link.carrier != nil {
            hello.route = .some(route)
        } else if isResponder {
            let isForRelay = link.place != nil || link.leadsToRelay
            hello.signingKey = isForRelay ? sharedStates.publicKey : nil
            hello.rejoins = link.place != nil
        } else {
            hello.relays = relays && link.place == nil
            hello.shownState = link.place == nil ? link.shown.first : nil
        }
        return hello
    }

    /// Whether a link is one of many in circuits. Such links ping each other less often.
    func isCrowded(_ link: Link) -> Bool { link.place != nil && circuitEnds.count > Limits.fewCircuits }

    /// The flags of this node in a circuit, where its own radio is not heard.
    private var ownFlags: AdvertisedFlags { AdvertisedFlags(critical: admissionPolicy.isLocked ? .proof : []) }

    /// Whether the responder of the link to a peer asks for a proof, by its sealed hello.
    public func asksForProof(_ peer: Peer.ID) -> Bool {
        link(to: peer).flatMap { links[$0]?.hello }?.flags.critical.contains(.proof) == true
    }

    /// A peer has proved its key. Returns the conversation that was forgotten to make room.
    mutating func meet(_ key: ConversationKey, publicKey: [UInt8], _ entropy: Entropy) -> ConversationKey? {
        let forgotten = peers.meet(key, publicKey: publicKey, epoch: entropy.epoch) { [peerLinks] in
            peerLinks.ofPeer[$0] != nil
        }
        if let forgotten { rejoins.forget(forgotten) }
        return forgotten
    }

    /// A link in a circuit is up. Stores a secret of its handshake if both sides support this.
    mutating func keepForRejoining(_ key: ConversationKey, _ peer: Peer, _ publicKey: [UInt8], _ link: Link) {
        guard let secret = link.machine.rejoinSecret, link.machine.role == .responder || link.hello?.rejoins == true
        else { return }
        let kept = Rejoin(
            secret: secret, attempt: 0, publicKey: publicKey, name: peer.name, signingKey: link.hello?.signingKey)
        rejoins.keep(kept, for: key, now: now)
    }

    private mutating func forget(_ key: ConversationKey) {
        peers.forget(key)
        rejoins.forget(key)
    }
}
