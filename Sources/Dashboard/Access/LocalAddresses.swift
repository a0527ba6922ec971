// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The addresses of this device, for a URL that a phone can open.
enum LocalAddresses {
    /// What to print for a dashboard that listens at `host`: where that is every address, one that others can reach.
    static func reachable(_ host: String, among addresses: [String] = all()) -> String {
        switch host {
        case "0.0.0.0": addresses.first { !$0.contains(":") } ?? "127.0.0.1"
        case "::": addresses.first ?? "::1"
        default: host
        }
    }

    /// An address as it stands in a URL.
    static func inURL(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Every address that another device could use, IPv4 first, those of home and car networks before others.
    static func all() -> [String] {
        // Without them the dashboard is still there for this device.
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap { $0.address?.ipAddress }.filter(isUseful).sorted { rank($0) < rank($1) }
    }

    /// No loopback, and none that means something on one link only.
    private static func isUseful(_ address: String) -> Bool {
        !DashboardAddress.isLoopback(address) && !address.hasPrefix("169.254.")
            && !address.lowercased().hasPrefix("fe80:")
    }

    private static func rank(_ address: String) -> Int {
        if address.contains(":") { return 3 }
        if address.hasPrefix("192.168.") { return 0 }
        return address.hasPrefix("10.") ? 1 : 2
    }
}
