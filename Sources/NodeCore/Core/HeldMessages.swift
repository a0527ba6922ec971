// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Unwritten reliable messages, oldest first. They are bounded in bytes, per peer and in total.
struct HeldMessages: Sendable {
    /// A holder has its own share of the room. The radio link of a peer and its vouched links are separate holders.
    private struct Holder: Hashable {
        var peer: Peer.ID
        var isVouched: Bool

        init?(_ happening: PendingEvent) {
            guard let peer = happening.peer else { return nil }
            self.peer = peer
            isVouched = if case .said = happening { true } else { false }
        }
    }

    private var happenings: [PendingEvent] = []
    private var bytes: [Holder: Int] = [:]
    /// The size of all held messages in bytes.
    private(set) var allBytes = 0

    var isEmpty: Bool { happenings.isEmpty }

    /// Removes and returns all messages, to decide on them again.
    mutating func takeAll() -> [PendingEvent] {
        defer { self = HeldMessages() }
        return happenings
    }

    /// Whether a message fits into the share of its holder.
    func hasRoom(for happening: PendingEvent) -> Bool {
        let own = Holder(happening).flatMap { bytes[$0] } ?? 0
        return own + Self.cost(of: happening) <= NodeLimits.heldBytes
    }

    /// Whether a message fits into the total limit.
    func hasRoomInAll(for happening: PendingEvent) -> Bool {
        allBytes + Self.cost(of: happening) <= NodeLimits.allHeldBytes
    }

    mutating func append(_ happening: PendingEvent) {
        guard let holder = Holder(happening) else { return }
        let cost = Self.cost(of: happening)
        happenings.append(happening)
        bytes[holder, default: 0] += cost
        allBytes += cost
    }

    /// Drops the messages of a vouched link. The peer sends them again on the next link.
    mutating func removeAll(saidOn id: MeshCore.LinkID) {
        let isKept = { (happening: PendingEvent) in
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

    /// Drops all messages of the radio peer that holds the most, among the matching peers. Returns its first message.
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

    private static func cost(of happening: PendingEvent) -> Int { NodeLimits.heldMessage + happening.byteCount }
}
