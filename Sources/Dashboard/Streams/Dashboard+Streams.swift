// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOCore
import NodeCore

// Streams of open pages.

extension Dashboard {
    /// The next bytes of a stream, or its end.
    enum Frame: Sendable {
        case view(ByteBuffer)
        case ping
        case lastView(ByteBuffer)
        /// End the stream without another frame.
        case end
    }

    /// Opens a stream. If the viewer is a web guest, it also gets a link. Each signal means that a frame may be due.
    func openStream(
        _ viewer: ViewStreams.Viewer, from address: String
    ) async throws(Refusal) -> (id: ViewStreams.ID, signals: AsyncStream<Void>) {
        if case .webGuest(let guest) = viewer { try await link(guest) }
        guard let (id, ends) = streams.open(viewer, from: address, now: now) else { throw .tooManyPages }
        // Only the newest view is sent, so one pending signal is enough.
        let (signals, sink) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        sinks[id] = sink
        if case .webGuest(let guest) = viewer { webGuests.opened(guest) }
        if let ends { closed(ends, viewer) }
        sink.yield()
        return (id, signals)
    }

    /// The browser has closed the stream, or everything is sent.
    func closeStream(_ id: ViewStreams.ID) {
        guard let viewer = streams.viewer(id), streams.close(id) else { return }
        closed(id, viewer)
    }

    private func closed(_ id: ViewStreams.ID, _ viewer: ViewStreams.Viewer) {
        sinks.removeValue(forKey: id)?.finish()
        if case .webGuest(let guest) = viewer { webGuests.closed(guest, now: now) }
        if streams.all(of: viewer).isEmpty {
            encoded[viewer] = nil
            versions.forget(viewer)
        }
        if streams.count == 0 { whenNobodyLooks?() }
    }

    /// The next frame for a stream. Nil if none is due.
    func frame(_ id: ViewStreams.ID) throws -> Frame? {
        guard let viewer = streams.viewer(id), let viewpoint = viewpoint(viewer) else { return .end }
        let isLast = viewpoint.ended != nil || view.own.ended != nil
        switch streams.next(id, version: versions[viewer], isLast: isLast, now: now) {
        case .view: return .view(try encodedView(viewer, viewpoint))
        case .lastView: return .lastView(try encodedView(viewer, viewpoint))
        case .ping: return .ping
        case .wait: return nil
        }
    }

    /// The pause between two views of a stream. Each change is encoded separately for each viewer, so the pause grows
    /// with the number of viewers. The driver's pause stays the same.
    func viewPause(_ id: ViewStreams.ID) -> Duration {
        let pause = DashboardLimits.viewPause
        return streams.viewer(id) == .node ? pause : pause * max(1, encoded.count / DashboardLimits.viewersPerPause)
    }

    private func viewpoint(_ viewer: ViewStreams.Viewer) -> Viewpoint? {
        switch viewer {
        case .node: view.own
        case .webGuest(let id): webGuests.viewpoint(id)
        }
    }

    private func encodedView(_ viewer: ViewStreams.Viewer, _ viewpoint: Viewpoint) throws -> ByteBuffer {
        if let known = encoded[viewer], known.isFresh(versions[viewer], now: now) { return known.frame }
        let page = view.page(
            for: viewpoint, webGuests: webGuests.present, version: versions[viewer], now: now)
        let made = try EncodedView(page, after: encoded[viewer], now: now)
        encoded[viewer] = made
        return made.frame
    }
}
