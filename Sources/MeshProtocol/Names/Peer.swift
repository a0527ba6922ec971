// SPDX-License-Identifier: Apache-2.0

/// A node as every other node sees it: an identifier that stays, and a name for people.
///
/// The identifier comes from the node's public key (`Identity`), so it is independent of the name and of any radio's
/// address: two guests with one name are two peers. A radio's own notion of a peer never leaves `BLETransport`.
public struct Peer: Hashable, Sendable, Codable, Identifiable {
    /// Stable identifier: 32 hexadecimal digits for a node that has introduced itself. A node that was only heard is
    /// known by the first six of them (`docs/protocol.md`, "Advertisement").
    public var id: String
    /// What the person calls this node. Untrusted text: show it, never interpret it.
    public var name: String

    /// Another name for `name`; the documents RoadMesh follows use both.
    public var displayName: String { name }

    /// A peer with a known identifier.
    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

extension Peer: CustomStringConvertible {
    /// The name with the head of the identifier, for logs.
    public var description: String { "\(name) (\(Identity.head(of: id)))" }
}
