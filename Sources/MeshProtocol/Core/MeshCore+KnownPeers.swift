// SPDX-License-Identifier: Apache-2.0

/// The peers that a node has met, and what it remembers of them.
extension MeshCore {
    /// The state that must survive the process (`Conversation.durable` defines when).
    public var remembered: [ConversationKey: Remembered] {
        Dictionary(uniqueKeysWithValues: knownPeers.keys.compactMap { key in remembered(key).map { (key, $0) } })
    }

    /// The state of one conversation that must survive the process.
    public func remembered(_ key: ConversationKey) -> Remembered? {
        guard let known = knownPeers[key], let conversation = conversations[key] else { return nil }
        return Remembered(
            publicKey: known.publicKey, conversation: conversation.durable, isProved: known.isProved)
    }

    /// The key of the conversation with a peer in which this node has that role.
    public func key(_ peer: Peer.ID, as role: LinkRole) -> ConversationKey { ConversationKey(peer, as: role, service) }

    /// The conversation with a peer that was used last, in either role.
    public func lastConversation(with peer: Peer.ID) -> ConversationKey? {
        knownPeers.filter { $0.key.peer == peer }.max { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) }?
            .key
    }

    /// The only peer that this node has joined with this head of an identifier. A peer that was only admitted is not a
    /// known responder: its key must not be used instead of the right one.
    func onlyJoined(withHead head: String) -> Peer.ID? {
        let found = joined(withHead: head)
        return found.count == 1 ? found.first : nil
    }

    /// The peers that this node has joined with this head of an identifier. Only these can match the head.
    public func joined(withHead head: String) -> [Peer.ID] {
        knownPeers.keys.lazy.filter { $0.role == .initiator && $0.peer.hasPrefix(head) }.map(\.peer).sorted()
    }

    /// Forgets the peers that this node has joined with this head of an identifier, and the messages to them. They may
    /// have another key now.
    public mutating func forget(withHead head: String) -> [Action] {
        joined(withHead: head).filter { linkOfPeer[$0] == nil }.map { peer in
            let key = key(peer, as: .initiator)
            forget(key)
            return .forgot(key)
        }
    }

    /// This node's hello for a peer on a link.
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

    /// Whether a link is one of many in circuits. Such links ping each other less often.
    func isCrowded(_ link: Link) -> Bool { link.place != nil && innerLinks.count > Limits.fewCircuits }

    /// The flags of this node in a circuit, where its own radio is not heard.
    private var ownFlags: AdvertisedFlags { AdvertisedFlags(critical: admissionPolicy.isLocked ? .proof : []) }

    /// Whether the responder of the link to a peer asks for a proof, by its sealed hello.
    public func asksForProof(_ peer: Peer.ID) -> Bool {
        link(to: peer).flatMap { links[$0]?.hello }?.flags.critical.contains(.proof) == true
    }

    /// A peer has proved its key. Returns the conversation that was forgotten to make room.
    mutating func meet(_ key: ConversationKey, publicKey: [UInt8], _ entropy: Entropy) -> ConversationKey? {
        defer { touch(key) }
        guard knownPeers[key] == nil else { return nil }
        let forgotten = knownPeers.count >= Limits.conversations ? forgetLongestUnused() : nil
        knownPeers[key] = KnownPeer(publicKey: publicKey, lastUse: 0)
        conversations[key] = newConversation(entropy)
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

    /// Makes room for a new peer. Peers that never exchanged a message are removed first: identities cost nothing, and
    /// an attacker that creates many must not displace a friend.
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
