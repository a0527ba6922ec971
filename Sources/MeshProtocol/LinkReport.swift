// SPDX-License-Identifier: Apache-2.0

/// The condition of a link and its traffic.
public struct LinkReport: Hashable, Sendable {
    /// Signal strength in dBm. Nil if the radio does not report it.
    public var rssi: Int?
    /// Round trip of the last answered ping.
    public var roundTrip: Duration?
    /// Bytes in SDUs sent on this link.
    public var sentBytes: Int
    /// Bytes in SDUs received on this link.
    public var receivedBytes: Int
    /// Messages to this peer that were sent again on a later link, since this node started.
    public var resent: Int
    /// Messages of this peer that arrived again and were dropped, since this node started.
    public var duplicates: Int
    /// Messages that are unsent or unacknowledged.
    public var outbox: Int
    /// The link parameters that were requested, and those in use. Nil on a bearer without a link layer.
    public var condition: LinkCondition?
    /// The bearer of the link. Nil if its owner does not report it.
    public var bearer: BearerKind?
    /// Number of relays between the two nodes.
    public var relays = 0
    /// The relay next to the guest (this node or the peer), by its identifier or the head of it. Nil without a relay.
    public var via: Peer.ID?
    /// Number of circuits on the link. Nil if it is not a link of a relay.
    public var circuits: Int?

    /// A report. The defaults are those of a link that has just opened.
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

/// Parameters that the two ends of a link can agree on. Nil means unknown, or not requested.
public struct LinkParameters: Hashable, Sendable, Codable {
    /// `1M`, `2M` or `coded`.
    public var phy: String?
    /// The connection interval, in milliseconds.
    public var interval: Double?
    /// The silence after which the link is lost, in milliseconds.
    public var supervisionTimeout: Int?
    /// Payload of a sent packet, in bytes.
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

/// The adapter's default parameters, and whether a node has set them.
public struct AdapterTiming: Hashable, Sendable {
    /// Whether a node has set them. The node restores the former values at its end. Otherwise the system has set them.
    public var isSetByNode: Bool
    /// The advertising interval in milliseconds, minimum and maximum.
    public var advertising: ClosedRange<Double>
    /// The connection interval of dialled links in milliseconds, minimum and maximum.
    public var connection: ClosedRange<Double>
    /// The silence after which a dialled link is lost, in milliseconds.
    public var supervisionTimeout: Int
    /// The shortest dial time that guests have reported for this node since the radio started. Nil before the first
    /// report.
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

/// The link parameters that were requested, and those in use.
public struct LinkCondition: Hashable, Sendable {
    /// The current parameters.
    public var got: LinkParameters
    /// The last requested parameters.
    public var asked: LinkParameters
    /// The names of the parameters that this process may not request.
    public var notPermitted: [String]
    /// A note for the other side's radio.
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
