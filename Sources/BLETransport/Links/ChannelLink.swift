// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers

/// The calls between a channel and its radio about the link, which the radio knows by the controller's handle.
struct ChannelLink: Sendable {
    /// SDUs of up to this many bytes do not count as use of the link.
    var idleBytesSent: Int
    var idleBytesReceived: Int
    /// Called with the handle when the link is used, at most once a second.
    var whenUsed: @Sendable (UInt16) -> Void
    /// The condition of the link with this handle. The kernel reports its PHY.
    var condition: @Sendable (UInt16, String?) async -> LinkCondition?
    /// Handles a note of the other end's radio about the link with this handle.
    var heed: @Sendable (UInt16, AirNote) async -> Void
    /// The link's signal strength in dBm. Nil if the controller does not report it.
    var signalStrength: @Sendable (UInt16) async -> Int?
}

/// Limits reports of use to one a second, while data may arrive a hundred times a second.
final class UseTeller: Sendable {
    private let told = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    /// Whether to report now.
    func isDue() -> Bool {
        let now = ContinuousClock.now
        return told.withLockedValue { last in
            guard last.map({ now - $0 >= RadioLimits.useReportInterval }) ?? true else { return false }
            last = now
            return true
        }
    }
}
