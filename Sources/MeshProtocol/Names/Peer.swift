// SPDX-License-Identifier: Apache-2.0

/// A node as all other nodes see it: a permanent identifier, and a name for people.
///
/// The identifier comes from the node's public key (`Identity`), so it is independent of the name and of any radio's
/// address. Two guests with the same name are two peers. A radio's own idea of a peer never leaves `BLETransport`.
public struct Peer: Hashable, Sendable, Codable, Identifiable {
    /// Permanent identifier: 32 hexadecimal digits after the node's hello. Before that, a node that was only heard is
    /// known by the first eight of them (`docs/protocol.md`, "Advertisement").
    public var id: String
    /// The person's name for this node. Untrusted text: show it, never interpret it.
    public var name: String

    /// Another name for `name`. The documents that RoadMesh follows use both.
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
