// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The states that a guest had, or a host, a moment ago.
///
/// A guest that moves to another relay says which update it has, and goes on with the old way until the new one is there. What the new
/// relay brings first builds on that update, and not on what has come meanwhile: relays gather changes in different ways, so the
/// state in between may be one that the new relay never has. And where the host itself sends the whole, because it was asked, that stands
/// between two states of this relay's, which goes on from the former. A host sends a guest that comes back what has changed since one of its
/// own.
struct RecentStates: Hashable, Sendable {
    /// A reference, since a step keeps what was before it: of sixteen states in a list that changes each would be copied.
    private final class Entry: Hashable, Sendable {
        let state: HostSnapshot
        /// When its `elapsed` was right.
        let sampledAt: MeshInstant

        init(_ state: HostSnapshot, at time: MeshInstant) { (self.state, sampledAt) = (state, time) }

        static func == (one: Entry, other: Entry) -> Bool {
            one === other || one.sampledAt == other.sampledAt && one.state == other.state
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(state)
            hasher.combine(sampledAt)
        }
    }

    private var entries: [Entry] = []

    /// None.
    init() {}

    /// One more has come, or one again. Of more than `DJLimits.recentStates` the one that came first goes.
    mutating func append(_ state: HostSnapshot, at now: MeshInstant) {
        entries.removeAll { $0.state.epoch == state.epoch && $0.state.revision == state.revision }
        if entries.count == DJLimits.recentStates { entries.removeFirst() }
        entries.append(Entry(state, at: now))
    }

    /// Their names, the newest first.
    var names: [StateName] { entries.reversed().map { StateName(of: $0.state) } }

    /// One of them, as it was.
    func state(_ name: StateName) -> HostSnapshot? {
        entries.last { StateName(of: $0.state) == name }?.state
    }

    /// What a change leads to that builds on one of them.
    func applying(_ change: HostChange, at now: MeshInstant) -> HostSnapshot? {
        guard
            let entry = entries.last(where: { $0.state.epoch == change.epoch && $0.state.revision == change.base })
        else { return nil }
        var state = entry.state
        state.elapse(now - entry.sampledAt)
        return state.applying(change)
    }
}
