// SPDX-License-Identifier: Apache-2.0

import CoverArt
import DemocracyDJ
import FoundationEssentials
import MeshNode
import NIOPosix

/// The covers that are in memory at a time.
actor Pictures {
    /// A place for a cover in memory. It is given back with the last use of it, however an answer ends.
    final class Place: Sendable {
        private let pictures: Pictures

        fileprivate init(_ pictures: Pictures) {
            self.pictures = pictures
        }

        deinit {
            Task { [pictures] in await pictures.release() }
        }
    }

    private let limit: Int
    private var taken = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(limit: Int = DashboardLimits.picturesAtOnce) {
        self.limit = limit
    }

    /// Takes a place; waits where all are taken.
    func place() async -> Place {
        if taken < limit { taken += 1 } else { await withCheckedContinuation { waiting.append($0) } }
        return Place(self)
    }

    private func release() {
        if waiting.isEmpty { taken -= 1 } else { waiting.removeFirst().resume() }
    }
}

/// A cover.
struct Picture: Sendable {
    let mediaType: String
    let bytes: [UInt8]

    /// What these bytes are, if a picture that browsers show and not too large a one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= DashboardLimits.pictureBytes, let kind = ArtworkKind(head: bytes) else { return nil }
        mediaType = kind.mediaType
        self.bytes = bytes
    }

    /// The picture in a file that the node has named; nil where it has gone meanwhile.
    init?(path: String) async {
        let read = try? await NIOThreadPool.singleton.runIfActive { FileManager.default.contents(atPath: path) }
        guard let bytes = read.flatMap(\.self) else { return nil }
        self.init(Array(bytes))
    }
}

extension Dashboard {
    /// A song's cover: the one that the node has loaded, or the one in the music's file.
    func picture(of songID: Song.ID) async -> Picture? {
        if let path = view.picture(songID), let picture = await Picture(path: path) { return picture }
        return await options.art?(songID).flatMap { Picture($0) }
    }
}
