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

    var isEmpty: Bool { happenings.isEmpty }

    /// Whether more is taken of what is around the node: people, players, the radio.
    var hasRoom: Bool { others < NodeLimits.waitingInputs }

    /// Whether more is read of what a peer sends.
    func hasRoom(for peer: Peer.ID) -> Bool {
        counts[peer, default: 0] < NodeLimits.waitingInputs && bytes[peer, default: 0] < NodeLimits.waitingBytes
    }

    mutating func append(_ happening: Happening) {
        happenings.append(happening)
        count(happening, by: 1)
    }

    /// Puts something in front of everything else.
    mutating func prepend(_ first: [Happening]) {
        happenings = first + happenings
        for happening in first { count(happening, by: 1) }
    }

    mutating func removeAll() { self = Inbox() }

    /// Takes what is for the next step, in order: of each peer at most so much.
    mutating func takeTurn(_ limit: Int) -> [Happening] {
        var taken: [Happening] = []
        var left: [Happening] = []
        var turns: [Peer.ID: Int] = [:]
        var lateLinks: Set<MeshCore.LinkID> = []
        for happening in happenings {
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
        happenings = left
        return taken
    }

    private mutating func count(_ happening: Happening, by sign: Int) {
        guard let peer = happening.peer else {
            others += sign
            return
        }
        let (count, size) = (counts[peer, default: 0] + sign, bytes[peer, default: 0] + sign * happening.byteCount)
        (counts[peer], bytes[peer]) = count == 0 ? (nil, nil) : (count, size)
    }
}

extension Happening {
    fileprivate var link: MeshCore.LinkID? {
        switch self {
        case .link(let id, _), .joined(let id, _), .left(let id, _, _), .said(_, _, on: let id, by: _): id
        case .event, .inviteFailed, .forgot, .wish: nil
        }
    }

    /// Whose it is, where a peer has brought it about.
    fileprivate var peer: Peer.ID? {
        switch self {
        case .link(_, .admitted(let peer)), .link(_, .connected(let peer)), .link(_, .ended(let peer, _)): peer.id
        case .link(_, .received(let message)): message.peer
        case .link(_, .acknowledged(_, let peer)), .forgot(let peer): peer
        case .joined(_, let peer): peer.id
        case .left(_, let peer, _), .said(_, _, on: _, by: let peer): peer
        case .link, .event, .inviteFailed, .wish: nil
        }
    }

    /// What a peer has sent.
    var message: ReceivedMessage? { if case .link(_, .received(let message)) = self { message } else { nil } }

    fileprivate var byteCount: Int { message?.body.count ?? 0 }
}
