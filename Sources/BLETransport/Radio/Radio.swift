// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What `BLETransport` drives: it advertises, scans, dials and accepts, and tells how it is.
///
/// Every radio behaves the same; `Tests/BLETransportTests/Conformance` says how, and runs against each.
/// Nothing here blocks a thread: what takes time suspends, and ends early when its task is cancelled.
public protocol Radio: Sendable {
    /// The radio's kind and adapter, for people and logs: `bluez hci0`.
    var name: String { get }

    /// What happens on the air, for one listener. It ends with `close`.
    var events: AsyncStream<RadioEvent> { get }

    /// Whether it dials while others are linked to it; nil where only a trial can tell. Where it does not, a dial waits until
    /// the last of them has gone.
    var dialsWhileDialled: Bool? { get async }

    /// The flags that every advertisement of this radio has.
    var advertisedFlags: AdvertisedFlags { get }

    /// Finds and takes the adapter. Before anything else, once.
    func open() async throws(RadioError)

    /// Advertises, and accepts channels from any caller. Called again, it replaces what is advertised.
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError)

    /// Stops advertising and accepting. Channels stay.
    func stopAdvertising() async

    /// Listens for advertisements of a service.
    func scan(for service: ServiceUUID) async throws(RadioError)

    /// Stops listening.
    func stopScanning() async

    /// Opens a channel to an endpoint that was heard. It stays pending while the endpoint is out of reach, until the
    /// radio gives up its attempt (`dialFailed`) or the task is cancelled; the caller dials again where it wants to.
    func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel

    /// Gives everything back. Channels close, `events` ends.
    func close() async
}

extension Radio {
    /// Most radios ask for nothing.
    public var advertisedFlags: AdvertisedFlags { AdvertisedFlags() }
}

/// A channel between two radios: SDUs in order, whole, with backpressure.
public protocol RadioChannel: AnyObject, Sendable {
    /// The other end, as the radio knows it; good for telling channels apart, no identity.
    var endpoint: RadioEndpoint { get }

    /// Largest SDU that the other side takes, in bytes.
    var sendMTU: Int { get }

    /// Why the caller is not to be let in, where the radio knows a reason.
    var refusal: RefusalReason? { get }

    /// Sends one SDU whole. Suspends while the other side takes no more.
    func send(_ sdu: [UInt8]) async throws(RadioError)

    /// Sends one SDU whole where that takes no waiting. Whether it was sent.
    func sendAtOnce(_ sdu: [UInt8]) throws(RadioError) -> Bool

    /// The next SDU, or nil when the other side has closed.
    func receive() async throws(RadioError) -> [UInt8]?

    /// Signal strength in dBm, nil where the radio cannot tell.
    func signalStrength() async -> Int?

    /// What the link layer was asked for, and what it does. Nil where there is none.
    func linkCondition() async -> LinkCondition?

    /// The radio at the other end says this of the link below.
    func heed(_ note: AirNote) async

    /// Closes the channel; whatever waits on it ends. Safe to call again.
    func close()
}

extension RadioChannel {
    /// A channel that may always have to wait.
    public func sendAtOnce(_ sdu: [UInt8]) throws(RadioError) -> Bool { false }
    /// Most radios know none.
    public var refusal: RefusalReason? { nil }
    /// A channel without a link layer that anybody could advise.
    public func heed(_ note: AirNote) async {}
    /// A channel without a link layer that anybody could tell of.
    public func linkCondition() async -> LinkCondition? { nil }
}

/// Where a radio can dial to. Its parts mean something to the radio that made it, and to nobody else.
public struct RadioEndpoint: Hashable, Sendable {
    /// The device's address, in the radio's own form.
    public let address: String
    /// The address's kind, in the radio's own numbers.
    public let addressKind: UInt8
    /// The protocol/service multiplexer it listens on; 0 for the far end of an accepted channel.
    public let psm: UInt8
    /// Whether it says that it takes bonded devices only.
    public let requiresBond: Bool
    /// Whether its channel is a stream of bytes, as phones open them.
    public let isStream: Bool
    /// Which radio it is for, where a node has several.
    public let bearer: Bearer

    /// An endpoint.
    public init(
        address: String, addressKind: UInt8 = 0, psm: UInt8 = 0, requiresBond: Bool = false, isStream: Bool = false,
        bearer: Bearer = .l2cap
    ) {
        self.address = address
        self.addressKind = addressKind
        self.psm = psm
        self.requiresBond = requiresBond
        self.isStream = isStream
        self.bearer = bearer
    }
}

/// What happens on a radio.
public enum RadioEvent: Sendable {
    /// An advertiser of the service is heard for the first time, or says something new, or about once a second.
    case heard(ScanResult)
    /// An advertiser that this node is linked to is heard on a bearer that is better than the link's.
    case better(ScanResult)
    /// An advertiser is not heard any more.
    case lost(RadioEndpoint)
    /// A link to a device is there, without a channel on it yet: it is in range. `address` is the radio's own. Only a
    /// radio that is told so says it.
    case reached(address: String)
    /// Somebody has dialled us.
    case accepted(any RadioChannel)
    /// The radio has failed: nothing works until `recovered`. It comes again where the cause becomes another.
    case failed(RadioError)
    /// The radio is back; what was advertised and scanned for is again.
    case recovered
    /// The radio has repaired something by itself.
    case repaired(RadioRepair)
    /// What the adapter uses where nothing else is named, when it is known first and whenever it changes.
    case timing(AdapterTiming)
    /// How the connection to a broker beside the radio is, and what it costs.
    case broker(BrokerCondition)
}

/// How a broker is, where a node uses one.
public enum BrokerCondition: Hashable, Sendable {
    /// It takes this node in (again).
    case connected
    /// It has not answered for a while, for this cause.
    case unreachable(String)
    /// It answers, and does not take this node in.
    case refused(String)
    /// It is not who it should be, as far as certificates tell.
    case untrusted(String)
    /// Its certificate is not valid at the time of this device's clock, which may be wrong; that time.
    case clockWrong(String)
    /// It takes this node in and accepts its subscriptions, and messages do not come back; the topic.
    case silent(String)
    /// Bytes that have gone over the network to it and from it, with all headers, since the last hour ended; `isHour` when this hour does.
    case carried(sent: UInt64, received: UInt64, isHour: Bool)
}

/// An advertiser, as it was heard.
public struct ScanResult: Hashable, Sendable {
    /// Where to dial.
    public var endpoint: RadioEndpoint
    /// What it advertises.
    public var advertisement: Advertisement
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int?

    /// A scan result.
    public init(endpoint: RadioEndpoint, advertisement: Advertisement, rssi: Int?) {
        self.endpoint = endpoint
        self.advertisement = advertisement
        self.rssi = rssi
    }
}

/// How often a host says that it is there.
public enum AdvertisingPace: Hashable, Sendable {
    /// A guest is looked for.
    case fast
    /// Nobody is expected.
    case slow

    /// The advertising interval, in milliseconds.
    public var milliseconds: ClosedRange<Int> {
        switch self {
        case .fast: RadioLimits.fastAdvertisingMilliseconds
        case .slow: RadioLimits.slowAdvertisingMilliseconds
        }
    }
}

/// What a radio has repaired by itself, and a person should know.
public enum RadioRepair: Hashable, Sendable {
    /// Another adapter was taken, since the one in use is gone or dead: their names.
    case otherAdapter(old: String, new: String)
    /// The radio was missing at the start and works now: its name.
    case adapterAppeared(String)
    /// The adapter had stopped advertising silently.
    case advertising
}
