// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Reliable messages that no disk has taken yet, the oldest first: bounded in bytes, for each peer and in all.
struct HeldMessages: Sendable {
    /// Who has room of its own: a peer over the radio, and the same peer on links that their bearer vouches for.
    private struct Holder: Hashable {
        var peer: Peer.ID
        var isVouched: Bool

        init?(_ happening: Happening) {
            guard let peer = happening.peer else { return nil }
            self.peer = peer
            isVouched = if case .said = happening { true } else { false }
        }
    }

    private var happenings: [Happening] = []
    private var bytes: [Holder: Int] = [:]
    /// What all of them take.
    private(set) var allBytes = 0

    /// Whether there are none.
    var isEmpty: Bool { happenings.isEmpty }

    /// Takes all out, to be decided again.
    mutating func takeAll() -> [Happening] {
        defer { self = HeldMessages() }
        return happenings
    }

    /// Whether one more message has room among those of its holder.
    func hasRoom(for happening: Happening) -> Bool {
        let own = Holder(happening).flatMap { bytes[$0] } ?? 0
        return own + Self.cost(of: happening) <= NodeLimits.heldBytes
    }

    /// Whether it has room among all.
    func hasRoomInAll(for happening: Happening) -> Bool {
        allBytes + Self.cost(of: happening) <= NodeLimits.allHeldBytes
    }

    mutating func append(_ happening: Happening) {
        guard let holder = Holder(happening) else { return }
        let cost = Self.cost(of: happening)
        happenings.append(happening)
        bytes[holder, default: 0] += cost
        allBytes += cost
    }

    /// Lets go of what was said on a link that its bearer vouches for: the next link brings it again.
    mutating func removeAll(saidOn id: MeshCore.LinkID) {
        let isKept = { (happening: Happening) in
            guard case .said(_, _, on: id, by: _) = happening else { return true }
            return false
        }
        for happening in happenings where !isKept(happening) {
            guard let holder = Holder(happening) else { continue }
            let cost = Self.cost(of: happening)
            bytes[holder, default: cost] -= cost
            if bytes[holder] == 0 { bytes[holder] = nil }
            allBytes -= cost
        }
        happenings = happenings.filter(isKept)
    }

    /// Lets go of all messages of the one peer over the radio that has the most of those that are meant. Returns the first of
    /// them.
    mutating func removeMost(where isMeant: (Peer.ID) -> Bool) -> ReceivedMessage? {
        let most = bytes.filter { !$0.key.isVouched && isMeant($0.key.peer) }
            .max { ($0.value, $0.key.peer) < ($1.value, $1.key.peer) }
        guard let (holder, size) = most else { return nil }
        let first = happenings.lazy.compactMap(\.message).first { $0.peer == holder.peer }
        happenings.removeAll { $0.message?.peer == holder.peer }
        bytes[holder] = nil
        allBytes -= size
        return first
    }

    private static func cost(of happening: Happening) -> Int { NodeLimits.heldMessage + happening.byteCount }
}
