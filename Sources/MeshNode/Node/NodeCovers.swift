// SPDX-License-Identifier: Apache-2.0

import CoverArt
import DemocracyDJ

/// Where a node has covers from, and where it puts them. Without any of it there are none.
public struct NodeCovers: Sendable {
    /// Loads a host's from the web.
    public var prefetcher: ArtworkPrefetcher?
    /// A host's own, by song: what the music's files have.
    public var own: (@Sendable (Song.ID) async -> [UInt8]?)?
    /// Makes a host's small enough for the air.
    public var scaler: CoverScaler?
    /// Keeps a guest's.
    public var shelf: CoverShelf?

    /// None, until they are set.
    public init() {}

    /// A song's cover for the air: the one in this file, or the music's own.
    func small(_ songID: Song.ID, file: String?) async -> SmallCover? {
        guard let scaler else { return nil }
        if let file, let cover = await scaler.small(file: file) { return cover }
        guard let picture = await own?(songID) else { return nil }
        return await scaler.small(picture)
    }
}
