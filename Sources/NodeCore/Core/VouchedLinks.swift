// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The links with peers that a bearer vouches for, such as those of the page. No handshake proves these peers, so their
/// bearer is asked to end a link that is not admitted.
struct VouchedLinks: Sendable {
    /// The answer to a link that a bearer offers.
    enum Answer: Sendable {
        case admit
        /// End the link. `isGuess`: the peer has claimed a wrong PIN.
        case refuse(RefusalReason, isGuess: Bool = false)
    }

    private var peers: [MeshCore.LinkID: Peer] = [:]

    /// The links in order, with their peers.
    var all: [(id: MeshCore.LinkID, peer: Peer.ID)] {
        peers.map { ($0.key, $0.value.id) }.sorted { $0.id < $1.id }
    }

    /// The peer of a link; nil if it is gone, or of another kind.
    subscript(id: MeshCore.LinkID) -> Peer? { peers[id] }

    /// A bearer has linked a peer, which may claim to know the secret that a host asks for.
    mutating func joined(
        _ id: MeshCore.LinkID, _ peer: Peer, _ claim: JoiningSecret?, isHost: Bool, isQuitting: Bool,
        _ mesh: inout MeshCore, now: MeshInstant
    ) -> Answer {
        // A peer without the right secret learns only that, and not whether there is a free slot.
        if let claim, isHost, let reason = mesh.judge(claim, now: now) {
            return .refuse(reason, isGuess: reason == .wrongProof)
        }
        guard isHost, !isQuitting else { return .refuse(.ended) }
        if case .refuse(let reason) = mesh.answer(vouchedFor: peer.id, connected: Set(peers.values.map(\.id))) {
            return .refuse(reason)
        }
        if let claim, !claim.invitation.isEmpty, !mesh.use(claim) { return .refuse(.invitation) }
        peers[id] = peer
        return .admit
    }

    /// A link has ended. Returns its peer.
    mutating func left(_ id: MeshCore.LinkID) -> Peer? { peers.removeValue(forKey: id) }
}
