// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What a host sends to its guests in the protocol's conversations: its state, answers to searches, and covers. It
/// encodes what `StateFeed` decides.
struct HostDelivery: Sendable {
    /// A message to send.
    struct Message: Sendable {
        var bytes: [UInt8]
        var guest: Peer.ID
        var sharing: SharedState?
    }

    /// The feed of the host's state. Nil at a guest, and before the node is ready.
    private var feed: StateFeed?
    /// The rate of searches by guests in the circuits of each carrier link. A search reads the full library, so all
    /// guests behind one link share a rate.
    private var searches = RecentTable<MeshCore.LinkID, RateLimit>(limit: Limits.guests)

    /// A session begins with this state.
    mutating func begin(_ state: HostSnapshot, now: MeshInstant) { feed = StateFeed(state, now: now) }

    /// The first state of a guest that has reported which state it has.
    mutating func welcome(
        having state: StateName?, now: MeshInstant
    ) -> (message: MeshMessage, state: HostSnapshot)? {
        feed?.welcome(having: state, now: now)
    }

    mutating func handle(_ event: StateFeed.Event, now: MeshInstant) -> [Message] {
        guard let actions = feed?.handle(event, now: now) else { return [] }
        // Most guests get the same message, so it is encoded once.
        var last: (message: MeshMessage, bytes: [UInt8])?
        return actions.map { action in
            switch action {
            case .send(let message, let guest):
                let bytes = (last?.message == message ? last?.bytes : nil) ?? message.encoded
                last = (message, bytes)
                return Message(bytes: bytes, guest: guest, sharing: message.sharing)
            case .checkpoint(let message, let guest):
                var sharing = message.sharing
                sharing?.sharing = .checkpoint
                return Message(bytes: message.encoded, guest: guest, sharing: sharing)
            }
        }
    }

    /// Whether a guest may search now. `carrier` carries the circuit of its link.
    mutating func maySearch(over carrier: MeshCore.LinkID?, now: MeshInstant) -> Bool {
        guard let carrier else { return true }
        var rate =
            searches[carrier]
            ?? RateLimit(
                perSecond: NodeLimits.crowdSearchesPerSecond, burst: NodeLimits.crowdSearchBurst, now: now)
        defer { searches[carrier] = rate }
        return rate.allows(now: now)
    }
}
