// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides when a failed request may be tried again. The table is bounded: the oldest failure is forgotten first.
struct ArtworkFailures: Sendable {
    private struct Failure: Sendable {
        var error: NetworkError
        var count: Int
        var until: MeshInstant
        var at: MeshInstant
        /// The server, if its answer refuses all requests.
        var server: String?
    }

    private var failures: [String: Failure] = [:]
    private let limits: ArtworkLimits

    init(limits: ArtworkLimits) {
        self.limits = limits
    }

    /// Number of remembered failures.
    var count: Int { failures.count }

    /// The error that blocks a request, if any.
    func obstacle(_ url: ArtworkURL, now: MeshInstant) -> NetworkError? {
        for name in [url.text, url.origin] {
            if let failure = failures[name], now < failure.until { return failure.error }
        }
        return nil
    }

    /// A picture could not be loaded. `url` is its URL, and `last` is the URL that gave the answer, if any.
    mutating func failed(
        _ url: ArtworkURL, last: ArtworkURL?, error: NetworkError, retryAfter: Duration?, now: MeshInstant
    ) {
        // These answers apply to all pictures of the server.
        let server: String? =
            switch error {
            case .rateLimited, .serverMaintenance: last?.origin
            default: nil
            }
        for name in [url.text, server].compactMap(\.self) { note(name, error, retryAfter, server, now) }
    }

    /// A picture has arrived. Forgets the earlier refusals of its server.
    mutating func succeeded(_ url: ArtworkURL, last: ArtworkURL) {
        failures[url.text] = nil
        failures = failures.filter { $0.value.server != last.origin }
    }

    /// Forgets all failures, because a person presses Retry or the network is back.
    mutating func forget() { failures = [:] }

    private mutating func note(
        _ name: String, _ error: NetworkError, _ retryAfter: Duration?, _ server: String?, _ now: MeshInstant
    ) {
        let count = (failures[name]?.count ?? 0) + 1
        if failures[name] == nil, failures.count >= limits.rememberedFailures,
            let oldest = failures.min(by: { $0.value.at < $1.value.at })?.key
        {
            failures[oldest] = nil
        }
        let pause = max(retryAfter ?? .zero, pause(error, count: count))
        // Two answers may arrive at nearly the same time. The longer requested pause counts.
        let until = max(failures[name]?.until ?? .zero, now + pause)
        failures[name] = Failure(error: error, count: count, until: until, at: now, server: server)
    }

    private func pause(_ error: NetworkError, count: Int) -> Duration {
        switch error {
        case .requestFailed, .offline, .serverMaintenance, .rateLimited: doubled(count)
        case .httpError(let status) where status >= 500: doubled(count)
        default: limits.refusedPause
        }
    }

    private func doubled(_ count: Int) -> Duration {
        min(limits.firstPause * (1 << min(count - 1, 16)), limits.longestPause)
    }
}
