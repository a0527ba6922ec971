// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Hosts to try again later: they had no room, or were not the expected host.
struct HeldHosts: Sendable {
    /// The first pause; it doubles with each try.
    static let firstHold: Duration = .seconds(5)
    /// The longest pause. A free slot is found within a minute.
    static let longestHold: Duration = .seconds(60)
    /// Maximum number of hosts with a pause: more than are in range at once.
    static let limit = 16

    private struct Hold: Sendable {
        var tries = 0
        var until = MeshInstant.zero
        /// The host as it was heard during the pause. The scan may not report it again for some time.
        var heard: Peer?
    }

    /// The held hosts, by the heads of their identifiers.
    private var held: [Peer.ID: Hold] = [:]

    /// The end of the first pause of a host that was heard during it.
    var deadline: MeshInstant? { held.values.filter { $0.heard != nil }.map(\.until).min() }

    /// Starts a pause for a host. `jitter` is a random number from 0 to 1.
    mutating func hold(_ host: Peer.ID, now: MeshInstant, jitter: Double) {
        let head = Identity.head(of: host)
        if held[head] == nil, held.count == Self.limit, let soonest = held.min(by: { $0.value.until < $1.value.until })
        {
            held[soonest.key] = nil
        }
        var hold = held[head] ?? Hold()
        hold.until = now + min(Self.firstHold * (1 << min(hold.tries, 5)), Self.longestHold) * (0.5 + jitter / 2)
        hold.tries += 1
        held[head] = hold
    }

    /// A host is heard. Returns whether it may be dialled.
    mutating func isOver(for peer: Peer, now: MeshInstant) -> Bool {
        let head = Identity.head(of: peer.id)
        guard let hold = held[head], now < hold.until else { return true }
        held[head]?.heard = peer
        return false
    }

    /// A host that was heard during its pause, which has ended.
    mutating func takeDue(now: MeshInstant) -> Peer? {
        guard let (head, hold) = held.first(where: { $1.heard != nil && now >= $1.until }) else { return nil }
        held[head]?.heard = nil
        return hold.heard
    }

    mutating func removeAll() { held = [:] }
}
