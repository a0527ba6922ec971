// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The address that the dashboard listens on, from the option `--http`.
public enum DashboardAddress: Hashable, Sendable {
    /// No dashboard.
    case none
    /// A numeric address of this device and a port. Port 0 chooses a free port.
    case listen(host: String, port: Int)

    /// All networks of this device on a free port, for phones.
    public static let forPhones = DashboardAddress.listen(host: "0.0.0.0", port: 0)

    /// The port that a page for phones tries first, because people may have to type it.
    public static let phonesPort = 8080

    /// Why an address is invalid, as a sentence.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The error in the address, and a valid example.
        public let description: String
    }

    /// The loopback address on a free port: only this device can open the page.
    public static let standard = DashboardAddress.listen(host: "127.0.0.1", port: 0)

    /// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `8080` (loopback only) or `none`.
    public init(parsing text: String) throws(Problem) {
        guard text != "none" else {
            self = .none
            return
        }
        func problem(_ what: String) -> Problem {
            Problem(
                description: "--http cannot be \"\(text.prefix(60))\": it \(what). Write a numeric address of this "
                    + "device and a port, like 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080, or none.")
        }
        let isPort = !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
        let text = isPort ? "localhost:\(text)" : text
        guard let colon = text.lastIndex(of: ":") else { throw problem("has no port") }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = Int(digits),
            port <= 65_535
        else { throw problem("has no port from 0 to 65535 at its end") }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw problem("needs brackets around its IPv6 address")
        }
        if host == "localhost" { host = "127.0.0.1" }
        guard !host.isEmpty else { throw problem("has nothing before its port") }
        guard (try? SocketAddress(ipAddress: host, port: port)) != nil else {
            throw problem("does not begin with a numeric address")
        }
        self = .listen(host: host, port: port)
    }

    /// Whether only programs on this device can open the dashboard.
    public var isLoopback: Bool {
        guard case .listen(let host, _) = self else { return true }
        return Self.isLoopback(host)
    }

    static func isLoopback(_ host: String) -> Bool {
        host == "::1" || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.")
    }
}
