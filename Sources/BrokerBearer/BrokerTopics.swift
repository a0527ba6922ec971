// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// A node's address at a broker, or a channel: eight bytes as 16 hex digits (`docs/protocol.md`, "Broker").
struct BrokerID: Hashable, Sendable, Comparable {
    static let bytes = 8
    let text: String

    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 2 * Self.bytes, Hex.bytes(String(text))?.count == Self.bytes,
            text.lowercased() == String(text)
        else { return nil }
        self.text = String(text)
    }

    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.bytes else { return nil }
        text = Hex.text(Array(bytes))
    }

    /// The address of a peer.
    init?(of peer: Peer) { self.init(peer.id.prefix(2 * Self.bytes)) }

    /// Creates a channel's name from a random number.
    init(channel number: UInt64) { text = Hex.text((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }) }

    static func < (one: Self, other: Self) -> Bool { one.text < other.text }
}

/// The topics of one prefix.
struct BrokerTopics: Hashable, Sendable {
    let prefix: String

    /// The kinds of topics.
    enum Subject: Hashable, Sendable {
        /// The advertisement of a node for this service.
        case presence(ServiceUUID, BrokerID)
        /// A call to this node.
        case call(BrokerID)
        /// A value to this node in this channel.
        case value(BrokerID, channel: BrokerID)
    }

    func presence(_ service: ServiceUUID, _ address: BrokerID) -> String {
        "\(prefix)/here/\(Hex.text(service.bytes))/\(address.text)"
    }
    /// The topics of all nodes of a service.
    func presences(_ service: ServiceUUID) -> String { "\(prefix)/here/\(Hex.text(service.bytes))/+" }
    func call(_ address: BrokerID) -> String { "\(prefix)/to/\(address.text)/call" }
    func value(_ address: BrokerID, _ channel: BrokerID) -> String { "\(prefix)/to/\(address.text)/\(channel.text)" }
    /// All topics to a node.
    func inbox(_ address: BrokerID) -> String { "\(prefix)/to/\(address.text)/+" }

    /// Parses a topic. Nil for any other topic.
    func subject(of topic: String) -> Subject? {
        guard topic.hasPrefix(prefix + "/") else { return nil }
        let parts = topic.dropFirst(prefix.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let address = BrokerID(parts[parts[0] == "here" ? 2 : 1]) else { return nil }
        switch (parts[0], parts[2]) {
        case ("here", _):
            guard let service = Hex.bytes(String(parts[1])), service.count == 16 else { return nil }
            return .presence(ServiceUUID(bytes: service), address)
        case ("to", "call"): return .call(address)
        case ("to", let channel): return BrokerID(channel).map { .value(address, channel: $0) }
        default: return nil
        }
    }
}

/// The presence that a node publishes while it accepts links.
struct BrokerPresence: Hashable, Sendable {
    /// Identifies the node's connection to the broker.
    var run: [UInt8]
    var advertisement: Advertisement

    static let runBytes = 4
    /// The placeholder in the PSM field, because a broker has no PSM.
    static let psm: UInt8 = 0x80

    init(run: [UInt8], _ advertisement: Advertisement) { (self.run, self.advertisement) = (run, advertisement) }

    var payload: [UInt8] {
        let fields = advertisement.payload(psm: Self.psm)
        return run + [UInt8(fields.count)] + fields + Array(advertisement.localName.utf8)
    }

    /// Parses the presence of a node at this address. Nil for an invalid payload, and if the payload contains another
    /// address.
    init?(_ payload: [UInt8], service: ServiceUUID, address: BrokerID) {
        guard payload.count <= BrokerLimits.advertisementBytes, payload.count > Self.runBytes else { return nil }
        let length = Int(payload[Self.runBytes])
        let rest = payload.dropFirst(Self.runBytes + 1)
        guard rest.count >= length, rest.count - length <= Limits.advertisementBytes - 2,
            let text = String(validating: rest.dropFirst(length), as: UTF8.self),
            let advertisement = Advertisement(service: service, payload: Array(rest.prefix(length)), localName: text),
            !advertisement.idRest.isEmpty, advertisement.head.hasPrefix(address.text)
        else { return nil }
        self.init(run: Array(payload.prefix(Self.runBytes)), advertisement)
    }
}

/// The first message of a node that wants a link.
struct BrokerCall: Hashable, Sendable {
    var service: ServiceUUID
    var caller: BrokerID
    var channel: BrokerID

    static let version: UInt8 = 1
    static let bytes = 1 + 16 + 2 * BrokerID.bytes

    var payload: [UInt8] {
        [Self.version] + service.bytes + (Hex.bytes(caller.text + channel.text) ?? [])
    }

    init(_ service: ServiceUUID, by caller: BrokerID, channel: BrokerID) {
        (self.service, self.caller, self.channel) = (service, caller, channel)
    }

    init?(_ payload: [UInt8]) {
        guard payload.count == Self.bytes, payload[0] == Self.version,
            let caller = BrokerID(bytes: payload[17..<25]), let channel = BrokerID(bytes: payload[25...])
        else { return nil }
        self.init(ServiceUUID(bytes: Array(payload[1..<17])), by: caller, channel: channel)
    }
}

/// Values that control a channel and carry no data (`docs/protocol.md`, "Chunks").
enum BrokerValue {
    /// An acknowledgement of no chunk: the answer to a call.
    static let answer: [UInt8] = [0x7F]
    /// The end of the channel.
    static let end: [UInt8] = [0x00]

    static func isEnd(_ value: [UInt8]) -> Bool { value.count == 1 && value[0] & 0xC0 == 0 }
}
