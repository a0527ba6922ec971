// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The loss of a link over the network or a broker, which is told only where another bearer does not take its place at once: a guest
/// that goes from one to the other has nothing to be told.
struct QuietLoss: Sendable {
    private var wasBeside = false
    private var held: (host: Peer, until: MeshInstant)?

    /// When `due` has something to tell.
    var deadline: MeshInstant? { held?.until }

    /// The link to the host is over, which went over this.
    mutating func ended(over bearer: Bearer?) { wasBeside = bearer == .lan || bearer == .broker }

    /// Whether a loss is kept back for a while.
    mutating func holds(_ host: Peer, now: MeshInstant) -> Bool {
        guard wasBeside else { return false }
        held = (host, now + NodeLimits.quietLoss)
        return true
    }

    /// The host is linked again, or is not waited for any more.
    mutating func isOver() { held = nil }

    /// The host whose loss is to be told now.
    mutating func due(now: MeshInstant) -> Peer? {
        guard let (host, until) = held, until <= now else { return nil }
        held = nil
        return host
    }
}
