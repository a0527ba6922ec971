// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The host's state that a relay stores, signed as it arrived, for the nodes behind it now and later
/// (`docs/protocol.md`, "The state, once for each link").
struct SharedLog: Sendable {
    /// One update in the log.
    struct Entry: Hashable, Sendable {
        var sharing: MessageUnit.Sharing
        /// The resulting state.
        var name: StateName
        /// The signature and the signed bytes.
        var signed: [UInt8]
    }

    /// The host of the state.
    var host: Peer.ID?
    private var entries: Deque<Entry> = []
    /// The position of the first entry. Positions are never reused.
    private var first: UInt64 = 0
    /// Position from which a node without any state starts: the last entry that needs no earlier one.
    private var start: UInt64?
    /// Bytes of all entries.
    private(set) var byteCount = 0

    private var end: UInt64 { first + UInt64(entries.count) }

    /// An update of the host has arrived.
    mutating func append(_ entry: Entry) {
        // Entries before a checkpoint stay for nodes that do not have them yet.
        if entry.sharing == .whole { removeAll() }
        if entry.sharing != .change { start = end }
        entries.append(entry)
        byteCount += entry.signed.count
        while byteCount > Limits.sharedLogBytes, let start, first < start { removeFirst() }
        // Changes without a base are useless, and the log must not grow without limit.
        if start == nil || byteCount > Limits.sharedLogBytes { removeAll() }
    }

    /// The next update needs no earlier one, or builds on one that was never here. Nodes that have read the whole log
    /// must start again too.
    mutating func beginAgain() {
        removeAll()
        first += 1
    }

    /// The last resulting states, the newest first, up to the number that is reported. None is older than what a new
    /// node starts with, so changes to each of them are useful for it too. Empty if a new node would get nothing.
    var names: [StateName] {
        guard let start else { return [] }
        var names: [StateName] = []
        // A checkpoint is the same state as the update before it.
        for entry in entries[Int(start - first)...].reversed() where names.last != entry.name {
            names.append(entry.name)
            if names.count == Limits.namedStates { break }
        }
        return names
    }

    /// The last update that results in one of these states, and its position. Nil without one.
    func newest(of names: [StateName]) -> (name: StateName, place: UInt64)? {
        guard start != nil, !names.isEmpty else { return nil }
        let names = Set(names)
        return entries.lastIndex { names.contains($0.name) }.map { (entries[$0].name, first + UInt64($0)) }
    }

    private mutating func removeFirst() {
        byteCount -= entries.removeFirst().signed.count
        first += 1
    }

    private mutating func removeAll() {
        (first, start) = (end, nil)
        entries = []
        byteCount = 0
    }

    /// The next update after a node's position, and its position. Nil if the node has everything, or if no update can
    /// start it.
    func next(after place: UInt64?, withCheckpoints: Bool = false) -> (entry: Entry, place: UInt64)? {
        guard let place, place + 1 >= first else { return start.map { (entries[Int($0 - first)], $0) } }
        guard place + 1 < end else { return nil }
        let next = entries[Int(place + 1 - first)]
        // A checkpoint is useless for a node that has everything before it.
        guard withCheckpoints || next.sharing != .checkpoint else { return self.next(after: place + 1) }
        return (next, place + 1)
    }
}
