// SPDX-License-Identifier: Apache-2.0

/// Which conversation is meant: two nodes have one for each service, and for each of them that joins the other.
///
/// What a guest says to its host is not for the same node as its guest, and what is said in one service is not for another:
/// each conversation has its own numbers, outbox and epochs (`docs/protocol.md`, "Reliable messages").
public struct ConversationKey: Hashable, Comparable, Sendable, Codable {
    /// Who is at the other end.
    public var peer: Peer.ID
    /// Which side this node is: the initiator has joined the peer, the responder has let it in. Only a peer that was joined is a
    /// known responder with its head.
    public var role: LinkRole
    /// The application.
    public var service: ServiceType

    /// The conversation with a peer.
    public init(_ peer: Peer.ID, as role: LinkRole, _ service: ServiceType) {
        self.peer = peer
        self.role = role
        self.service = service
    }

    /// Any order that is always the same.
    public static func < (one: ConversationKey, other: ConversationKey) -> Bool {
        (one.peer, one.role.rawValue, one.service.text) < (other.peer, other.role.rawValue, other.service.text)
    }

    /// What the peer calls this conversation, which is with `local`.
    public func mirrored(for local: Peer.ID) -> ConversationKey {
        ConversationKey(local, as: role == .initiator ? .responder : .initiator, service)
    }
}
