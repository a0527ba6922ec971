// SPDX-License-Identifier: Apache-2.0

import CoverArt
import DemocracyDJ
import FoundationEssentials
import Hummingbird
import NIOCore
import NIOPosix

/// Limits how many covers are in memory at the same time.
actor Pictures {
    /// A slot for a cover in memory. The last reference releases it, however an answer ends.
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

    /// Reserves a slot, and waits if all slots are in use. Nil if too many requests wait already, if no slot becomes
    /// free in time, or if the request's connection closes first.
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

    /// The number of requests that wait for a slot.
    var waitingCount: Int { waiting.count }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    private func release() {
        if waiting.isEmpty { taken -= 1 } else { waiting.removeFirst().continuation.resume(returning: true) }
    }
}

/// Slots for covers. Guests and the driver have separate ones.
struct PicturePlaces: Sendable {
    private let driver = Pictures(limit: DashboardLimits.driverPicturesAtOnce)
    private let guests = Pictures(limit: DashboardLimits.picturesAtOnce - DashboardLimits.driverPicturesAtOnce)

    func of(_ viewer: ViewStreams.Viewer) -> Pictures { viewer == .node ? driver : guests }
}

/// A cover as it is sent.
struct Picture: Sendable {
    let mediaType: String
    let bytes: [UInt8]

    /// Creates a picture. Nil if there are too many bytes, or if browsers cannot show them.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= DashboardLimits.pictureBytes, let kind = ArtworkKind(head: bytes) else { return nil }
        mediaType = kind.mediaType
        self.bytes = bytes
    }

    /// Reads a cover from a file that the node has named. Nil if the file is gone or too large.
    init?(path: String) async {
        let read = try? await NIOThreadPool.singleton.runIfActive { () -> [UInt8]? in
            // The file is mapped, so that a cover is in memory only once, and a file that is too large is not read.
            let file = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
            return file.count <= DashboardLimits.pictureBytes ? Array(file) : nil
        }
        guard let bytes = read.flatMap(\.self) else { return nil }
        self.init(bytes)
    }

    /// The bytes for a connection on this loop, in chunks, so that the connection's buffer is nearly empty after the
    /// last write.
    func body(_ place: Pictures.Place, on loop: any EventLoop) -> ResponseBody {
        ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: 0, to: bytes.count, by: DashboardLimits.pictureChunkBytes) {
                let end = min(start + DashboardLimits.pictureChunkBytes, bytes.count)
                try await writer.write(ByteBuffer(bytes: bytes[start..<end]))
                // Wait for the event loop, because only there the writer learns that the phone does not read.
                try await loop.submit {}.get()
            }
            try await writer.finish(nil)
            // Hold the slot until the browser has the cover or has gone.
            withExtendedLifetime(place) {}
        }
    }
}

extension Dashboard {
    /// A song's cover: the cover that the node has loaded, or else the cover in the music file.
    func picture(of songID: Song.ID) async -> Picture? {
        if let path = view.picture(songID), let picture = await Picture(path: path) { return picture }
        return await options.art?(songID).flatMap { Picture($0) }
    }
}
