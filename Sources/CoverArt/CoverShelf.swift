// SPDX-License-Identifier: Apache-2.0

import Crypto
import DemocracyDJ
import Logging
import MeshProtocol

/// Stores covers that a guest received over the air, in files that last as long as the run.
public actor CoverShelf {
    private let folder: ArtworkFolder
    private let logger: Logger
    /// The names of the files, the newest last. Nil before the first call, which removes the files of an earlier run.
    private var names: [String]?

    /// A shelf with its own folder, which need not exist yet.
    public init(folder: String, logger: Logger = Logger(label: "roadmesh.covers")) {
        self.folder = ArtworkFolder(folder)
        self.logger = logger
    }

    /// Stores a song's cover and returns the file's path. Nil if the picture is not a JPEG, or if the disk refuses it.
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
                logger.warning("a cover is not saved: \(error)")
                return nil
            }
        }
        return path.flatMap(\.self)
    }
}
