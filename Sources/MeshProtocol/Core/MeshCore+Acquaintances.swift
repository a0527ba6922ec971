// SPDX-License-Identifier: Apache-2.0

/// Whom a node has met, and what is kept of them.
extension MeshCore {
    /// What has to outlive the process (`Conversation.durable` says when), by peer.
    public var remembered: [Peer.ID: Remembered] {
        Dictionary(uniqueKeysWithValues: acquaintances.keys.compactMap { id in remembered(id).map { (id, $0) } })
    }

    /// What has to outlive the process of one peer.
    public func remembered(_ peer: Peer.ID) -> Remembered? {
        guard let publicKey = acquaintances[peer]?.publicKey, let conversation = conversations[peer] else { return nil }
        return Remembered(publicKey: publicKey, conversation: conversation.durable)
    }

    /// The one peer whose identifier begins like this, if it is one.
    func onlyAcquaintance(withHead head: String) -> Peer.ID? {
        let found = acquaintances.keys.filter { $0.hasPrefix(head) }
        return found.count == 1 ? found.first : nil
    }

    /// How this node introduces itself to a peer on a link.
    mutating func introduce(to peer: Peer.ID, on id: LinkID) -> Introduction? {
        guard let entropy = links[id]?.entropy else { return nil }
        let resumption = (conversations[peer] ?? newConversation(entropy)).resumption
        links[id]?.told = resumption.delivered
        return Introduction(name: local.name, resumption: resumption)
    }

    /// A peer has proved its key. Returns who was forgotten for it.
    mutating func meet(_ peer: Peer.ID, key: [UInt8], _ entropy: Entropy) -> Peer.ID? {
        defer { touch(peer) }
        guard acquaintances[peer] == nil else { return nil }
        let forgotten = acquaintances.count >= Limits.conversations ? forgetLongestUnused() : nil
        acquaintances[peer] = Acquaintance(publicKey: key, lastUse: 0)
        conversations[peer] = newConversation(entropy)
        return forgotten
    }

    private func newConversation(_ entropy: Entropy) -> Conversation {
        var conversation = Conversation(
            epoch: plantedBug == .keepsEpoch ? 1 : entropy.epoch, holdsUntilStored: holdsUntilStored)
        conversation.plantedBug = plantedBug
        return conversation
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
