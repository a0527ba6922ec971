// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Holds back lost links for `TerminalLimits.quietLoss`. A peer that is linked again by then has changed its bearer.
struct HeldLosses {
    private var held: [(peer: Peer, until: MeshInstant)] = []

    /// The time at which `due` has losses to report.
    var deadline: MeshInstant? { held.first?.until }

    /// A link to a peer is lost.
    mutating func hold(_ peer: Peer, now: MeshInstant) {
        held.removeAll { $0.peer.id == peer.id }
        held.append((peer, now + TerminalLimits.quietLoss))
    }

    /// A peer is linked. Whether the peer's loss was never reported.
    mutating func returns(_ peer: Peer) -> Bool {
        guard let place = held.firstIndex(where: { $0.peer.id == peer.id }) else { return false }
        return held.remove(at: place).peer == peer
    }

    /// The losses were reported in another way.
    mutating func forget() { held = [] }

    /// Peers that were not linked again in time.
    mutating func due(now: MeshInstant) -> [Peer] {
        let count = held.prefix { $0.until <= now }.count
        defer { held.removeFirst(count) }
        return held.prefix(count).map(\.peer)
    }
}
