// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The events that wait for a step. A step takes a few events of each peer, so that no peer waits for all messages of
/// another. The rest keep their order, including across links.
struct Inbox: Sendable {
    private var happenings: [PendingEvent] = []
    /// How many waiting events each peer has caused, and how many have no peer.
    private var counts: [Peer.ID: Int] = [:]
    private var bytes: [Peer.ID: Int] = [:]
    private var others = 0
    /// The peers from which nothing is read at present.
    private(set) var full: Set<Peer.ID> = []
    /// Messages of guests in circuits that exceed the rate of their carrier link.
    private var crowds = CrowdQueues()

    var isEmpty: Bool { happenings.isEmpty }

    /// Whether the node accepts more inputs from people, players and the radio.
    var hasRoom: Bool { others < NodeLimits.waitingInputs }

    /// Whether the node reads more from a peer.
    func hasRoom(for peer: Peer.ID) -> Bool { !full.contains(peer) }

    mutating func append(_ happening: PendingEvent) {
        happenings.append(happening)
        count(happening, by: 1)
    }

    /// Adds a message that a guest has sent in a circuit on `carrier`.
    mutating func append(_ happening: PendingEvent, over carrier: MeshCore.LinkID?, now: MeshInstant) {
        if crowds.takes(happening, over: carrier, now: now) { happenings.append(happening) }
        count(happening, by: 1)
    }

    /// When the next crowd message is due.
    var crowdDeadline: MeshInstant? { crowds.deadline }

    /// Adds the crowd messages that are due to the events for a step.
    mutating func releaseCrowds(now: MeshInstant) { happenings += crowds.release(now: now) }

    mutating func prepend(_ first: [PendingEvent]) {
        happenings = first + happenings
        for happening in first { count(happening, by: 1) }
    }

    mutating func removeAll() { self = Inbox() }

    /// Removes the messages of a vouched link. They are not acknowledged, and the peer sends them again on the next
    /// link.
    mutating func removeAll(saidOn id: MeshCore.LinkID) {
        for happening in happenings where happening.isSaid(on: id) { count(happening, by: -1) }
        happenings.removeAll { $0.isSaid(on: id) }
    }

    /// Removes and returns the events of the next step in order, at most `limit` per peer. The start of the
    /// node and the end of a session are steps of their own, so that earlier results are shown first.
    mutating func takeTurn(_ limit: Int) -> [PendingEvent] {
        let end = happenings.firstIndex { $0.isAlone } ?? happenings.count
        guard end == 0, let first = happenings.first else { return takeTurn(limit, before: end) }
        happenings.removeFirst()
        count(first, by: -1)
        return [first]
    }

    private mutating func takeTurn(_ limit: Int, before end: Int) -> [PendingEvent] {
        var taken: [PendingEvent] = []
        var left: [PendingEvent] = []
        var turns: [Peer.ID: Int] = [:]
        var lateLinks: Set<MeshCore.LinkID> = []
        for happening in happenings[..<end] {
            let isLate = happening.link.map { lateLinks.contains($0) } ?? false
            let turn = happening.peer.map { turns[$0, default: 0] } ?? 0
            guard !isLate, turn < limit else {
                left.append(happening)
                if let peer = happening.peer { turns[peer] = limit }
                if let link = happening.link { lateLinks.insert(link) }
                continue
            }
            if let peer = happening.peer { turns[peer] = turn + 1 }
            taken.append(happening)
            count(happening, by: -1)
        }
        happenings = left + happenings[end...]
        return taken
    }

    private mutating func count(_ happening: PendingEvent, by sign: Int) {
        guard let peer = happening.peer else {
            others += sign
            return
        }
        let (count, size) = (counts[peer, default: 0] + sign, bytes[peer, default: 0] + sign * happening.byteCount)
        (counts[peer], bytes[peer]) = count == 0 ? (nil, nil) : (count, size)
        if count < NodeLimits.waitingInputs, size < NodeLimits.waitingBytes {
            full.remove(peer)
        } else {
            full.insert(peer)
        }
    }
}
