// SPDX-License-Identifier: Apache-2.0

/// Decides whom a node takes in, by whatever bearer. There is no prompt: everybody who fits is welcome.
public struct Admission: Sendable {
    /// Who is kept out. What sends people away remembers them, and says so here.
    var banned: Set<Peer.ID> = []

    /// What a responder answers.
    public enum Answer: Hashable, Sendable {
        /// Welcome. An older link of the same peer is dead even if it does not know yet, and goes.
        case admit
        /// No, and why.
        case refuse(RefusalReason)
    }

    /// An admission that has sent nobody away.
    public init() {}

    /// Answers a peer that is known for sure. `connected` are those that its bearer has linked already, `limit` is how many
    /// that may be.
    public func answer(
        _ peer: Peer.ID, local: Peer.ID, connected: some Collection<Peer.ID>, limit: Int = Limits.guests
    ) -> Answer {
        if banned.contains(peer) || peer == local { return .refuse(.banned) }
        return connected.contains(peer) || connected.count < limit ? .admit : .refuse(.full)
    }
}
