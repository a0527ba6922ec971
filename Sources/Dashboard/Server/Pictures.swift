// SPDX-License-Identifier: Apache-2.0

import CoverArt
import DemocracyDJ
import FoundationEssentials
import Hummingbird
import MeshNode
import NIOCore
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
    private let patience: Duration
    private var taken = 0
    private var asked = 0
    private var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []

    init(limit: Int, patience: Duration = DashboardLimits.pictureWait) {
        self.limit = limit
        self.patience = patience
    }

    /// Takes a place; waits where all are taken. Nil where too many wait already, none comes free in time, or the
    /// connection that it is for has `closed` meanwhile.
    func place(until closed: EventLoopFuture<Void>) async -> Place? {
        guard taken == limit else {
            taken += 1
            return Place(self)
        }
        guard waiting.count < DashboardLimits.waitingPictures else { return nil }
        asked += 1
        let number = asked
        closed.whenComplete { _ in Task { await self.giveUp(number) } }
        let alarm = Task {
            try? await Task.sleep(for: patience)
            giveUp(number)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { waiting.append((number, $0)) } ? Place(self) : nil
    }

    /// How many wait for a place.
    var waitingCount: Int { waiting.count }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    private func release() {
        if waiting.isEmpty { taken -= 1 } else { waiting.removeFirst().continuation.resume(returning: true) }
    }
}

/// Places for covers: guests and the driver take none of one another.
struct PicturePlaces: Sendable {
    private let driver = Pictures(limit: DashboardLimits.driverPicturesAtOnce)
    private let guests = Pictures(limit: DashboardLimits.picturesAtOnce - DashboardLimits.driverPicturesAtOnce)

    func of(_ viewer: ViewStreams.Viewer) -> Pictures { viewer == .node ? driver : guests }
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

    /// The picture in a file that the node has named; nil where it has gone meanwhile, or is too large.
    init?(path: String) async {
        let read = try? await NIOThreadPool.singleton.runIfActive { () -> [UInt8]? in
            // Mapped, so that one cover is in memory once, and a file of any size costs nothing.
            let file = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
            return file.count <= DashboardLimits.pictureBytes ? Array(file) : nil
        }
        guard let bytes = read.flatMap(\.self) else { return nil }
        self.init(bytes)
    }

    /// The bytes for a connection on this loop, piece by piece: it holds few of them when the last is given to it.
    func body(_ place: Pictures.Place, on loop: any EventLoop) -> ResponseBody {
        ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: 0, to: bytes.count, by: DashboardLimits.pictureChunkBytes) {
                let end = min(start + DashboardLimits.pictureChunkBytes, bytes.count)
                try await writer.write(ByteBuffer(bytes: bytes[start..<end]))
                // The writer learns from the loop that the phone does not read, and is faster than it.
                try await loop.submit {}.get()
            }
            try await writer.finish(nil)
            // It has its place in memory until the browser has it, or has gone.
            withExtendedLifetime(place) {}
        }
    }
}

extension Dashboard {
    /// A song's cover: the one that the node has loaded, or the one in the music's file.
    func picture(of songID: Song.ID) async -> Picture? {
        if let path = view.picture(songID), let picture = await Picture(path: path) { return picture }
        return await options.art?(songID).flatMap { Picture($0) }
    }
}
