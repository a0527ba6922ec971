// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension PlayerPolicy {
    /// A place in a song, and when it was there.
    struct Place: Hashable, Sendable {
        var elapsed: MeshInstant
        var at: MeshInstant
    }

    /// A file that mpv was given.
    struct Entry: Hashable, Sendable {
        /// The number of the request that gave it.
        let serial: Int
        let song: Song.ID
        /// It comes after another one, and not in its stead.
        let wasAppended: Bool
        /// When it was given, or came to be played.
        var loadedAt: MeshInstant
        /// mpv's number for it, once it has taken it on.
        var id: Int?
        var isSounding = false
        /// Where it was when mpv was last asked.
        var place: Place?
        /// When its place last moved, or had reason not to.
        var movedAt: MeshInstant = .zero
        /// When mpv is asked where it is; nil where that is known and does not change.
        var askAt: MeshInstant?
        /// When the host was last told where it is.
        var reportedAt: MeshInstant?
        /// How it ended, where the host did not want it yet.
        var outcome: PlayerReport?

        init(serial: Int, song: Song.ID, wasAppended: Bool, loadedAt: MeshInstant) {
            self.serial = serial
            self.song = song
            self.wasAppended = wasAppended
            self.loadedAt = loadedAt
        }
    }
}
