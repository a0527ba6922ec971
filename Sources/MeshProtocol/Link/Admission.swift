// SPDX-License-Identifier: Apache-2.0

/// Decides whom a node takes in, by whatever bearer. There is no prompt: everybody who fits is welcome.
public struct Admission: Sendable {
    /// Who is kept out. What sends people away remembers them, and says so here.
    var banned: Set<Peer.ID> = []
    /// Those whose live links were replaced by newer ones, since when, and how often.
    private var replaced: [Peer.ID: (since: MeshInstant, count: Int)] = [:]

    /// What a responder answers.
    public enum Answer: Hashable, Sendable {
        /// Welcome. An older link of the same peer is dead even if it does not know yet, and goes.
        case admit
        /// No, and why.
        case refuse(RefusalReason)
    }

    /// An admission that has sent nobody away.
    public init() {}

    /// A live link of an initiator's is replaced by a newer one.
    mutating func replace(_ peer: Peer.ID, now: MeshInstant) {
        replaced = replaced.filter { now < $1.since + Limits.replacementTime }
        let before = replaced[peer] ?? (now, 0)
        // From there on the time is that for which both are kept out.
        let isLast = before.count + 1 == Limits.replacements
        replaced[peer] = (isLast ? now : before.since, before.count + 1)
    }

    /// Whether two nodes have this identity.
    func isTwin(_ peer: Peer.ID, now: MeshInstant) -> Bool {
        guard let (since, count) = replaced[peer] else { return false }
        return count >= Limits.replacements && now < since + Limits.replacementTime
    }

    /// Whether a link that has so many guests in circuits, of all that there are, may have another one.
    static func hasShare(carrierWith guests: Int, ofAll all: Int) -> Bool {
        guests < Limits.circuitShare * (Limits.circuitGuests - all)
    }

    /// Answers a peer that is known for sure. `connected` are those that its bearer has linked already, `limit` is how many
    /// that may be.
    public func answer(
        _ peer: Peer.ID, local: Peer.ID, connected: some Collection<Peer.ID>, limit: Int = Limits.guests,
        now: MeshInstant = .zero
    ) -> Answer {
        if banned.contains(peer) { return .refuse(.banned) }
        if peer == local || isTwin(peer, now: now) { return .refuse(.twin) }
        return connected.contains(peer) || connected.count < limit ? .admit : .refuse(.full)
    }
}
