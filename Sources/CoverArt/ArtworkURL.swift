// SPDX-License-Identifier: Apache-2.0

import Crypto
import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshProtocol

/// The URL of a picture: http or https, with a host and without credentials.
///
/// URLs come only from the owner's own library, never from a guest. So a URL may point into the car's own network, for
/// example to a disk with covers. But a server outside the car must not redirect requests into this network (see
/// `redirected`).
struct ArtworkURL: Hashable, Sendable {
    /// The URL as it is requested.
    let text: String
    /// The server: scheme, host and port.
    let origin: String
    private let host: String

    /// Checks an address.
    init(_ text: String) throws(NetworkError) {
        guard text.utf8.count <= DJLimits.albumArtURLBytes, let url = URL(string: text) else { throw .invalidURL }
        try self.init(url)
    }

    private init(_ url: URL) throws(NetworkError) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host()?.lowercased(), !host.isEmpty, url.user() == nil, url.password() == nil,
            (1...65_535).contains(url.port ?? 80)
        else { throw .invalidURL }
        text = url.absoluteString
        self.host = host
        origin = "\(scheme)://\(host):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    /// The file name of the picture on the disk: a hash, because the URL itself may identify a person.
    var key: String { Hex.text(SHA256.hash(data: Array(text.utf8))) }

    /// The target of a redirect.
    ///
    /// A server outside must not make this node send requests to devices in the car's own network, because such a
    /// request alone may have an effect. A name that resolves to such a device is not detected. But the request
    /// contains no private data, and only a picture is accepted as the result.
    func redirected(to location: String) throws(NetworkError) -> ArtworkURL {
        guard location.utf8.count <= DJLimits.albumArtURLBytes, let base = URL(string: text),
            let url = URL(string: location, relativeTo: base)?.absoluteURL,
            let target = try? ArtworkURL(url), isInside || !target.isInside
        else { throw .invalidResponse }
        return target
    }

    /// Whether the host name is an address of this machine or of its own network.
    private var isInside: Bool {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if name == "localhost" || name.hasSuffix(".localhost") || name.hasSuffix(".local") { return true }
        var four = in_addr()
        // inet_aton accepts 127.1 and 0x7f000001, as the resolver does. inet_pton does not.
        if inet_aton(name, &four) == 1 { return Self.isInside(UInt32(bigEndian: four.s_addr)) }
        var six = in6_addr()
        guard inet_pton(AF_INET6, name.trimmingBrackets, &six) == 1 else { return false }
        return withUnsafeBytes(of: &six) { Self.isInside(Array($0)) }
    }

    /// RFC 6890: this host, private use, shared space, loopback, link-local.
    private static func isInside(_ four: UInt32) -> Bool {
        four >> 24 == 0 || four >> 24 == 10 || four >> 24 == 127 || four >> 22 == 0x6440_0000 >> 22
            || four >> 16 == 0xA9FE || four >> 20 == 0xAC1 || four >> 16 == 0xC0A8
    }

    /// RFC 6890: unspecified, loopback, unique local, link-local, and IPv4-mapped addresses.
    private static func isInside(_ six: [UInt8]) -> Bool {
        let isFour = six[..<10].allSatisfy { $0 == 0 } && (six[10...11] == [255, 255] || six[10...11] == [0, 0])
        if isFour { return isInside(six[12...].reduce(0) { $0 << 8 | UInt32($1) }) }
        return six[0] & 0xFE == 0xFC || (six[0] == 0xFE && six[1] & 0xC0 == 0x80)
    }
}

extension String {
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
