// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The result of one download. `last` is the URL that gave the last answer. Nil without an answer.
enum DownloadOutcome: Sendable {
    /// The picture is on the disk.
    case stored(ArtworkKind, bytes: Int, last: ArtworkURL)
    /// The picture could not be loaded.
    case failed(NetworkError, last: ArtworkURL?, retryAfter: Duration?)
    /// The download was cancelled, because no caller wanted the picture any more.
    case brokenOff
}

extension ArtworkLoader {
    /// Loads one picture within its time limit, including redirects.
    nonisolated func outcome(of url: ArtworkURL) async -> DownloadOutcome {
        await withTaskGroup(of: DownloadOutcome?.self) { group in
            group.addTask { await self.download(url) }
            group.addTask { [limits] in
                try? await Task.sleep(for: limits.requestTime)
                return nil
            }
            var outcome = await group.next() ?? nil
            let isLate = outcome == nil && !Task.isCancelled
            group.cancelAll()
            if outcome == nil { outcome = await group.next() ?? nil }
            if case .brokenOff = outcome, isLate {
                return .failed(.requestFailed(ArtworkProblem.late), last: url, retryAfter: nil)
            }
            return outcome ?? .brokenOff
        }
    }

    private nonisolated func download(_ url: ArtworkURL) async -> DownloadOutcome {
        var download = ArtworkDownload(url, limits: limits)
        do {
            while try await !isComplete(&download) {
                // The server of the redirect may have requested a pause.
                if let error = await obstacle(download.url) { return .failed(error, last: nil, retryAfter: nil) }
            }
            let picture = try download.ended()
            // The body of a cancelled request ends like a complete one.
            guard !Task.isCancelled else { return .brokenOff }
            try await store(picture.bytes, as: url.key)
            return .stored(picture.kind, bytes: picture.bytes.count, last: download.url)
        } catch {
            guard !Task.isCancelled else { return .brokenOff }
            return .failed(
                error as? NetworkError ?? .requestFailed(error), last: download.url, retryAfter: download.retryAfter)
        }
    }

    /// Sends one request. False if the answer is a redirect.
    private nonisolated func isComplete(_ download: inout ArtworkDownload) async throws -> Bool {
        let request = try ArtworkRequest(download, userAgent: userAgent, limits: limits)
        let threads = await threads
        let answer = try await withTaskCancellationHandler {
            try await threads.runIfActive { request.perform() }
        } onCancel: {
            request.cancel()
        }
        download = answer.download
        return try answer.result.get() == .read
    }

    private nonisolated func store(_ bytes: [UInt8], as key: String) async throws(NetworkError) {
        let failure = await Self.offActor { [folder] () -> ArtworkProblem? in
            do throws(ArtworkProblem) {
                try folder.store(bytes, as: key)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { throw .requestFailed(ArtworkProblem.closed) }
        if let failure { throw .requestFailed(failure) }
    }
}
