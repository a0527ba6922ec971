// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// Decides when a page that cannot listen tries again. Reads no clock.
///
/// An address may come with the network, and a port may be free when another program has ended: that is no reason for a
/// host not to start.
struct ListeningPolicy: Sendable {
    /// Why it does not listen. Nil where it does, and before it has tried.
    private(set) var cause: String?
    /// When it tries again.
    private(set) var retryAt: MeshInstant?
    private var failures = 0

    /// Whether a fault stays however often it is tried: the system has no such addresses, or does not allow the port.
    static func isLasting(_ code: Int32) -> Bool {
        [EACCES, EPERM, EAFNOSUPPORT, EPROTONOSUPPORT, EINVAL].contains(code)
    }

    /// It cannot listen, in the system's words. True where that is to be told.
    mutating func failed(_ cause: String, now: MeshInstant) -> Bool {
        failures += 1
        retryAt =
            now
            + .backoff(
                first: DashboardLimits.firstListenPause, longest: DashboardLimits.longestListenPause, turn: failures)
        defer { self.cause = cause }
        return cause != self.cause
    }

    /// It listens.
    mutating func listens() { self = ListeningPolicy() }
}
