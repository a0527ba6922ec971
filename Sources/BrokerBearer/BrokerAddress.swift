// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The address of a broker: `mqtts://user@host:port/prefix`, or `mqtts://user@host:port,host:port/prefix` for a cluster
/// of servers that forward messages to one another.
public struct BrokerAddress: Hashable, Sendable {
    /// One server of a broker.
    public struct Server: Hashable, Sendable {
        /// The host's name or numeric address.
        public var host: String
        /// The TCP port. The default is 8883 for TLS, otherwise 1883 (IANA).
        public var port: Int

        /// The server for people and logs.
        public var text: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    /// The broker's servers, at least one.
    public private(set) var servers: [Server]
    /// Whether TLS protects the connection.
    public var isSecure: Bool
    /// The user name of this node at the broker.
    public var user: String?
    /// The password of this user.
    public var password: String?
    /// The prefix of all topics.
    public var prefix: String

    /// The reason why a text is not the address of a broker.
    public struct Fault: Error, Hashable, Sendable {
        /// The end of a sentence for people.
        public let text: String
    }

    /// Parses a URL.
    public init(_ text: String) throws(Fault) {
        guard let mark = text.firstRange(of: "://") else { throw Fault(text: "it must begin with mqtts:// or mqtt://") }
        switch text[..<mark.lowerBound].lowercased() {
        case "mqtts": isSecure = true
        case "mqtt": isSecure = false
        case let other: throw Fault(text: "it must begin with mqtts:// or mqtt://, not with \(other)://")
        }
        var rest = text[mark.upperBound...]
        prefix = "roadmesh"
        if let slash = rest.firstIndex(of: "/") {
            let path = rest[rest.index(after: slash)...]
            rest = rest[..<slash]
            if !path.isEmpty { prefix = try Self.prefix(String(path)) }
        }
        if let at = rest.lastIndex(of: "@") {
            (user, password) = try Self.user(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        servers = []
        for text in rest.split(separator: ",", omittingEmptySubsequences: false) {
            servers.append(try Self.server(text, isSecure ? 8883 : 1883))
        }
        guard servers.count <= BrokerLimits.servers else {
            throw Fault(text: "it has more than \(BrokerLimits.servers) servers")
        }
    }

    private static func user(_ text: Substring) throws(Fault) -> (String?, String?) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.compactMap { PercentCoding.decoded(String($0)) }
        guard decoded.count == parts.count, !(decoded.first ?? "").isEmpty else {
            throw Fault(text: "it needs a user before the @, and after a colon the password")
        }
        return (decoded[0], decoded.count > 1 ? decoded[1] : nil)
    }

    private static func server(_ text: Substring, _ standard: Int) throws(Fault) -> Server {
        var (host, rest) = (text, Substring())
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else if let colon = text.lastIndex(of: ":") {
            (host, rest) = (text[..<colon], text[colon...])
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Fault(text: "it has no host")
        }
        if rest.isEmpty { return Server(host: String(host), port: standard) }
        guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()), (1...65_535).contains(port) else {
            throw Fault(text: "its port must be a number from 1 to 65535")
        }
        return Server(host: String(host), port: port)
    }

    private static func prefix(_ path: String) throws(Fault) -> String {
        let levels = path.split(separator: "/", omittingEmptySubsequences: false)
        let isUsable = levels.allSatisfy { level in
            // A topic with a wildcard, or with a level that is reserved for brokers, would match other topics.
            !level.isEmpty
                && level.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"#+$".utf8.contains($0) }
        }
        guard isUsable, path.utf8.count <= BrokerLimits.prefixBytes else {
            throw Fault(
                text:
                    "after the host comes the beginning of all topics: letters and digits between slashes, at most "
                    + "\(BrokerLimits.prefixBytes) bytes")
        }
        return path
    }

    /// Whether the messages to the broker stay on this device.
    public var isLocal: Bool {
        servers.allSatisfy { $0.host == "localhost" || $0.host == "::1" || $0.host.hasPrefix("127.") }
    }

    /// The address for people and logs, without secrets.
    public var text: String { "\(isSecure ? "mqtts" : "mqtt")://\(servers.map(\.text).joined(separator: ","))" }
}

/// The PEM files of a TLS connection.
public struct BrokerFiles: Hashable, Sendable {
    /// The authorities that may certify the broker; nil for those of the system.
    public var authorities: String?
    /// This node's certificate.
    public var certificate: String?
    /// The key of this certificate.
    public var key: String?

    /// Creates a set of files. Each file is optional.
    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        (self.authorities, self.certificate, self.key) = (authorities, certificate, key)
    }
}
