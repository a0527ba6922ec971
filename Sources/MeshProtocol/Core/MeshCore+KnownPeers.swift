// SPDX-License-Identifier: Apache-2.0

/// Whom a node has met, and what is kept of them.
extension MeshCore {
    /// What has to outlive the process (`Conversation.durable` says when).
    public var remembered: [ConversationKey: Remembered] {
        Dictionary(uniqueKeysWithValues: knownPeers.keys.compactMap { key in remembered(key).map { (key, $0) } })
    }

    /// What has to outlive the process of one conversation.
    public func remembered(_ key: ConversationKey) -> Remembered? {
        guard let known = knownPeers[key], let conversation = conversations[key] else { return nil }
        return Remembered(
            publicKey: known.publicKey, conversation: conversation.durable, isProved: known.isProved)
    }

    /// The key of the conversation with a peer in which this node has that role.
    public func key(_ peer: Peer.ID, as role: LinkRole) -> ConversationKey { ConversationKey(peer, as: role, service) }

    /// The conversation with a peer that was used last, whichever role this node has in it.
    public func lastConversation(with peer: Peer.ID) -> ConversationKey? {
        knownPeers.filter { $0.key.peer == peer }.max { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) }?
            .key
    }

    /// The one peer that this node has joined and whose identifier begins like this, if it is one. Who was only let in
    /// here is no known responder: its key must not stand in the way of the one that is meant.
    func onlyJoined(withHead head: String) -> Peer.ID? {
        let found = joined(withHead: head)
        return found.count == 1 ? found.first : nil
    }

    /// The peers that this node has joined and whose identifiers begin like this: nobody else is taken for one of them.
    public func joined(withHead head: String) -> [Peer.ID] {
        knownPeers.keys.lazy.filter { $0.role == .initiator && $0.peer.hasPrefix(head) }.map(\.peer).sorted()
    }

    /// Forgets the peers that this node has joined and whose identifiers begin like this, with what was to be said to them:
    /// another key may be theirs now.
    public mutating func forget(withHead head: String) -> [Action] {
        joined(withHead: head).filter { linkOfPeer[$0] == nil }.map { peer in
            let key = key(peer, as: .initiator)
            forget(key)
            return .forgot(key)
        }
    }

    /// How this node introduces itself to a peer on a link.
    mutating func introduce(to peer: Peer.ID, on id: LinkID) -> Hello? {
        guard let link = links[id] else { return nil }
        let isResponder = link.machine.role == .responder
        let known = link.carrier == nil ? conversations[key(peer, as: link.machine.role)] : nil
        let resumption = (known ?? newConversation(link.entropy)).resumption
        links[id]?.told = resumption.delivered
        var hello = Hello(
            name: local.name, resumption: resumption,
            silence: max(silence, isCrowded(link) ? Limits.crowdedSilence : link.leastSilence),
            flags: isResponder ? link.advertised ?? ownFlags : AdvertisedFlags())
        if isResponder, link.carrier != nil {
            hello.route = .some(route)
        } else if isResponder {
            let isForRelay = link.place != nil || link.leadsToRelay
            hello.signingKey = isForRelay ? identity.signingKey.map { Array($0.publicKey.rawRepresentation) } : nil
            hello.rejoins = link.place != nil
        } else {
            hello.relays = relays && link.place == nil
            hello.shownState = link.place == nil ? link.shown.first : nil
        }
        return hello
    }

    /// Whether a link is one of many in circuits: they ask one another more seldom.
    func isCrowded(_ link: Link) -> Bool { link.place != nil && innerLinks.count > Limits.fewCircuits }

    /// What this node says of itself in a circuit, where no radio of its own is heard.
    private var ownFlags: AdvertisedFlags { AdvertisedFlags(critical: door.isLocked ? .proof : []) }

    /// Whether the responder of the link to a peer asks for something to be proved, as it says under the seal.
    public func asksForProof(_ peer: Peer.ID) -> Bool {
        link(to: peer).flatMap { links[$0]?.hello }?.flags.critical.contains(.proof) == true
    }

    /// A peer has proved its key. Returns what was forgotten for it.
    mutating func meet(_ key: ConversationKey, publicKey: [UInt8], _ entropy: Entropy) -> ConversationKey? {
        defer { touch(key) }
        guard knownPeers[key] == nil else { return nil }
        let forgotten = knownPeers.count >= Limits.conversations ? forgetLongestUnused() : nil
        knownPeers[key] = KnownPeer(publicKey: publicKey, lastUse: 0)
        conversations[key] = newConversation(entropy)
        return forgotten
    }

    /// A link in a circuit is up: something is kept of its handshake, where both sides do that.
    mutating func keepForRejoining(_ key: ConversationKey, _ peer: Peer, _ publicKey: [UInt8], _ link: Link) {
        guard let secret = link.machine.rejoinSecret, link.machine.role == .responder || link.hello?.rejoins == true
        else { return }
        let kept = Rejoin(
            secret: secret, attempt: 0, publicKey: publicKey, name: peer.name, signingKey: link.hello?.signingKey)
        rejoins.keep(kept, for: key, now: now)
    }

    private func newConversation(_ entropy: Entropy) -> Conversation {
        Conversation(epoch: entropy.epoch, holdsUntilStored: holdsUntilStored)
    }

    mutating func touch(_ key: ConversationKey) {
        uses += 1
        knownPeers[key]?.lastUse = uses
    }

    private mutating func forget(_ key: ConversationKey) {
        knownPeers[key] = nil
        conversations[key] = nil
        rejoins.forget(key)
    }

    /// Makes room for somebody new. Those with whom nothing was ever exchanged go first: an identity costs nothing, and
    /// who makes many must not push out a friend.
    private mutating func forgetLongestUnused() -> ConversationKey? {
        func rank(_ known: (key: ConversationKey, value: KnownPeer)) -> (Int, UInt64, ConversationKey) {
            (conversations[known.key]?.isBlank == false ? 1 : 0, known.value.lastUse, known.key)
        }
        let unlinked = knownPeers.filter { linkOfPeer[$0.key.peer] == nil }
        guard let leastMissed = unlinked.min(by: { rank($0) < rank($1) })?.key else { return nil }
        forget(leastMissed)
        return leastMissed
    }
}
