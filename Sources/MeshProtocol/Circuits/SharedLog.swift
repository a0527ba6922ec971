// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// What a relay keeps of the host's state, signed as it came: for the nodes behind it, and for who comes later
/// (`docs/protocol.md`, "The state, once for each link").
struct SharedLog: Sendable {
    /// One update.
    struct Entry: Hashable, Sendable {
        var sharing: MessageUnit.Sharing
        /// The state that it leads to.
        var name: StateName
        /// The signature, and what it signs.
        var signed: [UInt8]
    }

    /// Whose state it is.
    var host: Peer.ID?
    private var entries: Deque<Entry> = []
    /// The place of the first entry. Places are never used twice.
    private var first: UInt64 = 0
    /// Where who has nothing begins: the last entry that stands by itself.
    private var start: UInt64?
    /// Bytes of all entries.
    private(set) var byteCount = 0

    private var end: UInt64 { first + UInt64(entries.count) }

    /// An update of the host's has come.
    mutating func append(_ entry: Entry) {
        // What was before a checkpoint is for those who do not have it yet.
        if entry.sharing == .whole { removeAll() }
        if entry.sharing != .change { start = end }
        entries.append(entry)
        byteCount += entry.signed.count
        while byteCount > Limits.sharedLogBytes, let start, first < start { removeFirst() }
        // What builds on nothing is of use to nobody, and what grows without end neither.
        if start == nil || byteCount > Limits.sharedLogBytes { removeAll() }
    }

    /// What follows stands by itself, or builds on something that was never here. Who has got to the end of what is kept has to
    /// begin again as well.
    mutating func beginAgain() {
        removeAll()
        first += 1
    }

    /// The last states that it leads to, the newest first, as many as are named. They are not older than what a newcomer begins with, so
    /// that what builds on one of them is of use to it as well. None where a newcomer would get nothing.
    var names: [StateName] {
        guard let start else { return [] }
        var names: [StateName] = []
        // A checkpoint is what the update before it has led to.
        for entry in entries[Int(start - first)...].reversed() where names.last != entry.name {
            names.append(entry.name)
            if names.count == Limits.namedStates { break }
        }
        return names
    }

    /// The last update that leads to one of these states, and its place; nil where none is kept.
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

    /// What follows the place that somebody has got to, and its own place. Nil for who has everything, or where there is
    /// nothing to begin with.
    func next(after place: UInt64?, withCheckpoints: Bool = false) -> (entry: Entry, place: UInt64)? {
        guard let place, place + 1 >= first else { return start.map { (entries[Int($0 - first)], $0) } }
        guard place + 1 < end else { return nil }
        let next = entries[Int(place + 1 - first)]
        // It says nothing new to who has all that was before it.
        guard withCheckpoints || next.sharing != .checkpoint else { return self.next(after: place + 1) }
        return (next, place + 1)
    }
}
