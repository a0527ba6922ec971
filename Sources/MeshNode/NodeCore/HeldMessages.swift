// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Reliable messages that no disk has taken yet, the oldest first: bounded in bytes, for each peer and in all.
struct HeldMessages: Sendable {
    private var happenings: [Happening] = []
    private var bytes: [Peer.ID: Int] = [:]
    /// Whether there are none.
    var isEmpty: Bool { happenings.isEmpty }

    /// What all of them take.
    private(set) var allBytes = 0
    /// The same of links that their bearer vouches for: who is there by such a link has room as well.
    private var saidBytes: [Peer.ID: Int] = [:]

    /// Takes all out, to be decided again.
    mutating func takeAll() -> [Happening] {
        defer { self = HeldMessages() }
        return happenings
    }

    /// Whether one more message of a peer has room among its own.
    func hasRoom(for message: ReceivedMessage) -> Bool {
        bytes[message.peer, default: 0] + cost(of: message) <= NodeLimits.heldBytes
    }

    /// Whether it has room among all.
    func hasRoomInAll(for message: ReceivedMessage) -> Bool {
        allBytes + cost(of: message) <= NodeLimits.allHeldBytes
    }

    mutating func append(_ happening: Happening) {
        guard let message = happening.message else { return }
        happenings.append(happening)
        bytes[message.peer, default: 0] += cost(of: message)
        allBytes += cost(of: message)
    }

    /// Whether something of so many bytes has room that a peer says on a link that its bearer vouches for.
    func hasRoom(forSaid count: Int, by peer: Peer.ID) -> Bool {
        let cost = NodeLimits.heldMessage + count
        return saidBytes[peer, default: 0] + cost <= NodeLimits.heldBytes && allBytes + cost <= NodeLimits.allHeldBytes
    }

    mutating func append(_ happening: Happening, said count: Int, by peer: Peer.ID) {
        happenings.append(happening)
        saidBytes[peer, default: 0] += NodeLimits.heldMessage + count
        allBytes += NodeLimits.heldMessage + count
    }

    /// Lets go of all messages of the one peer that has the most of those that are meant. Returns the first of them.
    mutating func removeMost(where isMeant: (Peer.ID) -> Bool) -> ReceivedMessage? {
        let most = bytes.filter { isMeant($0.key) }.max { ($0.value, $0.key) < ($1.value, $1.key) }
        guard let (peer, size) = most else { return nil }
        let first = happenings.lazy.compactMap(\.message).first { $0.peer == peer }
        happenings.removeAll { $0.message?.peer == peer }
        bytes[peer] = nil
        allBytes -= size
        return first
    }

    private func cost(of message: ReceivedMessage) -> Int { NodeLimits.heldMessage + message.body.count }
}
