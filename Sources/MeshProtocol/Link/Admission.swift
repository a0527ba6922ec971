// SPDX-License-Identifier: Apache-2.0

/// Decides whom a responder takes in. There is no prompt: everybody who fits is welcome.
public struct Admission: Sendable {
    private var banned: Set<Peer.ID> = []

    /// What a responder answers.
    public enum Answer: Hashable, Sendable {
        /// Welcome. An older link of the same peer is dead even if it does not know yet, and goes.
        case admit
        /// No, and why.
        case refuse(RefusalReason)
    }

    /// An admission that has sent nobody away.
    public init() {}

    /// Sends an initiator away for as long as this responder runs.
    public mutating func ban(_ peer: Peer.ID) {
        // Who is banned was an initiator: one person's thumb bounds this set, but a limit is a limit.
        guard banned.count < Limits.conversations else { return }
        banned.insert(peer)
    }

    /// Answers an initiator that has introduced itself.
    public func answer(_ peer: Peer.ID, local: Peer.ID, connected: some Collection<Peer.ID>) -> Answer {
        if banned.contains(peer) || peer == local { return .refuse(.banned) }
        return connected.contains(peer) || connected.count < Limits.guests ? .admit : .refuse(.full)
    }
}
