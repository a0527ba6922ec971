// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The interface that `BearerTransport` uses: it advertises, scans, dials, accepts, and reports its condition.
///
/// All radios behave the same. `Tests/BLETransportTests/Conformance` specifies this, and runs against each radio. No
/// call blocks a thread. A call that takes time suspends, and ends early when its task is cancelled.
public protocol Bearer: Sendable {
    /// The radio's kind and adapter, for people and logs: `bluez hci0`.
    var name: String { get }

    /// The events on the air, for one listener. The stream ends with `close`.
    var events: AsyncStream<BearerEvent> { get }

    /// Whether the radio can dial while other devices are linked to it. Nil if only a trial can show this. If the radio
    /// cannot, a dial waits until the last of those links has ended.
    var dialsWhileDialled: Bool? { get async }

    /// The flags in every advertisement of this radio.
    var advertisedFlags: AdvertisedFlags { get }

    /// Finds and opens the adapter. Call it once, before anything else.
    func open() async throws(BearerError)

    /// Advertises, and accepts channels from all peers. A further call replaces the advertisement.
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError)

    /// Stops advertising, and stops accepting channels. Open channels stay.
    func stopAdvertising() async

    /// Scans for advertisements of a service.
    func scan(for service: ServiceUUID) async throws(BearerError)

    /// Stops scanning.
    func stopScanning() async

    /// Opens a channel to an endpoint that was heard. The dial stays pending while the endpoint is out of range, until
    /// the radio gives up (`dialFailed`) or the task is cancelled. The caller may then dial again.
    func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel

    /// Releases the adapter. Channels close, and `events` ends.
    func close() async
}

extension Bearer {
    /// By default a radio demands nothing.
    public var advertisedFlags: AdvertisedFlags { AdvertisedFlags() }
}

/// A channel between two radios. It delivers SDUs in order and complete, with backpressure.
public protocol BearerChannel: AnyObject, Sendable {
    /// The other end, as the radio knows it. It distinguishes channels, but does not identify the peer.
    var endpoint: BearerEndpoint { get }

    /// Largest SDU that the other side accepts, in bytes.
    var sendMTU: Int { get }

    /// Frames per second that may be read from a link over this channel. Further frames wait.
    var framesPerSecond: Int { get }

    /// Why the peer must not be admitted, if the radio knows a reason.
    var refusal: RefusalReason? { get }

    /// Sends one SDU in one piece. Suspends while the other side accepts no more.
    func send(_ sdu: [UInt8]) async throws(BearerError)

    /// Sends one SDU in one piece if this needs no waiting. Returns whether it was sent.
    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool

    /// The next SDU, or nil after the other side has closed.
    func receive() async throws(BearerError) -> [UInt8]?

    /// Signal strength in dBm. Nil if the radio does not report it.
    func signalStrength() async -> Int?

    /// The link parameters that were requested, and those in use. Nil without a link layer.
    func linkCondition() async -> LinkCondition?

    /// Passes on what the radio at the other end reports about the link.
    func heed(_ note: AirNote) async

    /// Closes the channel, and ends all waits on it. You can call it again.
    func close()
}

extension BearerChannel {
    /// By default every send may have to wait.
    public func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool { false }
    /// By default `Limits.framesPerSecond`.
    public var framesPerSecond: Int { Limits.framesPerSecond }
    /// By default a radio knows no reason.
    public var refusal: RefusalReason? { nil }
    /// By default a channel has no link layer to advise.
    public func heed(_ note: AirNote) async {}
    /// By default a channel has no link layer to report.
    public func linkCondition() async -> LinkCondition? { nil }
}

/// The address to dial. Only the radio that made it can interpret its parts.
public struct BearerEndpoint: Hashable, Sendable {
    /// The device's address, in the radio's own form.
    public let address: String
    /// The kind of address, in the radio's own numbers.
    public let addressKind: UInt8
    /// The PSM on which the device listens. 0 for the far end of an accepted channel.
    public let psm: UInt8
    /// Whether the device accepts bonded devices only.
    public let requiresBond: Bool
    /// Whether a channel to the device is a stream of bytes, as phones open it.
    public let isStream: Bool
    /// The kind of the radio that made this endpoint.
    public let bearer: BearerKind

    /// An endpoint.
    public init(
        address: String, addressKind: UInt8 = 0, psm: UInt8 = 0, requiresBond: Bool = false, isStream: Bool = false,
        bearer: BearerKind = .l2cap
    ) {
        self.address = address
        self.addressKind = addressKind
        self.psm = psm
        self.requiresBond = requiresBond
        self.isStream = isStream
        self.bearer = bearer
    }
}

/// An event of a radio.
public enum BearerEvent: Sendable {
    /// An advertiser of the service is heard for the first time, advertises something new, or is repeated about once a
    /// second.
    case heard(ScanResult)
    /// An advertiser that this node is linked to is heard on a better bearer than the link's.
    case better(ScanResult)
    /// An advertiser is not heard any more.
    case lost(BearerEndpoint)
    /// A link to a device is up, without a channel yet, so the device is in range. `address` is the radio's own form.
    /// Only radios that get this information report it.
    case reached(address: String)
    /// A peer has dialled this node.
    case accepted(any BearerChannel)
    /// The radio has failed: nothing works until `recovered`. The event repeats when the cause changes.
    case failed(BearerError)
    /// The radio works again, and has resumed advertising and scanning.
    case recovered
    /// The radio has repaired a fault automatically.
    case repaired(RadioRepair)
    /// The adapter's default timing, when it is first known and whenever it changes.
    case timing(AdapterTiming)
    /// The state of the connection to a broker, and its traffic.
    case broker(BrokerCondition)
}

/// The condition of a broker.
public enum BrokerCondition: Hashable, Sendable {
    /// The broker has accepted this node, for the first time or again.
    case connected
    /// The broker has not answered for some time, for this cause.
    case unreachable(String)
    /// The broker answers, but does not accept this node.
    case refused(String)
    /// The broker's certificate does not prove its identity.
    case untrusted(String)
    /// The broker's certificate is not valid at the time of this device's clock, which may be wrong. Carries that time.
    case clockWrong(String)
    /// The broker accepts this node and its subscriptions, but the node's messages do not come back. Carries the topic.
    case silent(String)
    /// Bytes sent to the server and received from it over the network, with all headers, since the last full hour.
    /// `isHour` ends the hour.
    case carried(sent: UInt64, received: UInt64, isHour: Bool)
}

/// An advertiser that was heard.
public struct ScanResult: Hashable, Sendable {
    /// The endpoint to dial.
    public var endpoint: BearerEndpoint
    /// The advertisement of the node.
    public var advertisement: Advertisement
    /// Signal strength in dBm. Nil if the radio does not report it.
    public var rssi: Int?

    /// A scan result.
    public init(endpoint: BearerEndpoint, advertisement: Advertisement, rssi: Int?) {
        self.endpoint = endpoint
        self.advertisement = advertisement
        self.rssi = rssi
    }
}

/// How often a host advertises.
public enum AdvertisingPace: Hashable, Sendable {
    /// A guest may be looking for the host.
    case fast
    /// No guest is expected.
    case slow

    /// The advertising interval, in milliseconds.
    public var milliseconds: ClosedRange<Int> {
        switch self {
        case .fast: BearerLimits.fastAdvertisingMilliseconds
        case .slow: BearerLimits.slowAdvertisingMilliseconds
        }
    }
}

/// An automatic repair of a radio that a person should know of.
public enum RadioRepair: Hashable, Sendable {
    /// The radio has switched to another adapter because the old one is gone or dead. Carries their names.
    case otherAdapter(old: String, new: String)
    /// The radio was missing at the start and works now: its name.
    case adapterAppeared(String)
    /// The adapter had stopped advertising silently.
    case advertising
}
