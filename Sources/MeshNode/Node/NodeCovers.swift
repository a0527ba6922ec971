// SPDX-License-Identifier: Apache-2.0

import CoverArt
import DemocracyDJ

/// The sources and stores of a node's covers. If all are nil, the node has no covers.
public struct NodeCovers: Sendable {
    /// Loads a host's covers from the web.
    public var prefetcher: ArtworkPrefetcher?
    /// Reads a host's covers from its music files, by song.
    public var own: (@Sendable (Song.ID) async -> [UInt8]?)?
    /// Scales a host's covers down for sending.
    public var scaler: CoverScaler?
    /// Stores a guest's covers.
    public var shelf: CoverShelf?

    /// Creates an empty set.
    public init() {}

    /// Returns a song's cover for sending: from `file`, or else from the music file.
    func small(_ songID: Song.ID, file: String?) async -> SmallCover? {
        guard let scaler else { return nil }
        if let file, let cover = await scaler.small(file: file) { return cover }
        guard let picture = await own?(songID) else { return nil }
        return await scaler.small(picture)
    }
}
