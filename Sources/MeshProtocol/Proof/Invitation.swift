// SPDX-License-Identifier: Apache-2.0

import Crypto

/// An invitation of a host for a guest without a PIN (`docs/protocol.md`, "Invitations"): the host, and the secret to
/// prove there. It is a text, and may be part of a link.
public struct Invitation: Hashable, Sendable {
    /// The only host for which it is valid.
    public var host: Peer.ID
    /// The host's service.
    public var service: ServiceType
    /// Distinguishes it from the host's other invitations: `Limits.invitationBytes`.
    public var name: [UInt8]
    /// The secret to prove: `Limits.invitationSecretBytes`.
    public var secret: [UInt8]

    private static let version: UInt8 = 1
    private static let prefix = "roadmesh:"
    private static let parameter = "invitation="
    private static let checkBytes = 4

    /// An invitation to a host.
    public init(host: Peer.ID, service: ServiceType, name: [UInt8], secret: [UInt8]) {
        (self.host, self.service, self.name, self.secret) = (host, service, name, secret)
    }

    /// Whether a text was meant to be an invitation, complete or not.
    public static func isMeant(by text: String) -> Bool { text.contains(prefix) || text.contains(parameter) }

    /// Reads the text of an invitation, or a link with one. Nil if it is not a complete invitation.
    public init?(text: String) {
        // A terminal or a message may have broken the text into lines: the text is tried with one more piece each time.
        let pieces = Self.pieces(of: text)
        var code = ""
        for piece in pieces {
            code += piece
            guard code.utf8.count <= Limits.invitationTextBytes else { return nil }
            if let whole = Invitation(code: code) {
                self = whole
                return
            }
        }
        return nil
    }

    private init?(code: String) {
        guard let bytes = Base64URL.bytes(code) else { return nil }
        let fixed = 1 + Identity.idBytes + Limits.invitationBytes + Limits.invitationSecretBytes
        guard bytes.count > fixed + Self.checkBytes, bytes[0] == Self.version,
            Self.check(bytes.dropLast(Self.checkBytes)) == Array(bytes.suffix(Self.checkBytes)),
            let service = try? ServiceType(String(decoding: bytes[fixed...].dropLast(Self.checkBytes), as: UTF8.self))
        else { return nil }
        var rest = bytes.dropFirst()
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        host = Hex.text(take(Identity.idBytes))
        name = take(Limits.invitationBytes)
        secret = take(Limits.invitationSecretBytes)
        self.service = service
    }

    /// The form in a link, after `invitation=`.
    public var code: String {
        let bytes = [Self.version] + (Hex.bytes(host) ?? []) + name + secret + Array(service.text.utf8)
        return Base64URL.text(bytes + Self.check(bytes[...]))
    }

    /// The form that people pass on.
    public var text: String { Self.prefix + code }

    /// A link to the host's page at this address.
    public func link(at page: String) -> String { page + "/join?" + Self.parameter + code }

    /// The secret that the invitation's owner proves at the host.
    public var joiningSecret: JoiningSecret { JoiningSecret(invitation: name, bytes: secret, host: host) }

    /// A checksum that detects an incomplete or mistyped text here, instead of a refusal in the car.
    private static func check(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(SHA256.hash(data: bytes).prefix(checkBytes))
    }

    /// The code in a text, split at white space.
    private static func pieces(of text: String) -> [Substring] {
        let start = text.firstRange(of: parameter)?.upperBound ?? text.firstRange(of: prefix)?.upperBound
        return text[(start ?? text.startIndex)...].prefix {
            $0.isWhitespace || $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
        }.split(whereSeparator: \.isWhitespace)
    }
}

/// A valid invitation of a host.
public struct GivenInvitation: Hashable, Sendable {
    /// See `Invitation.name`.
    public var name: [UInt8]
    /// See `Invitation.secret`.
    public var secret: [UInt8]
    /// The end of the invitation's validity, in seconds since 1970 by the host's clock.
    public var until: UInt32
    /// Whether only one guest may use it.
    public var isOnce: Bool

    /// An invitation.
    public init(name: [UInt8], secret: [UInt8], until: UInt32, isOnce: Bool) {
        (self.name, self.secret, self.until, self.isOnce) = (name, secret, until, isOnce)
    }
}
