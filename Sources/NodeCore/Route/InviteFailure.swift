// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Why the dial of an invited host has failed.
public enum InviteFailure: Hashable, Sendable {
    /// No node with this identifier was heard.
    case unknownPeer
    /// The dial ended without a connection, for this reason.
    case dialFailed(String)
    /// The host has refused. `by` is the host; nil if nothing proves that it was the host: an advertisement, or a
    /// message before there were keys.
    case refused(RefusalReason, by: Peer.ID?)
    /// The host is not dialled: too many hosts that did not know this guest's PIN have asked for it.
    case heldBack(Peer.ID)
    /// The link ended before both sides had introduced themselves.
    case linkEnded(LinkEnd)

    init(_ end: LinkEnd, provedBy peer: Peer.ID?) {
        self = if case .refused(let reason) = end { .refused(reason, by: peer) } else { .linkEnded(end) }
    }

    /// What a guest reports, and how its policy goes on.
    func acts(_ presence: Presence) -> [StepAction] {
        switch self {
        case .refused(let reason, .some(let host)):
            [
                .cleared(by: .refused), .tell(Notice(NetworkError(reason, by: presence[host]))),
                .steer(.refused(reason, by: host)),
            ]
        case .heldBack(let host):
            [.cleared(by: .refused), .tell(Notice(NetworkError.pinAtRisk)), .steer(.refused(.challenge, by: host))]
        // Any peer can claim this in the host's name. So the node reports it and tries again.
        case .refused(let reason, nil): [.tell(Notice(NetworkError(reason))), .steer(.dialFailed)]
        case .unknownPeer, .dialFailed, .linkEnded: [.steer(.dialFailed)]
        }
    }
}
