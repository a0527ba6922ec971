// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers

/// What a channel and the radio have to say to one another about the link below, which the radio knows by the controller's handle.
struct ChannelLink: Sendable {
    /// SDUs of no more bytes are no use of it.
    var idleBytesSent: Int
    var idleBytesReceived: Int
    /// Called with the handle when it is used, at most once a second.
    var whenUsed: @Sendable (UInt16) -> Void
    /// What is known of the link of a handle, whose PHY the kernel has told.
    var condition: @Sendable (UInt16, String?) async -> LinkCondition?
    /// What the radio at the other end says of the link of a handle.
    var heed: @Sendable (UInt16, AirNote) async -> Void
    /// Its signal strength in dBm, nil where the controller does not tell.
    var signalStrength: @Sendable (UInt16) async -> Int?
}

/// Data comes by the hundred a second; that it does is said once.
final class UseTeller: Sendable {
    private let told = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    /// Whether it is to be said now.
    func isDue() -> Bool {
        let now = ContinuousClock.now
        return told.withLockedValue { last in
            guard last.map({ now - $0 >= RadioLimits.useReportInterval }) ?? true else { return false }
            last = now
            return true
        }
    }
}
