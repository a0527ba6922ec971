// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

/// The address at which passengers' phones can reach a page of this device.
public struct PhoneAddress: Hashable, Sendable {
    /// The address of a page that listens on all networks; nil if this device is in no network.
    public var address: String?
    /// The port that the page tries first.
    public var port: Int
    /// Whether that port is free.
    public var isPortFree: Bool

    /// Creates an address and a port.
    public init(address: String?, port: Int = DashboardAddress.phonesPort, isPortFree: Bool = true) {
        (self.address, self.port, self.isPortFree) = (address, port, isPortFree)
    }

    /// Returns the present address and port of this device.
    public static func now() -> PhoneAddress {
        PhoneAddress(
            address: LocalAddresses.now().chosen(for: "0.0.0.0"), isPortFree: isFree(DashboardAddress.phonesPort))
    }

    /// Whether a program could listen on a port on all networks.
    private static func isFree(_ port: Int) -> Bool {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Without IPv4 the port cannot be checked.
        guard probe >= 0 else { return true }
        defer { close(probe) }
        // A port that was in use a minute ago counts as free, as for the page's own server.
        var reuse: Int32 = 1
        setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return bound == 0 && listen(probe, 1) == 0 || errno != EADDRINUSE
    }
}
