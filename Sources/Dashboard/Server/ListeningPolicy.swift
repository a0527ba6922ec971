// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// Decides when a page that cannot listen tries again.
///
/// An address may appear when the network comes up, and a port may become free when another program ends. So a host
/// starts even if it cannot listen yet.
struct ListeningPolicy: Sendable {
    /// Why the page does not listen. Nil while it listens, and before the first attempt.
    private(set) var cause: String?
    /// The time of the next attempt.
    private(set) var retryAt: MeshInstant?
    private var failures = 0

    /// Whether another attempt would fail too, because the system lacks such addresses or does not allow the port.
    static func isLasting(_ code: Int32) -> Bool {
        [EACCES, EPERM, EAFNOSUPPORT, EPROTONOSUPPORT, EINVAL].contains(code)
    }

    /// An attempt failed with this system error text. Returns whether to report the cause.
    mutating func failed(_ cause: String, now: MeshInstant) -> Bool {
        failures += 1
        retryAt =
            now
            + .backoff(
                first: DashboardLimits.firstListenPause, longest: DashboardLimits.longestListenPause, turn: failures)
        defer { self.cause = cause }
        return cause != self.cause
    }

    /// An attempt succeeded.
    mutating func listens() { self = ListeningPolicy() }
}
