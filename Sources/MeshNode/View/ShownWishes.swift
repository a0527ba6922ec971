// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What somebody wants of songs, and for a moment what became of it.
package struct ShownWishes: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var songID: Song.ID
        package var kind: Wish.Kind
        package var state: WishState
        /// When it is no longer worth a mark; nil while it is open.
        var goes: MeshInstant?
    }

    /// The oldest first.
    package private(set) var entries: [Entry] = []

    /// The newest wish about a song.
    package func entry(_ songID: Song.ID) -> Entry? { entries.last { $0.songID == songID } }

    /// Takes what has become of a wish.
    package mutating func take(_ songID: Song.ID, _ kind: Wish.Kind, _ state: WishState, now: MeshInstant) {
        // A vote and its taking back are about the same thing: the newer one counts.
        entries.removeAll { $0.songID == songID && ($0.kind == .suggest) == (kind == .suggest) }
        let isOpen = state == .queued || state == .sent
        let goes = isOpen ? nil : now + NodeLimits.settledWish
        entries.append(Entry(songID: songID, kind: kind, state: state, goes: goes))
        // There are no more open ones; those that are settled need not all be seen.
        if entries.count > DJLimits.pendingVotes {
            entries.remove(at: entries.firstIndex { $0.goes != nil } ?? 0)
        }
    }

    /// Lets time pass; whether that has changed anything.
    package mutating func tick(now: MeshInstant) -> Bool {
        let before = entries.count
        entries.removeAll { $0.goes.map { $0 <= now } ?? false }
        return entries.count != before
    }
}
