// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a host says of itself over the air (`docs/protocol.md`, "Advertisement").
public struct Advertisement: Hashable, Sendable {
    /// The service it speaks.
    public var service: ServiceUUID
    /// Protocol version, 0 to 15.
    public var version: UInt8
    /// Hops to the host: 0 for the host itself.
    public var hops: UInt8
    /// The host takes boxes only that it is bonded with. A hint to guests; the kernel and the host see to it.
    public var requiresBond = false
    /// The first three bytes of the node's identifier: a hint, no proof.
    public var idPrefix: [UInt8]
    /// The name in the scan response. Untrusted text; empty until the scan response was heard.
    public var name: String

    /// Bytes of `idPrefix`.
    public static let idPrefixBytes = Identity.headDigits / 2

    /// The company identifier of the manufacturer data: the one set aside for tests, since RoadMesh has none assigned.
    static let company: UInt16 = 0xFFFF

    /// Bytes of manufacturer data. With flags (3), the UUID (18) and the header (4) they fill the 31 bytes.
    static let payloadBytes = 6

    /// What the node of this identifier and name advertises.
    public init(service: ServiceUUID, peer: Peer, hops: UInt8 = 0) {
        let prefix = Hex.bytes(peer.id.prefix(2 * Self.idPrefixBytes)) ?? []
        self.service = service
        self.version = ProtocolVersion.major
        self.hops = hops
        self.idPrefix = prefix.count == Self.idPrefixBytes ? prefix : [0, 0, 0]
        self.name = NodeName(untrusted: peer.name).advertised
    }

    /// The peer as it can be known before it introduces itself.
    public var peer: Peer { Peer(id: Hex.text(idPrefix), name: NodeName(untrusted: name).text) }

    /// The flag of a host that takes bonded boxes only.
    private static let bondFlag: UInt8 = 1

    /// The manufacturer data: version (high half of a byte) and flags (low half), PSM, hops, identifier.
    func payload(psm: UInt8) -> [UInt8] {
        [version << 4 | (requiresBond ? Self.bondFlag : 0), psm, hops] + idPrefix
    }

    /// Reads manufacturer data. Nil where it is not ours.
    init?(service: ServiceUUID, payload: [UInt8], name: String) {
        guard payload.count >= Self.payloadBytes else { return nil }
        self.service = service
        self.version = payload[0] >> 4
        self.requiresBond = payload[0] & Self.bondFlag != 0
        self.hops = payload[2]
        self.idPrefix = Array(payload[3..<6])
        self.name = name
    }

    /// The PSM in manufacturer data: a dynamic LE PSM, 0x80 to 0xFF (Vol 3, Part A, 4.22).
    static func psm(inPayload payload: [UInt8]) -> UInt8? {
        guard payload.count >= payloadBytes, payload[1] >= 0x80 else { return nil }
        return payload[1]
    }
}
