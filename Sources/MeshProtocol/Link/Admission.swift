// SPDX-License-Identifier: Apache-2.0

/// Decides which peers a node admits, on any bearer. No person is asked: all peers that fit are admitted.
public struct Admission: Sendable {
    /// Banned peers. The application stores the bans and sets them here.
    var banned: Set<Peer.ID> = []
    /// Peers whose live links were replaced by newer links, the time of the first replacement, and the number of
    /// replacements.
    private var replaced: [Peer.ID: (since: MeshInstant, count: Int)] = [:]

    /// The answer of a responder.
    public enum Answer: Hashable, Sendable {
        /// Admit the peer. An older link of the same peer is dead, although this side has not noticed it yet, and ends.
        case admit
        /// Refuse the peer, for this reason.
        case refuse(RefusalReason)
    }

    /// An admission without bans.
    public init() {}

    /// A live link of an initiator is replaced by a newer one.
    mutating func replace(_ peer: Peer.ID, now: MeshInstant) {
        replaced = replaced.filter { now < $1.since + Limits.replacementTime }
        let before = replaced[peer] ?? (now, 0)
        // After that it is the start of the time in which both nodes are refused.
        let isLast = before.count + 1 == Limits.replacements
        replaced[peer] = (isLast ? now : before.since, before.count + 1)
    }

    /// Whether two nodes have this identity.
    func isTwin(_ peer: Peer.ID, now: MeshInstant) -> Bool {
        guard let (since, count) = replaced[peer] else { return false }
        return count >= Limits.replacements && now < since + Limits.replacementTime
    }

    /// Whether a link with this many guests in circuits, of all guests in circuits, may have one more.
    static func hasShare(carrierWith guests: Int, ofAll all: Int) -> Bool {
        guests < Limits.circuitShare * (Limits.circuitGuests - all)
    }

    /// Whether a peer gets a slot on a link. A node's own links, those in circuits, and those behind a relay have
    /// separate slots.
    func answer(
        _ peer: Peer.ID, local: Peer.ID, on id: MeshCore.LinkID, _ links: LinkSlots, _ peerLinks: PeerLinks,
        now: MeshInstant
    ) -> Answer {
        guard let link = links.summary(of: id) else { return .refuse(.unspecified) }
        if link.isCarrier {
            let children = peerLinks.children
            return answer(peer, local: local, connected: children, limit: Limits.relayChildren, now: now)
        }
        let connected = peerLinks.connected(inCircuits: link.carrier != nil, links)
        if let carrier = link.carrier, peerLinks.link(to: peer) == nil, !banned.contains(peer) {
            let others = peerLinks.count(over: carrier, links)
            guard Self.hasShare(carrierWith: others, ofAll: connected.count) else { return .refuse(.full) }
        }
        let limit = link.carrier == nil ? Limits.guests : Limits.circuitGuests
        return answer(peer, local: local, connected: connected, limit: limit, now: now)
    }

    /// The answer to a peer with a proved identity. `connected` are the peers that its bearer has linked already, and
    /// `limit` is the maximum number of these peers.
    public func answer(
        _ peer: Peer.ID, local: Peer.ID, connected: some Collection<Peer.ID>, limit: Int = Limits.guests,
        now: MeshInstant = .zero
    ) -> Answer {
        if banned.contains(peer) { return .refuse(.banned) }
        if peer == local || isTwin(peer, now: now) { return .refuse(.twin) }
        return connected.contains(peer) || connected.count < limit ? .admit : .refuse(.full)
    }
}
