// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What has happened and waits for its step. A step takes a few things of each peer, so that nobody waits for all that another
/// has sent; what is left of a peer's stays in its order, whatever link it came by.
struct Inbox: Sendable {
    private var happenings: [Happening] = []
    /// How much of what waits is of each peer, and of nobody.
    private var counts: [Peer.ID: Int] = [:]
    private var bytes: [Peer.ID: Int] = [:]
    private var others = 0
    /// Those of whom no more is read.
    private(set) var full: Set<Peer.ID> = []
    /// Messages of guests in circuits that exceed the rate of their carrier link.
    private var crowds = CrowdQueues()

    var isEmpty: Bool { happenings.isEmpty }

    /// Whether more is taken of what is around the node: people, players, the radio.
    var hasRoom: Bool { others < NodeLimits.waitingInputs }

    /// Whether more is read of what a peer sends.
    func hasRoom(for peer: Peer.ID) -> Bool { !full.contains(peer) }

    mutating func append(_ happening: Happening) {
        happenings.append(happening)
        count(happening, by: 1)
    }

    /// Something that a guest has said in a circuit on this link.
    mutating func append(_ happening: Happening, over carrier: MeshCore.LinkID?, now: MeshInstant) {
        if crowds.takes(happening, over: carrier, now: now) { happenings.append(happening) }
        count(happening, by: 1)
    }

    /// When something of a crowd is due that waits.
    var crowdDeadline: MeshInstant? { crowds.deadline }

    /// Time has passed for what waits of crowds.
    mutating func releaseCrowds(now: MeshInstant) { happenings += crowds.release(now: now) }

    /// Puts something in front of everything else.
    mutating func prepend(_ first: [Happening]) {
        happenings = first + happenings
        for happening in first { count(happening, by: 1) }
    }

    mutating func removeAll() { self = Inbox() }

    /// Removes what was said on a link that its bearer vouches for: it is not acknowledged, and comes again on the next one.
    mutating func removeAll(saidOn id: MeshCore.LinkID) {
        for happening in happenings where happening.isSaid(on: id) { count(happening, by: -1) }
        happenings.removeAll { $0.isSaid(on: id) }
    }

    /// Takes what is for the next step, in order: of each peer at most so much. The end of a session is a step of its own:
    /// earlier decisions are shown first, and nothing is decided with it.
    mutating func takeTurn(_ limit: Int) -> [Happening] {
        let end = happenings.firstIndex { $0.isEndOfSession } ?? happenings.count
        guard end == 0, let first = happenings.first else { return takeTurn(limit, before: end) }
        happenings.removeFirst()
        count(first, by: -1)
        return [first]
    }

    private mutating func takeTurn(_ limit: Int, before end: Int) -> [Happening] {
        var taken: [Happening] = []
        var left: [Happening] = []
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

    private mutating func count(_ happening: Happening, by sign: Int) {
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
