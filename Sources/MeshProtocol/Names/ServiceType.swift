// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The application of a node. Hosts and guests of one service type find each other, others do not see them.
///
/// At most 15 characters: lowercase letters, digits and hyphens, with a letter first.
public struct ServiceType: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The service type as text.
    public let text: String

    /// Democracy DJ, the default service type of `roadmesh`.
    public static let democracyDJ = ServiceType(checked: "democracy-dj")

    /// Devices that want to bond, for any later service.
    public static let pairing = ServiceType(checked: "roadmesh-pair")

    /// A fault of a service type.
    public enum Problem: Error, Hashable, Sendable {
        /// The text is empty.
        case empty
        /// More than `Limits.serviceTypeCharacters` characters.
        case tooLong(characters: Int)
        /// The text does not start with a lowercase letter.
        case firstNotLetter
        /// The text has a character other than lowercase letters, digits and hyphens.
        case forbiddenCharacter(Character)
    }

    /// Checks a service type.
    public init(_ text: String) throws(Problem) {
        guard let first = text.first else { throw .empty }
        guard text.count <= Limits.serviceTypeCharacters else { throw .tooLong(characters: text.count) }
        for character in text {
            switch character {
            case "a"..."z", "0"..."9", "-":
                // A range of characters includes composed letters. The ASCII check excludes them.
                guard character.isASCII else { throw .forbiddenCharacter(character) }
            default: throw .forbiddenCharacter(character)
            }
        }
        guard first.isLetter else { throw .firstNotLetter }
        self.text = text
    }

    private init(checked text: String) {
        self.text = text
    }

    /// Reads a service type, and checks it.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// The text itself.
    public var description: String { text }

    /// The data of a host's advertisement, before any link: the protocol's version.
    public var discoveryInfo: [String: String] { ["version": String(ProtocolVersion.major)] }

    /// The 128-bit service UUID of the advertisement: UUIDv5 (RFC 9562, 5.5) of the service type in RoadMesh's
    /// namespace (`docs/protocol.md`, "Advertisement").
    public var uuid: ServiceUUID {
        var hash = Insecure.SHA1()
        Self.namespace.withUnsafeBytes { hash.update(bufferPointer: $0) }
        Array(text.utf8).withUnsafeBytes { hash.update(bufferPointer: $0) }
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        return ServiceUUID(bytes: bytes)
    }

    /// RoadMesh's namespace, drawn at random once: 6f1d3a52-8c0e-4b7a-9d15-2e54c1a7f0b3.
    private static let namespace: [UInt8] = [
        0x6F, 0x1D, 0x3A, 0x52, 0x8C, 0x0E, 0x4B, 0x7A, 0x9D, 0x15, 0x2E, 0x54, 0xC1, 0xA7, 0xF0, 0xB3,
    ]
}

/// A 128-bit UUID as Bluetooth uses it.
public struct ServiceUUID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes in the order they are written.
    public let bytes: [UInt8]

    /// A UUID of 16 bytes.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        self.bytes = bytes
    }

    /// Lowercase, with hyphens, as bluetoothd writes it.
    public var description: String {
        let digits = Hex.text(bytes)
        var parts: [Substring] = []
        var rest = Substring(digits)
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts.joined(separator: "-")
    }
}
