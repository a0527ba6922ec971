// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The peers that are linked to a node. A peer is present as long as at least one of its links is up, on any bearer.
struct Presence: Sendable {
    private struct Entry: Sendable {
        var peer: Peer
        /// The peer's links over the radio, and its vouched links.
        var radio: Set<MeshCore.LinkID> = []
        var vouched: Set<MeshCore.LinkID> = []
    }

    private var entries: [Peer.ID: Entry] = [:]

    /// A peer that is present.
    subscript(id: Peer.ID) -> Peer? { entries[id]?.peer }

    /// The number of peers that are linked over the radio.
    var overRadio: Int { entries.values.count { !$0.radio.isEmpty } }

    /// A peer's vouched links.
    func vouched(_ id: Peer.ID) -> [MeshCore.LinkID] { entries[id]?.vouched.sorted() ?? [] }

    /// Whether a peer has this link.
    func has(_ id: Peer.ID, by link: MeshCore.LinkID) -> Bool {
        entries[id].map { $0.radio.contains(link) || $0.vouched.contains(link) } == true
    }

    /// Whether a peer is linked over the radio.
    func isOverRadio(_ id: Peer.ID) -> Bool { entries[id]?.radio.isEmpty == false }

    /// A peer's link is up. Returns whether to show it, because the peer was not present or had another name.
    mutating func linked(_ peer: Peer, by id: MeshCore.LinkID, isVouched: Bool) -> Bool {
        var entry = entries[peer.id] ?? Entry(peer: peer)
        let isNews = entries[peer.id]?.peer != peer
        entry.peer = peer
        if isVouched { entry.vouched.insert(id) } else { entry.radio.insert(id) }
        entries[peer.id] = entry
        return isNews
    }

    /// A peer's link is gone. Returns whether it was the last one; nil if it is unknown.
    mutating func unlinked(_ id: Peer.ID, by link: MeshCore.LinkID) -> Bool? {
        guard var entry = entries[id], entry.radio.remove(link) ?? entry.vouched.remove(link) != nil else { return nil }
        let isLast = entry.radio.isEmpty && entry.vouched.isEmpty
        entries[id] = isLast ? nil : entry
        return isLast
    }
}
