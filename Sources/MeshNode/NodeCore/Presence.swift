// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Who is linked to a node, by whatever bearer: a peer is there as long as one of its links is.
struct Presence: Sendable {
    private struct Entry: Sendable {
        var peer: Peer
        /// Its links over the radio, and those that another bearer vouches for.
        var radio: Set<MeshCore.LinkID> = []
        var vouched: Set<MeshCore.LinkID> = []
    }

    private var entries: [Peer.ID: Entry] = [:]

    /// A peer that is there.
    subscript(id: Peer.ID) -> Peer? { entries[id]?.peer }

    /// How many peers are linked over the radio.
    var overRadio: Int { entries.values.count { !$0.radio.isEmpty } }

    /// A peer's links that another bearer vouches for.
    func vouched(_ id: Peer.ID) -> [MeshCore.LinkID] { entries[id]?.vouched.sorted() ?? [] }

    /// Whether a peer is linked over the radio.
    func isOverRadio(_ id: Peer.ID) -> Bool { entries[id]?.radio.isEmpty == false }

    /// A link of a peer is up. Whether people are to be told: it was not there before, or had another name.
    mutating func linked(_ peer: Peer, by id: MeshCore.LinkID, isVouched: Bool) -> Bool {
        var entry = entries[peer.id] ?? Entry(peer: peer)
        let isNews = entries[peer.id]?.peer != peer
        entry.peer = peer
        if isVouched { entry.vouched.insert(id) } else { entry.radio.insert(id) }
        entries[peer.id] = entry
        return isNews
    }

    /// A link of a peer is gone. Nil for a link that was none of a peer that is there; otherwise whether it was the last.
    mutating func unlinked(_ id: Peer.ID, by link: MeshCore.LinkID) -> Bool? {
        guard var entry = entries[id], entry.radio.remove(link) ?? entry.vouched.remove(link) != nil else { return nil }
        let isLast = entry.radio.isEmpty && entry.vouched.isEmpty
        entries[id] = isLast ? nil : entry
        return isLast
    }
}
