// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What has happened above a node's links and is not decided yet.
enum Happening: Sendable {
    case event(NodeCore.Event)
    case link(MeshCore.LinkID, LinkEvent)
    /// A link that its bearer vouches for is up, or has another name.
    case joined(MeshCore.LinkID, Peer)
    /// Something was said on such a link, with this number.
    case said(MeshMessage, UInt64, on: MeshCore.LinkID, by: Peer.ID)
    /// Such a link is over.
    case left(MeshCore.LinkID, Peer.ID, LinkEnd)
    /// A relay is heard, and nothing is to be done but to tell of it.
    case way(RelayScanResult)
    case inviteFailed(InviteFailure)
    /// A conversation is not remembered any more.
    case forgot(ConversationKey)
    /// Something that found no way to the disk before is wanted again.
    case wish(GuestFeature.Event)
}

extension Happening {
    /// The link that it is about.
    var link: MeshCore.LinkID? {
        switch self {
        case .link(let id, _), .joined(let id, _), .left(let id, _, _), .said(_, _, on: let id, by: _): id
        case .event, .way, .inviteFailed, .forgot, .wish: nil
        }
    }

    /// Whose it is, where a peer has brought it about.
    var peer: Peer.ID? {
        switch self {
        case .link(_, .admitted(let peer)), .link(_, .connected(let peer)), .link(_, .ended(let peer, _)): peer.id
        case .link(_, .received(let message)): message.peer
        case .link(_, .acknowledged(_, let key)), .forgot(let key): key.peer
        case .joined(_, let peer): peer.id
        case .left(_, let peer, _), .said(_, _, on: _, by: let peer): peer
        case .link, .event, .way, .inviteFailed, .wish: nil
        }
    }

    /// Whether it was said on this link, which its bearer vouches for.
    func isSaid(on id: MeshCore.LinkID) -> Bool { if case .said(_, _, on: id, by: _) = self { true } else { false } }

    /// The driver ends the session.
    var isEndOfSession: Bool { if case .event(.input(.end)) = self { true } else { false } }

    /// What a peer has sent.
    var message: ReceivedMessage? { if case .link(_, .received(let message)) = self { message } else { nil } }

    /// The bytes of what a peer says with it.
    var byteCount: Int {
        switch self {
        case .link(_, .received(let message)): message.body.count
        case .said(let message, _, on: _, by: _): message.encoded.count
        default: 0
        }
    }
}
