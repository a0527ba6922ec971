// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// The record that a node registers for others in its network (`docs/protocol.md`, "LAN").
struct ServiceRecord: Hashable, Sendable {
    /// The instance name: the head of the node's identifier, as in an advertisement, in hex digits.
    var name: String
    /// The TCP port on which the node listens.
    var port: Int
    /// The strings of the TXT record.
    var txt: [[UInt8]]

    /// The type of service (RFC 6763, 7).
    static let type = "_roadmesh._tcp"

    /// Placeholder in the PSM field, because the record has a port instead.
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

    /// Parses a TXT record. Nil if it is not a record of RoadMesh.
    static func advertisement(in txt: [[UInt8]]) -> Advertisement? {
        guard let uuid = value("u", in: txt).flatMap(Hex.bytes), uuid.count == 16,
            let payload = value("a", in: txt).flatMap(Hex.bytes), let text = value("n", in: txt),
            text.utf8.count <= Limits.advertisementBytes - 2
        else { return nil }
        return Advertisement(service: ServiceUUID(bytes: uuid), payload: payload, localName: text)
    }

    /// The value of a key. If the key is repeated, the first value counts (RFC 6763, 6.4).
    private static func value(_ key: String, in txt: [[UInt8]]) -> String? {
        let head = Array("\(key)=".utf8)
        guard let string = txt.first(where: { $0.starts(with: head) }), string.count <= LANLimits.stringBytes else {
            return nil
        }
        return String(validating: string.dropFirst(head.count), as: UTF8.self)
    }
}

/// A place where a service was found. Each interface and kind of address counts separately.
struct ServicePlace: Hashable, Sendable {
    var name: String
    /// The interface's number.
    var interface: Int
    var isIPv6: Bool
    /// The domain, which is `local` with multicast DNS.
    var domain = "local"
}

/// A service in the network and its address.
struct FoundService: Hashable, Sendable {
    var place: ServicePlace
    /// A numeric address.
    var address: String
    var port: Int
    var txt: [[UInt8]]
}

/// An event of a directory.
enum DirectoryEvent: Hashable, Sendable {
    /// A service has appeared or changed.
    case found(FoundService)
    /// The service is gone.
    case gone(ServicePlace)
    /// Registering and browsing do not work, for this reason.
    case failed(BearerError)
    /// Registering and browsing work, or work again.
    case works
}

/// Registers a service in the network and finds other services. Implemented by `AvahiDirectory`, and by tests.
protocol ServiceDirectory: Sendable {
    /// The events, for one listener. The stream ends with `close`.
    var events: AsyncStream<DirectoryEvent> { get }
    /// Connects. Throws if the directory is not available.
    func open() async throws(BearerError)
    /// Registers this record instead of the previous one. Nil removes the registration.
    func publish(_ record: ServiceRecord?) async
    /// Browses for services of other nodes, until `close`.
    func browse() async
    /// Removes all registrations.
    func close() async
}
