// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A person's wishes about songs, and for a short time their results.
package struct ShownWishes: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var songID: Song.ID
        package var kind: Wish.Kind
        package var state: WishState
        /// When the entry disappears; nil while the wish is open.
        var goes: MeshInstant?
    }

    /// All wishes, oldest first.
    package private(set) var entries: [Entry] = []

    /// The newest wish about a song.
    package func entry(_ songID: Song.ID) -> Entry? { entries.last { $0.songID == songID } }

    /// Applies a new state of a wish.
    package mutating func take(_ songID: Song.ID, _ kind: Wish.Kind, _ state: WishState, now: MeshInstant) {
        // A vote and its withdrawal concern the same thing, so the newer one counts.
        entries.removeAll { $0.songID == songID && ($0.kind == .suggest) == (kind == .suggest) }
        let isOpen = state == .queued || state == .sent
        let goes = isOpen ? nil : now + NodeLimits.settledWish
        entries.append(Entry(songID: songID, kind: kind, state: state, goes: goes))
        // Open wishes never exceed this limit, so drop a settled one first.
        if entries.count > DJLimits.pendingVotes {
            entries.remove(at: entries.firstIndex { $0.goes != nil } ?? 0)
        }
    }

    /// Removes expired wishes. Returns whether any was removed.
    package mutating func tick(now: MeshInstant) -> Bool {
        let before = entries.count
        entries.removeAll { $0.goes.map { $0 <= now } ?? false }
        return entries.count != before
    }
}
