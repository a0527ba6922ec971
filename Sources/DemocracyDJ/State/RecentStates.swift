// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The recent states of a guest or a host.
///
/// A guest that moves to another relay names the state that it has, and uses the old route until the new one is up. The
/// first changes from the new relay build on that state, not on later states of the guest. Relays gather changes in
/// different ways, so the new relay may never have the state in between. A full state that the host sends on request
/// may also lie between two states of a relay, and the relay continues from the earlier one.
///
/// A host keeps its own recent states. A guest that returns with one of them gets only the changes since.
struct RecentStates: Hashable, Sendable {
    /// This is a class, because a step keeps the state before it, and a copy of a struct would copy a list of sixteen
    /// states with each change.
    private final class Entry: Hashable, Sendable {
        let state: HostSnapshot
        /// The time at which its `elapsed` was right.
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

    /// Creates an empty list.
    init() {}

    /// Adds a state, or moves it to the end. Beyond `DJLimits.recentStates` the oldest one is dropped.
    mutating func append(_ state: HostSnapshot, at now: MeshInstant) {
        entries.removeAll { $0.state.epoch == state.epoch && $0.state.revision == state.revision }
        if entries.count == DJLimits.recentStates { entries.removeFirst() }
        entries.append(Entry(state, at: now))
    }

    /// The names of the states, newest first.
    var names: [StateName] { entries.reversed().map { StateName(of: $0.state) } }

    /// A state, with the elapsed time that it had.
    func state(_ name: StateName) -> HostSnapshot? {
        entries.last { StateName(of: $0.state) == name }?.state
    }

    /// The state after a change that builds on one of the recent states; nil if none fits.
    func applying(_ change: HostChange, at now: MeshInstant) -> HostSnapshot? {
        guard
            let entry = entries.last(where: { $0.state.epoch == change.epoch && $0.state.revision == change.base })
        else { return nil }
        var state = entry.state
        state.elapse(now - entry.sampledAt)
        return state.applying(change)
    }
}
