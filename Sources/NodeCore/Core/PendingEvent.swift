// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// An event above the links that is not decided yet.
enum PendingEvent: Sendable {
    case event(NodeCore.Event)
    case link(MeshCore.LinkID, LinkEvent)
    /// A link of a session has ended. `besideRadio`: it went over a network or a broker.
    case ended(MeshCore.LinkID, Peer, LinkEnd, besideRadio: Bool)
    /// A link that its bearer vouches for is up, or has another name.
    case joined(MeshCore.LinkID, Peer)
    /// A message with this number has arrived on a vouched link.
    case said(MeshMessage, UInt64, on: MeshCore.LinkID, by: Peer.ID)
    /// A vouched link has ended.
    case left(MeshCore.LinkID, Peer.ID, LinkEnd)
    /// A relay is heard. It must be reported, and nothing else.
    case reported(HeardNode)
    case inviteFailed(InviteFailure)
    /// A conversation was forgotten.
    case forgot(ConversationKey)
    /// A wish that is decided again, because it could not be written before.
    case wish(GuestFeature.Event)
}

extension PendingEvent {
    var link: MeshCore.LinkID? {
        switch self {
        case .link(let id, _), .ended(let id, _, _, _), .joined(let id, _), .left(let id, _, _),
            .said(_, _, on: let id, by: _):
            id
        case .event, .reported, .inviteFailed, .forgot, .wish: nil
        }
    }

    /// The peer that has caused the event.
    var peer: Peer.ID? {
        switch self {
        case .link(_, .admitted(let peer)), .link(_, .connected(let peer)), .ended(_, let peer, _, _): peer.id
        case .link(_, .received(let message)): message.peer
        case .link(_, .acknowledged(_, let key)), .forgot(let key): key.peer
        case .joined(_, let peer): peer.id
        case .left(_, let peer, _), .said(_, _, on: _, by: let peer): peer
        case .link, .event, .reported, .inviteFailed, .wish: nil
        }
    }

    /// Whether this is a message on this vouched link.
    func isSaid(on id: MeshCore.LinkID) -> Bool { if case .said(_, _, on: id, by: _) = self { true } else { false } }

    /// Whether nothing else is decided in the same step: the start of the node, and the end of a session.
    var isAlone: Bool {
        switch self {
        case .event(.started), .event(.input(.end)): true
        default: false
        }
    }

    var message: ReceivedMessage? { if case .link(_, .received(let message)) = self { message } else { nil } }

    /// The size of the peer's message in bytes.
    var byteCount: Int {
        switch self {
        case .link(_, .received(let message)): message.body.count
        case .said(let message, _, on: _, by: _): message.encoded.count
        default: 0
        }
    }
}
