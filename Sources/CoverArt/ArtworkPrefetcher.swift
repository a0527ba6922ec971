// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Loads the covers of a host's next songs in advance, as `ArtworkFeed` decides.
public actor ArtworkPrefetcher {
    /// A result for the listener.
    public enum Output: Sendable {
        /// This song's picture is in this file.
        case artwork(Song.ID, path: String)
        /// Pictures cannot be loaded, for this reason. The failure should be shown to a person unless it is expected.
        case failed(NetworkError, isExpected: Bool)
        /// No picture fails for this cause any more.
        case recovered(NetworkError)
    }

    /// The results. A slow listener loses the oldest ones, but the pictures are still stored.
    public nonisolated let output: AsyncStream<Output>

    private let loader: ArtworkLoader
    private let sink: AsyncStream<Output>.Continuation
    private var feed = ArtworkFeed()
    private let origin = ContinuousClock.now
    private var loads: [String: Task<Void, Never>] = [:]
    private var alarm: (deadline: MeshInstant, task: Task<Void, Never>)?
    private var isClosed = false

    /// Creates a prefetcher with its own loader.
    public init(loader: ArtworkLoader) {
        self.loader = loader
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(ArtworkLimits.standard.waitingOutput))
    }

    /// Sets the songs that are shown, the current one first. A repeated call costs nothing.
    public func show(_ songs: [Song]) { handle(.songs(songs)) }

    /// Repeats failed downloads at once, and reports the results.
    public func retry() async {
        await loader.forgetFailures()
        handle(.retry)
    }

    /// Cancels all downloads, and ends the output.
    public func shutdown() async {
        isClosed = true
        wake(at: nil)
        await loader.shutdown()
        for load in loads.values { await load.value }
        sink.finish()
    }

    private func handle(_ event: ArtworkFeed.Event) {
        guard !isClosed else { return }
        for action in feed.handle(event, now: ContinuousClock.now - origin) {
            switch action {
            case .load(let url): loads[url] = Task { await load(url) }
            case .show(let song, let path): sink.yield(.artwork(song, path: path))
            case .fails(let error, let isExpected): sink.yield(.failed(error, isExpected: isExpected))
            case .recovered(let error): sink.yield(.recovered(error))
            }
        }
        wake(at: feed.deadline)
    }

    private func wake(at deadline: MeshInstant?) {
        guard deadline != alarm?.deadline else { return }
        alarm?.task.cancel()
        alarm = deadline.map { deadline in (deadline, Task { await tick(at: deadline) }) }
    }

    private func tick(at deadline: MeshInstant) async {
        try? await Task.sleep(until: origin + deadline, clock: .continuous)
        guard !Task.isCancelled else { return }
        alarm = nil
        handle(.tick)
    }

    private func load(_ url: String) async {
        do throws(NetworkError) {
            let file = try await loader.artwork(at: url)
            loads[url] = nil
            handle(.loaded(url: url, path: file.path))
        } catch {
            loads[url] = nil
            handle(.failed(url: url, error))
        }
    }
}
