// SPDX-License-Identifier: Apache-2.0

/// Whom a node has met, and what is kept of them.
extension MeshCore {
    /// What has to outlive the process (`Conversation.durable` says when), by peer.
    public var remembered: [Peer.ID: Remembered] {
        Dictionary(uniqueKeysWithValues: acquaintances.keys.compactMap { id in remembered(id).map { (id, $0) } })
    }

    /// What has to outlive the process of one peer.
    public func remembered(_ peer: Peer.ID) -> Remembered? {
        guard let known = acquaintances[peer], let conversation = conversations[peer] else { return nil }
        return Remembered(publicKey: known.publicKey, conversation: conversation.durable, role: known.role)
    }

    /// The one peer that this node has joined and whose identifier begins like this, if it is one. Who was only let in
    /// here is no known responder: its key must not stand in the way of the one that is meant.
    func onlyAcquaintance(withHead head: String) -> Peer.ID? {
        let found = joined(withHead: head)
        return found.count == 1 ? found.first : nil
    }

    /// The peers that this node has joined and whose identifiers begin like this: nobody else is taken for one of them.
    public func joined(withHead head: String) -> [Peer.ID] {
        acquaintances.lazy.filter { $0.value.role == .initiator && $0.key.hasPrefix(head) }.map(\.key).sorted()
    }

    /// Forgets the peers that this node has joined and whose identifiers begin like this, with what was to be said to them:
    /// another key may be theirs now.
    public mutating func forget(withHead head: String) -> [Action] {
        joined(withHead: head).filter { linkOfPeer[$0] == nil }.map { peer in
            acquaintances[peer] = nil
            conversations[peer] = nil
            return .forgot(peer)
        }
    }

    /// How this node introduces itself to a peer on a link.
    mutating func introduce(to peer: Peer.ID, on id: LinkID) -> Hello? {
        guard let link = links[id] else { return nil }
        let entropy = link.entropy
        let resumption = (conversations[peer] ?? newConversation(entropy)).resumption
        links[id]?.told = resumption.delivered
        let flags = link.machine.role == .responder ? link.advertised : nil
        return Hello(
            name: local.name, resumption: resumption, silence: silence, flags: flags ?? AdvertisedFlags())
    }

    /// A peer has proved its key. Returns who was forgotten for it.
    mutating func meet(_ peer: Peer.ID, key: [UInt8], as role: LinkRole, _ entropy: Entropy) -> Peer.ID? {
        defer { touch(peer) }
        guard acquaintances[peer] == nil else {
            if role == .initiator { acquaintances[peer]?.role = .initiator }
            return nil
        }
        let forgotten = acquaintances.count >= Limits.conversations ? forgetLongestUnused() : nil
        acquaintances[peer] = Acquaintance(publicKey: key, role: role, lastUse: 0)
        conversations[peer] = newConversation(entropy)
        return forgotten
    }

    private func newConversation(_ entropy: Entropy) -> Conversation {
        Conversation(epoch: entropy.epoch, holdsUntilStored: holdsUntilStored)
    }

    mutating func touch(_ peer: Peer.ID) {
        uses += 1
        acquaintances[peer]?.lastUse = uses
    }

    /// Makes room for somebody new. Those with whom nothing was ever exchanged go first: an identity costs nothing, and
    /// whoever makes many must not push out a friend.
    private mutating func forgetLongestUnused() -> Peer.ID? {
        func rank(_ peer: (key: Peer.ID, value: Acquaintance)) -> (Int, UInt64, Peer.ID) {
            (conversations[peer.key]?.isBlank == false ? 1 : 0, peer.value.lastUse, peer.key)
        }
        let unlinked = acquaintances.filter { linkOfPeer[$0.key] == nil }
        guard let leastMissed = unlinked.min(by: { rank($0) < rank($1) })?.key else { return nil }
        acquaintances[leastMissed] = nil
        conversations[leastMissed] = nil
        return leastMissed
    }
}
