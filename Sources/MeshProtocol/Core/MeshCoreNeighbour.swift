// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// A node that has dialled this one, on a channel of its own.
    public struct Neighbour: Hashable, Sendable {
        /// The link to the neighbour.
        public var link: LinkID
        /// Whether the neighbour is a relay.
        public var relays: Bool

        /// A neighbour on this link.
        public init(link: LinkID, relays: Bool) { (self.link, self.relays) = (link, relays) }
    }
}
