// SPDX-License-Identifier: Apache-2.0

/// Identifies a conversation. Two nodes have one conversation for each service and for each role.
///
/// A message of a guest to its host is not for the same node in its role as a guest, and a message of one service is
/// not for another. So each conversation has its own numbers, outbox and epochs (`docs/protocol.md`, "Reliable
/// messages").
public struct ConversationKey: Hashable, Comparable, Sendable, Codable {
    /// The peer at the other end.
    public var peer: Peer.ID
    /// This node's role: the initiator has joined the peer, the responder has admitted it. Only a peer that this node
    /// has joined is a known responder with its head.
    public var role: LinkRole
    /// The application.
    public var service: ServiceType

    /// The conversation with a peer.
    public init(_ peer: Peer.ID, as role: LinkRole, _ service: ServiceType) {
        self.peer = peer
        self.role = role
        self.service = service
    }

    /// A fixed order.
    public static func < (one: ConversationKey, other: ConversationKey) -> Bool {
        (one.peer, one.role.rawValue, one.service.text) < (other.peer, other.role.rawValue, other.service.text)
    }

    /// The peer's key of the same conversation, which the peer has with `local`.
    public func mirrored(for local: Peer.ID) -> ConversationKey {
        ConversationKey(local, as: role == .initiator ? .responder : .initiator, service)
    }
}
