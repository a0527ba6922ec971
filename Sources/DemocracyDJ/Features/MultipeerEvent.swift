// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The network as the features see it: peers, messages and events, independent of the bearer.
public enum MultipeerEvent: Sendable {
    /// A host is in range.
    case peerDiscovered(Peer)
    /// A host is out of range.
    case peerLost(Peer)
    /// A link to a peer is up.
    case peerConnected(Peer)
    /// A link to a peer has ended.
    case peerDisconnected(DisconnectedPeer)
    /// A message has arrived.
    case messageReceived(MeshMessage, from: Peer)
    /// The receiver has stored a message durably.
    case messageDelivered(MeshMessage, to: Peer.ID)
    /// A message could not be sent. A `SendError` names the receiver and the cause. Another carrier of messages may
    /// report errors of its own.
    case sendFailed(MeshMessage, any Error)
    /// The radio has failed, or all peers were lost at once.
    case networkUnavailable
    /// The session is over for good.
    case sessionInvalidated

    /// The link to a peer has ended, for this reason.
    public static func peerDisconnected(_ peer: Peer, reason: DisconnectReason = .linkLost) -> Self {
        .peerDisconnected(DisconnectedPeer(peer: peer, reason: reason))
    }
}

extension MultipeerEvent: Hashable {
    /// Errors that are not Hashable are equal if they have the same description.
    public static func == (one: MultipeerEvent, other: MultipeerEvent) -> Bool {
        switch (one, other) {
        case (.peerDiscovered(let one), .peerDiscovered(let other)), (.peerLost(let one), .peerLost(let other)),
            (.peerConnected(let one), .peerConnected(let other)):
            one == other
        case (.peerDisconnected(let one), .peerDisconnected(let other)): one == other
        case (.messageReceived(let one, let sender), .messageReceived(let other, let otherSender)):
            one == other && sender == otherSender
        case (.messageDelivered(let one, let receiver), .messageDelivered(let other, let otherReceiver)):
            one == other && receiver == otherReceiver
        case (.sendFailed(let one, let error), .sendFailed(let other, let otherError)):
            one == other && comparable(error) == comparable(otherError)
        case (.networkUnavailable, .networkUnavailable), (.sessionInvalidated, .sessionInvalidated): true
        default: false
        }
    }

    /// Hashes the values that `==` compares. Of an error it hashes only the type.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .peerDiscovered(let peer), .peerLost(let peer), .peerConnected(let peer): hasher.combine(peer)
        case .peerDisconnected(let peer): hasher.combine(peer)
        case .messageReceived(let message, let peer):
            hasher.combine(message)
            hasher.combine(peer)
        case .messageDelivered(let message, let peer):
            hasher.combine(message)
            hasher.combine(peer)
        case .sendFailed(let message, let error):
            hasher.combine(message)
            // Not the error itself: the hash of Foundation's URLError traps on Linux.
            hasher.combine(ObjectIdentifier(type(of: error)))
        case .networkUnavailable: hasher.combine(1)
        case .sessionInvalidated: hasher.combine(2)
        }
    }

    private static func comparable(_ error: any Error) -> AnyHashable {
        (error as? any Hashable).map { AnyHashable($0) } ?? AnyHashable(String(reflecting: error))
    }
}

/// A peer after the end of its link, with the reason. The peer's own properties can be read from it.
@dynamicMemberLookup
public struct DisconnectedPeer: Hashable, Sendable {
    /// The peer.
    public let peer: Peer
    /// Why the link ended.
    public let reason: DisconnectReason

    /// The peer's properties.
    public subscript<Value>(dynamicMember member: KeyPath<Peer, Value> & Sendable) -> Value { peer[keyPath: member] }
}

extension [Peer] {
    /// Removes the peer with this identifier and returns it, if the array contains it.
    @discardableResult
    public mutating func remove(id: Peer.ID) -> Peer? {
        firstIndex { $0.id == id }.map { remove(at: $0) }
    }
}

/// Why a message could not be sent.
public struct SendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause of a failure.
    public enum Cause: String, Hashable, Sendable {
        /// No link is up, and the message does not wait for one.
        case noLink
        /// The conversation with this peer has reached its limit of waiting messages.
        case full
        /// The disk rejects the message.
        case notStored
    }

    /// The receiver.
    public let peer: Peer
    /// The cause.
    public let cause: Cause

    /// Creates an error.
    public init(_ cause: Cause, to peer: Peer) {
        self.cause = cause
        self.peer = peer
    }

    /// The cause and the receiver.
    public var description: String { "\(cause.rawValue): \(peer)" }
}

/// Why a link has ended, in the terms of `docs/reference.md`.
public enum DisconnectReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The peer left and announced it, or this node did.
    case goodbye
    /// The link broke: a tunnel, or the other program died.
    case linkLost
    /// The host has rejected this guest.
    case refused
    /// The same peer returned over a newer link.
    case replaced
}

extension DisconnectReason {
    /// Maps the end of a link to what it means to people.
    public init(_ end: LinkEnd) {
        switch end {
        case .left, .goodbye: self = .goodbye
        case .refused: self = .refused
        case .replaced: self = .replaced
        case .busy, .linkLost, .silent, .circuit, .handshakeTimeout, .misbehaved: self = .linkLost
        }
    }
}
