// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Delays the report of a lost link over a network or a broker. If another bearer replaces the link within that time,
/// no loss is shown.
struct QuietLoss: Sendable {
    private var wasBeside = false
    private var held: (host: Peer, until: MeshInstant)?

    /// The time at which `due` returns a host.
    var deadline: MeshInstant? { held?.until }

    /// The link to the host over this bearer has ended.
    mutating func ended(over bearer: BearerKind?) { wasBeside = bearer == .lan || bearer == .broker }

    /// Whether the report of a loss is delayed.
    mutating func holds(_ host: Peer, now: MeshInstant) -> Bool {
        guard wasBeside else { return false }
        held = (host, now + NodeLimits.quietLoss)
        return true
    }

    /// The host is linked again, or the node has stopped waiting for it.
    mutating func isOver() { held = nil }

    /// The lost host to report now.
    mutating func due(now: MeshInstant) -> Peer? {
        guard let (host, until) = held, until <= now else { return nil }
        held = nil
        return host
    }
}
