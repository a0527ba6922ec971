// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

/// What a node registers for others in its network (`docs/protocol.md`, "LAN").
struct ServiceRecord: Hashable, Sendable {
    /// The instance: as much of the identifier as an advertisement has, in hex digits.
    var name: String
    /// The TCP port that it listens on.
    var port: Int
    /// The strings of the TXT record.
    var txt: [[UInt8]]

    /// The kind of service (RFC 6763, 7).
    static let type = "_roadmesh._tcp"

    /// What stands in the place of a PSM, which a port is none of.
    static let psm: UInt8 = 0x80

    init(_ advertisement: Advertisement, port: Int) {
        name = advertisement.head
        self.port = port
        txt = Self.strings(of: advertisement)
    }

    /// The TXT record: the service, the payload of the advertisement, and the scan response's text.
    static func strings(of advertisement: Advertisement) -> [[UInt8]] {
        [
            Array("u=\(Hex.text(advertisement.service.bytes))".utf8),
            Array("a=\(Hex.text(advertisement.payload(psm: psm)))".utf8),
            Array("n=\(advertisement.localName)".utf8),
        ]
    }

    /// Reads a TXT record. Nil where it is none of ours.
    static func advertisement(in txt: [[UInt8]]) -> Advertisement? {
        guard let uuid = value("u", in: txt).flatMap(Hex.bytes), uuid.count == 16,
            let payload = value("a", in: txt).flatMap(Hex.bytes), let text = value("n", in: txt),
            text.utf8.count <= Limits.advertisementBytes - 2
        else { return nil }
        return Advertisement(service: ServiceUUID(bytes: uuid), payload: payload, localName: text)
    }

    /// The value of a key: the first one counts (RFC 6763, 6.4).
    private static func value(_ key: String, in txt: [[UInt8]]) -> String? {
        let head = Array("\(key)=".utf8)
        guard let string = txt.first(where: { $0.starts(with: head) }), string.count <= LANLimits.stringBytes else {
            return nil
        }
        return String(validating: string.dropFirst(head.count), as: UTF8.self)
    }
}

/// Where a service was found: each interface and kind of address is a place of its own.
struct ServicePlace: Hashable, Sendable {
    var name: String
    /// The interface's number.
    var interface: Int
    var isIPv6: Bool
    /// `local` with multicast DNS.
    var domain = "local"
}

/// A service in the network, and where it listens.
struct FoundService: Hashable, Sendable {
    var place: ServicePlace
    /// A numeric address.
    var address: String
    var port: Int
    var txt: [[UInt8]]
}

/// What a directory tells.
enum DirectoryEvent: Hashable, Sendable {
    /// A service is there, or has changed.
    case found(FoundService)
    /// It is there no more.
    case gone(ServicePlace)
    /// Nothing can be registered or looked for, and why.
    case failed(RadioError)
    /// It can (again).
    case works
}

/// Who tells the network of a service, and what the network tells of others: `AvahiDirectory`, or a test.
protocol ServiceDirectory: Sendable {
    /// What it tells, for one listener. It ends with `close`.
    var events: AsyncStream<DirectoryEvent> { get }
    /// Makes contact. Throws where there is no such directory here.
    func open() async throws(RadioError)
    /// Registers this in the place of what was registered before; nil: nothing.
    func publish(_ record: ServiceRecord?) async
    /// Looks for others, until `close`.
    func browse() async
    /// Takes all back.
    func close() async
}
