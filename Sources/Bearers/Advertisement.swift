// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// The advertisement of a host or relay (`docs/protocol.md`, "Advertisement").
///
/// The advertisement itself contains what a node must know before it dials. The rest is in the scan response, after the
/// name.
public struct Advertisement: Hashable, Sendable {
    /// The service that the node offers.
    public var service: ServiceUUID
    /// Protocol version, 0 to 15.
    public var version: UInt8
    /// The advertised flags. They are hints; the sealed hello repeats them.
    public var flags = AdvertisedFlags()
    /// The first bytes of the identifier of the node that is dialled. A hint, not a proof.
    public var idPrefix: [UInt8]
    /// The next bytes of the identifier. Empty until the scan response is heard.
    public var idRest: [UInt8]
    /// The host to which a relay forwards circuits. Nil for a host, and until the scan response is heard.
    public var relayed: Relayed?
    /// The name in the scan response. A relay advertises its host's name. Untrusted text; empty until the scan response
    /// is heard.
    public var name: String

    /// The host behind a relay.
    public struct Relayed: Hashable, Sendable {
        /// Number of hops from the relay to the host, at least 1.
        public var hops: UInt8
        /// The first `Advertisement.idRestBytes` bytes of its identifier.
        public var idPrefix: [UInt8]
    }

    /// Hops to the host: 0 for the host itself.
    public var hops: UInt8 { relayed?.hops ?? 0 }

    /// Bytes of `idPrefix`.
    public static let idPrefixBytes = Identity.headBytes

    /// Bytes of `idRest`, and of a relayed host's head.
    public static let idRestBytes = 5

    /// The company identifier of the manufacturer data. This is the one reserved for tests, since RoadMesh has none
    /// assigned.
    package static let company: UInt16 = 0xFFFF

    /// Bytes of manufacturer data. With flags (3), the UUID (18) and the header (4) they fill the 31 bytes.
    public static let payloadBytes = 2 + idPrefixBytes

    /// The advertisement of a node with this identifier and name. An identifier in another form, as in a pairing,
    /// counts as a head.
    public init(service: ServiceUUID, peer: Peer) {
        let id = Hex.bytes(peer.id) ?? []
        self.service = service
        version = ProtocolVersion.major
        idPrefix = Self.head(of: id, bytes: Self.idPrefixBytes)
        let rest = Array(id.dropFirst(Self.idPrefixBytes).prefix(Self.idRestBytes))
        idRest = rest.count == Self.idRestBytes ? rest : []
        name = NodeName(untrusted: peer.name).advertised
    }

    /// The advertisement of a relay. It names the relay as the node to dial, and the host of its circuits, whose name
    /// people look for. `hops` is from the relay to the host, at least 1. `asksForPIN` comes from the host's
    /// advertisement.
    public init(
        service: ServiceUUID, relay: Peer, to host: Peer, hops: UInt8, hasRoom: Bool, asksForPIN: Bool = false
    ) {
        self.init(service: service, peer: relay)
        name = NodeName(untrusted: host.name).advertisedByRelay
        flags.critical = asksForPIN ? [.circuitsOnly, .proof] : [.circuitsOnly]
        flags.ignorable = hasRoom ? [.relays] : [.relays, .noRoom]
        relayed = Relayed(
            hops: max(hops, 1), idPrefix: Self.head(of: Hex.bytes(host.id) ?? [], bytes: Self.idRestBytes))
    }

    private static func head(of id: [UInt8], bytes: Int) -> [UInt8] {
        Array((id + [UInt8](repeating: 0, count: bytes)).prefix(bytes))
    }

    /// The peer as it is known before its hello.
    public var peer: Peer { Peer(id: Hex.text(idPrefix), name: NodeName(untrusted: name).text) }

    /// The part of the identifier that was heard.
    public var head: Peer.ID { Hex.text(idPrefix + idRest) }

    /// Whether this node can dial the advertised node.
    public var isUnderstood: Bool { version == ProtocolVersion.major && flags.areKnown }

    // MARK: The advertisement

    /// The manufacturer data: version (high half of a byte) and critical flags (low half), PSM, identifier.
    public func payload(psm: UInt8) -> [UInt8] {
        [version << 4 | flags.critical.rawValue & 0x0F, psm] + idPrefix
    }

    /// Reads manufacturer data and the name of a scan response. Nil if the data are not ours.
    public init?(service: ServiceUUID, payload: [UInt8], localName: String) {
        guard payload.count >= Self.payloadBytes else { return nil }
        self.service = service
        version = payload[0] >> 4
        flags.critical = AdvertisedFlags.Critical(rawValue: payload[0] & 0x0F)
        idPrefix = Array(payload[2..<Self.payloadBytes])
        (idRest, name) = ([], localName)
        guard let mark = localName.unicodeScalars.lastIndex(of: Self.tailMark) else { return }
        name = String(localName.unicodeScalars[..<mark])
        let coded = String(localName.unicodeScalars[localName.unicodeScalars.index(after: mark)...])
        if let tail = Self.decoded(coded) { read(tail) }
    }

    /// The PSM in manufacturer data: a dynamic LE PSM, 0x80 to 0xFF (Vol 3, Part A, 4.22).
    public static func psm(inPayload payload: [UInt8]) -> UInt8? {
        guard payload.count >= payloadBytes, payload[1] >= 0x80 else { return nil }
        return payload[1]
    }

    // MARK: The scan response

    /// Separates the name from the data after it. No name contains a control character.
    private static let tailMark: Unicode.Scalar = "\u{1F}"

    /// The name in the scan response: the node's name, cut between characters to the free space, and further data of
    /// the node.
    public var localName: String {
        guard !tail.isEmpty else { return name }
        let coded = Self.coded(tail)
        return NodeName.head(of: name, bytes: Limits.advertisementBytes - 2 - 1 - coded.utf8.count)
            + String(Self.tailMark) + coded
    }

    /// The data after the name, before they are encoded. Empty if the identifier is unknown.
    package var tail: [UInt8] {
        guard !idRest.isEmpty else { return [] }
        let tail = [flags.ignorable.rawValue] + idRest
        return tail + (relayed.map { [$0.hops] + $0.idPrefix } ?? [])
    }

    private mutating func read(_ tail: [UInt8]) {
        guard tail.count >= 1 + Self.idRestBytes else { return }
        flags.ignorable = AdvertisedFlags.Ignorable(rawValue: tail[0])
        idRest = Array(tail[1...Self.idRestBytes])
        let relay = tail.dropFirst(1 + Self.idRestBytes)
        // A relay cannot be its own host.
        guard let hops = relay.first, hops > 0, relay.count > Self.idRestBytes else { return }
        relayed = Relayed(hops: hops, idPrefix: Array(relay.dropFirst().prefix(Self.idRestBytes)))
    }

    /// Base64 with the URL-safe alphabet (RFC 4648, 5). Six bytes give eight characters, without padding.
    private static func coded(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    }

    private static func decoded(_ text: String) -> [UInt8]? {
        Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/")).map(Array.init)
    }
}
