// SPDX-License-Identifier: Apache-2.0

/// An event on a link.
public enum LinkEvent: Hashable, Sendable {
    /// The answer that admits this peer is about to be sent. `MeshCore.welcome` can add the first state update. Sent to
    /// responders. Before `connected` the peer may be a replay, so the node must not send anything else.
    case admitted(Peer)
    /// The link is up, with this peer at its other end.
    case connected(Peer)
    /// A message has arrived. A reliable one must be accepted (`MeshCore.accept`) when it is stored.
    case received(ReceivedMessage)
    /// The peer has stored every reliable message up to this number.
    case acknowledged(upTo: UInt64, in: ConversationKey)
    /// The last state update has been sent, so a newer one may follow.
    case latestHasLeft
    /// The round-trip time of the ping with this number.
    case roundTrip(Duration, ping: UInt64)
    /// The circuit of a probe with this number has ended. Only `tooFar` is the answer of the probed relay. Nil if the
    /// circuit has reached a host.
    case probed(UInt64, CircuitEnd?)
    /// The peer has pinged this side, which itself pings less often.
    case asked
    /// A link to a relay, or to a node behind this one, is up, and circuits may be opened on it. The side that dialled
    /// gets the relay's route.
    case carrier(Peer, Route?)
    /// A relay's route has changed.
    case route(Route?)
    /// The dialled peer has only slots for relays left, and asks this node to move behind a relay.
    case askedForRoom
    /// A carrier was up and has ended.
    case carrierEnded(Peer, LinkEnd)
    /// A peer claims to know the PIN and does not. Sent to responders.
    case guessedWrong(Peer)
    /// A peer has proved that it has an invitation, and will be admitted by it. Sent to responders.
    case invitationUsed(Peer)
    /// `MeshCore.unanswered` has changed and must be stored. Sent to initiators.
    case unansweredProofs
    /// The link was up and has ended.
    case ended(Peer, LinkEnd)
    /// The link never came up and has ended. `expected` is the peer that an initiator has dialled, or its head.
    /// `proved` is the peer at the other end if it has proved its key.
    case failed(expected: Peer.ID?, proved: Peer.ID?, LinkEnd)
}
