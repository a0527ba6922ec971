// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Limits how many messages of guests in circuits are decided per second, for all guests behind one link. Further
/// messages wait in order.
///
/// The circuits of one link can carry a thousand identities, and identities cost nothing. No message is refused or
/// lost.
struct CrowdQueues: Sendable {
    private struct Queue: Sendable {
        var rate: RateLimit
        var waiting: [PendingEvent] = []
    }

    private var queues: [MeshCore.LinkID: Queue] = [:]
    /// The queue in which messages of a peer wait. Its later messages wait there too, even if they arrive on another
    /// link.
    private var places: [Peer.ID: (carrier: MeshCore.LinkID, count: Int)] = [:]

    /// Whether to decide on an event now. Otherwise it is queued here.
    mutating func takes(_ happening: PendingEvent, over carrier: MeshCore.LinkID?, now: MeshInstant) -> Bool {
        let place = happening.peer.flatMap { places[$0]?.carrier }
        guard let carrier = place ?? carrier else { return true }
        var queue = queues[carrier] ?? Self.empty(now: now)
        defer { queues[carrier] = queue }
        if place == nil, queue.waiting.isEmpty, queue.rate.allows(now: now) { return true }
        queue.waiting.append(happening)
        if let peer = happening.peer { places[peer] = (carrier, (places[peer]?.count ?? 0) + 1) }
        return false
    }

    /// When the first queued message is due.
    var deadline: MeshInstant? {
        queues.values.lazy.filter { !$0.waiting.isEmpty }.map { $0.rate.opens(now: .zero) }.min()
    }

    /// Removes and returns the messages that are due. Empty queues of old links are dropped.
    mutating func release(now: MeshInstant) -> [PendingEvent] {
        var released: [PendingEvent] = []
        for carrier in queues.keys.sorted() {
            guard var queue = queues[carrier] else { continue }
            while !queue.waiting.isEmpty, queue.rate.allows(now: now) {
                let first = queue.waiting.removeFirst()
                if let peer = first.peer, let place = places[peer] {
                    places[peer] = place.count > 1 ? (place.carrier, place.count - 1) : nil
                }
                released.append(first)
            }
            queues[carrier] = queue
        }
        if queues.count > Limits.guests { queues = queues.filter { !$0.value.waiting.isEmpty } }
        return released
    }

    private static func empty(now: MeshInstant) -> Queue {
        Queue(
            rate: RateLimit(
                perSecond: NodeLimits.crowdMessagesPerSecond, burst: NodeLimits.crowdBurst, now: now))
    }
}
