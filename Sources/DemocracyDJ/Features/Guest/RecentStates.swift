// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The states that a guest had a moment ago.
///
/// A guest that moves to another relay says which update it has, and goes on with the old way until the new one is there. What the new
/// relay brings first builds on that update, and not on what has come meanwhile: relays gather changes in different ways, so the
/// state in between may be one that the new relay never has.
struct RecentStates: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var state: HostSnapshot
        /// When its `elapsed` was right.
        var sampledAt: MeshInstant
    }

    private var entries: [Entry] = []

    /// None.
    init() {}

    /// One more has come. Of more than `DJLimits.recentStates` the one that came first goes.
    mutating func append(_ state: HostSnapshot, at now: MeshInstant) {
        if entries.count == DJLimits.recentStates { entries.removeFirst() }
        entries.append(Entry(state: state, sampledAt: now))
    }

    /// What a change leads to that builds on one of them.
    func applying(_ change: HostChange, at now: MeshInstant) -> HostSnapshot? {
        guard
            var entry = entries.last(where: { $0.state.epoch == change.epoch && $0.state.revision == change.base })
        else { return nil }
        entry.state.elapse(now - entry.sampledAt)
        return entry.state.applying(change)
    }
}
