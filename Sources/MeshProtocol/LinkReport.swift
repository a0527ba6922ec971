// SPDX-License-Identifier: Apache-2.0

/// A link's health and what has passed through it.
public struct LinkReport: Hashable, Sendable {
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int?
    /// The last answered ping's round trip.
    public var roundTrip: Duration?
    /// Bytes in SDUs sent on this link.
    public var sentBytes: Int
    /// Bytes in SDUs received on this link.
    public var receivedBytes: Int
    /// Messages to this peer that were sent again on a later link, since this node runs.
    public var resent: Int
    /// Messages of this peer that came again and were dropped, since this node runs.
    public var duplicates: Int
    /// Messages that the peer has not acknowledged, or that have not left.
    public var outbox: Int

    /// A report; what is not named is as on a link that has just opened.
    public init(
        rssi: Int? = nil, roundTrip: Duration? = nil, sentBytes: Int = 0, receivedBytes: Int = 0, resent: Int = 0,
        duplicates: Int = 0, outbox: Int = 0
    ) {
        self.rssi = rssi
        self.roundTrip = roundTrip
        self.sentBytes = sentBytes
        self.receivedBytes = receivedBytes
        self.resent = resent
        self.duplicates = duplicates
        self.outbox = outbox
    }
}
