// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Where a broker is and how it is spoken to: `mqtts://user@host:port/prefix`, or `mqtts://user@host:port,host:port/prefix` for one
/// of several servers that pass on to one another what they are told.
public struct BrokerAddress: Hashable, Sendable {
    /// One server of a broker's.
    public struct Server: Hashable, Sendable {
        /// The host's name or numeric address.
        public var host: String
        /// The TCP port: 8883 for TLS, else 1883, where nothing else is said (IANA).
        public var port: Int

        /// For people and logs.
        public var text: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    /// The broker's servers, one at least.
    public private(set) var servers: [Server]
    /// Whether TLS protects what goes to the broker.
    public var isSecure: Bool
    /// Who this node is to the broker.
    public var user: String?
    /// What it proves that with.
    public var password: String?
    /// What all topics begin with.
    public var prefix: String

    /// Why a text names no broker.
    public struct Fault: Error, Hashable, Sendable {
        /// A sentence's end for people.
        public let text: String
    }

    /// Reads a URL.
    public init(_ text: String) throws(Fault) {
        guard let mark = text.firstRange(of: "://") else { throw Fault(text: "it begins with mqtts:// or mqtt://") }
        switch text[..<mark.lowerBound].lowercased() {
        case "mqtts": isSecure = true
        case "mqtt": isSecure = false
        case let other: throw Fault(text: "it begins with mqtts:// or mqtt://, and not with \(other)://")
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
            throw Fault(text: "before the @ there is a user, and after a colon the password")
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
            throw Fault(text: "a port is a number from 1 to 65535")
        }
        return Server(host: String(host), port: port)
    }

    private static func prefix(_ path: String) throws(Fault) -> String {
        let levels = path.split(separator: "/", omittingEmptySubsequences: false)
        let isUsable = levels.allSatisfy { level in
            // A wildcard, and what brokers keep for themselves, would be another topic than it looks.
            !level.isEmpty
                && level.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"#+$".utf8.contains($0) }
        }
        guard isUsable, path.utf8.count <= BrokerLimits.prefixBytes else {
            throw Fault(
                text:
                    "what follows the host is the beginning of all topics: letters and digits between slashes, at most "
                    + "\(BrokerLimits.prefixBytes) bytes")
        }
        return path
    }

    /// Whether what goes to it stays on this device.
    public var isLocal: Bool {
        servers.allSatisfy { $0.host == "localhost" || $0.host == "::1" || $0.host.hasPrefix("127.") }
    }

    /// For people and logs: without what is a secret.
    public var text: String { "\(isSecure ? "mqtts" : "mqtt")://\(servers.map(\.text).joined(separator: ","))" }
}

/// The files that a TLS connection takes, in PEM.
public struct BrokerFiles: Hashable, Sendable {
    /// The certificates of those who may vouch for the broker; nil for the system's.
    public var authorities: String?
    /// This node's certificate.
    public var certificate: String?
    /// The key of that.
    public var key: String?

    /// The files, as far as they are named.
    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        (self.authorities, self.certificate, self.key) = (authorities, certificate, key)
    }
}
