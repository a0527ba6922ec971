// SPDX-License-Identifier: Apache-2.0

import Crypto
import DemocracyDJ
import Logging
import MeshProtocol

/// Keeps the covers that a guest got over the air in files, for as long as it runs.
public actor CoverShelf {
    private let folder: ArtworkFolder
    private let logger: Logger
    /// The names of the files, the newest last. Nil before the first: what an earlier run has left is removed then.
    private var names: [String]?

    /// One that has a folder to itself, which need not be there yet.
    public init(folder: String, logger: Logger = Logger(label: "roadmesh.covers")) {
        self.folder = ArtworkFolder(folder)
        self.logger = logger
    }

    /// Keeps a song's cover. Where it is then; nil where it is no JPEG, or the disk takes nothing.
    public func keep(_ picture: [UInt8], of songID: Song.ID) async -> String? {
        guard ArtworkKind(head: picture) == .jpeg else { return nil }
        let key = Hex.text(SHA256.hash(data: Array(songID.utf8) + picture))
        let old = names ?? []
        let isFirst = names == nil
        let kept = Array((old.filter { $0 != key } + [key]).suffix(DJLimits.keptCovers))
        names = kept
        let (folder, logger) = (folder, logger)
        let path = await ArtworkLoader.offActor { () -> String? in
            let stale = isFirst ? Array(folder.entries().keys) : old.filter { !kept.contains($0) }
            for name in stale { folder.remove(name) }
            do throws(ArtworkProblem) {
                try folder.store(picture, as: key)
                return folder.file(key)
            } catch {
                logger.warning("a cover is not kept: \(error)")
                return nil
            }
        }
        return path.flatMap(\.self)
    }
}
