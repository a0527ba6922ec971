// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A link of a running node that ends in this process. Its bearer vouches for the peer. For example, a page has
/// verified the key of a browser.
public struct LocalLink: Sendable {
    /// What the node sends on the link.
    public enum Event: Hashable, Sendable {
        /// A message for the peer.
        case message(MeshMessage)
        /// The node has stored the peer's message with this number.
        case acknowledged(UInt64)
        /// The link has ended. This is the last event.
        case ended(LinkEnd)
    }

    /// Identifies the link among the node's links.
    public let id: MeshCore.LinkID
    /// The node's events, in order. A reader that falls behind loses the link.
    public let events: AsyncStream<Event>

    /// Creates a link with this identifier.
    public init(_ id: MeshCore.LinkID, _ events: AsyncStream<Event>) {
        self.id = id
        self.events = events
    }
}
