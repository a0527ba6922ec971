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
    /// What the link layer was asked for, and what it does; nil on a radio that has none.
    public var condition: LinkCondition?
    /// What the link goes over; nil where its owner does not say.
    public var bearer: Bearer?
    /// Relays between the two.
    public var relays = 0
    /// The relay that the guest of the two hangs on, by its identifier or the head of it; nil where there is none.
    public var via: Peer.ID?
    /// Circuits on the link; nil where it is no link of a relay.
    public var circuits: Int?

    /// A report; what is not named is as on a link that has just opened.
    public init(
        rssi: Int? = nil, roundTrip: Duration? = nil, sentBytes: Int = 0, receivedBytes: Int = 0, resent: Int = 0,
        duplicates: Int = 0, outbox: Int = 0, condition: LinkCondition? = nil
    ) {
        self.rssi = rssi
        self.roundTrip = roundTrip
        self.sentBytes = sentBytes
        self.receivedBytes = receivedBytes
        self.resent = resent
        self.duplicates = duplicates
        self.outbox = outbox
        self.condition = condition
    }
}

/// What the two ends of a link can agree on. What is nil is not known, or was not asked for.
public struct LinkParameters: Hashable, Sendable, Codable {
    /// `1M`, `2M` or `coded`.
    public var phy: String?
    /// How often the two ends meet, in milliseconds.
    public var interval: Double?
    /// The silence after which the link is given up, in milliseconds.
    public var supervisionTimeout: Int?
    /// Payload of a packet that is sent, in bytes.
    public var dataLength: Int?

    /// Parameters.
    public init(
        phy: String? = nil, interval: Double? = nil, supervisionTimeout: Int? = nil, dataLength: Int? = nil
    ) {
        self.phy = phy
        self.interval = interval
        self.supervisionTimeout = supervisionTimeout
        self.dataLength = dataLength
    }
}

/// What an adapter uses where an advertisement or a dial names nothing else, and who has set it.
public struct AdapterTiming: Hashable, Sendable {
    /// A node has set it, and gives the adapter back what it had; else the system has.
    public var isSetByNode: Bool
    /// How often it advertises, in milliseconds: the least and the most.
    public var advertising: ClosedRange<Double>
    /// How often the two ends of a link that it dials meet, in milliseconds: the least and the most.
    public var connection: ClosedRange<Double>
    /// The silence after which such a link is given up, in milliseconds.
    public var supervisionTimeout: Int
    /// The least that a guest's dial of this node has taken since the radio runs, as guests say: nil before the first says it.
    public var foundWithin: DialTime?

    /// A timing.
    public init(
        isSetByNode: Bool, advertising: ClosedRange<Double>, connection: ClosedRange<Double>, supervisionTimeout: Int,
        foundWithin: DialTime? = nil
    ) {
        self.foundWithin = foundWithin
        self.isSetByNode = isSetByNode
        self.advertising = advertising
        self.connection = connection
        self.supervisionTimeout = supervisionTimeout
    }
}

/// What a link layer was asked for, and what it does.
public struct LinkCondition: Hashable, Sendable {
    /// What it does.
    public var got: LinkParameters
    /// What this side has asked for last.
    public var asked: LinkParameters
    /// What this process may not ask for, by the names of the parameters.
    public var notPermitted: [String]
    /// What the other side's radio should know.
    public var note: AirNote?

    /// A condition.
    public init(
        got: LinkParameters, asked: LinkParameters = LinkParameters(), notPermitted: [String] = [], note: AirNote? = nil
    ) {
        self.note = note
        self.got = got
        self.asked = asked
        self.notPermitted = notPermitted
    }
}
